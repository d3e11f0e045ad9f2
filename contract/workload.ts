import { type ManagementEndpoint, managementEndpoint } from './actuator.ts';
import type { CheckedConsumer } from './check-consumer-file.ts';
import { recommendedLabels, selectorLabels } from './consumer-labels.ts';
import { type ConsumerNames, consumerNames } from './consumer-names.ts';

/** One consumer with everything that its objects derive from consumer.yaml, derived once. */
export interface Workload extends CheckedConsumer {
  readonly names: ConsumerNames;
  readonly namespace: string;
  /** All six recommended labels: for metadata and the Pod template. */
  readonly labels: Record<string, string>;
  /** The labels that never change: for selectors. */
  readonly selector: Record<string, string>;
  readonly endpoint: ManagementEndpoint;
  /** The package's version. */
  readonly version: string;
}

/** @param version the package's version, which is the image's tag unless consumer.yaml names another. */
export function workload(consumer: CheckedConsumer, version: string): Workload {
  const { file, settings } = consumer;
  return {
    ...consumer,
    names: consumerNames(file.name),
    namespace: file.namespace.name,
    labels: recommendedLabels(file.name, file.image.tag ?? version),
    selector: selectorLabels(file.name),
    endpoint: managementEndpoint(settings),
    version,
  };
}

/** Metadata of an object in the consumer's namespace. */
export function objectMetadata({ namespace, labels }: Workload, name: string) {
  return { name, namespace, labels };
}
