import { managementEndpoint } from '../contract/actuator.ts';
import { PRODUCT_VERSION } from '../contract/product-version.ts';
import type { CheckedConsumer } from './check-consumer.ts';
import { recommendedLabels, selectorLabels } from './consumer-labels.ts';
import { consumerNames } from './consumer-names.ts';
import type { Workload } from './workload.ts';

/** One consumer with everything that its objects derive from consumer.yaml, derived once. */
export interface CheckedWorkload extends Workload, CheckedConsumer {}

/** Derives what the objects of a consumer share. */
export function checkedWorkload(consumer: CheckedConsumer): CheckedWorkload {
  const { file, settings } = consumer;
  return {
    ...consumer,
    names: consumerNames(file.name),
    namespace: file.namespace.name,
    labels: recommendedLabels(file.name, file.image.tag ?? PRODUCT_VERSION),
    selector: selectorLabels(file.name),
    endpoint: managementEndpoint(settings),
    version: PRODUCT_VERSION,
  };
}

/** Metadata of an object in the consumer's namespace. */
export function objectMetadata({ namespace, labels }: Workload, name: string) {
  return { name, namespace, labels };
}
