import { type ManagementEndpoint, managementEndpoint } from './actuator.ts';
import type { CheckedConsumer } from './check-consumer-file.ts';
import { recommendedLabels, selectorLabels } from './consumer-labels.ts';
import { type ConsumerNames, consumerNames } from './consumer-names.ts';
import { PRODUCT_VERSION } from './product-version.ts';

/** One consumer with everything that its objects derive from consumer.yaml, derived once. */
export interface Workload extends CheckedConsumer {
  readonly names: ConsumerNames;
  readonly namespace: string;
  /** All six recommended labels: for metadata and the Pod template. */
  readonly labels: Record<string, string>;
  /** The labels that never change: for selectors. */
  readonly selector: Record<string, string>;
  readonly endpoint: ManagementEndpoint;
  /** The package's version, which is the image's tag unless consumer.yaml names another. */
  readonly version: string;
}

/** Derives what the objects of a consumer share. */
export function workload(consumer: CheckedConsumer): Workload {
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
