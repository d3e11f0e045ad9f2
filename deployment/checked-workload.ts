import { managementEndpoint } from '../contract/actuator.ts';
import { PRODUCT_NAME } from '../contract/identity.ts';
import { PRODUCT_VERSION } from '../contract/product-version.ts';
import type { CheckedConsumer } from './check-consumer.ts';
import { consumerNames, type Workload } from './workload.ts';

/** The labels that selectors use: they never change over a consumer's life, because selectors are immutable. */
export function selectorLabels(instance: string): Record<string, string> {
  return { 'app.kubernetes.io/name': PRODUCT_NAME, 'app.kubernetes.io/instance': instance };
}

/** Labels of an object that several consumers share. */
export const SHARED_LABELS: Record<string, string> = {
  'app.kubernetes.io/part-of': PRODUCT_NAME,
  'app.kubernetes.io/managed-by': 'cdk8s',
};

/**
 * The six recommended labels of Kubernetes.
 *
 * @param instance the consumer's name in consumer.yaml
 * @param version what runs: the image's tag, or the package's version
 */
export function recommendedLabels(instance: string, version: string): Record<string, string> {
  return {
    ...selectorLabels(instance),
    'app.kubernetes.io/version': version,
    'app.kubernetes.io/component': 'consumer',
    ...SHARED_LABELS,
  };
}

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

/** The ServiceAccount of the Pods: the consumer's own, unless consumer.yaml names another. */
export const serviceAccountName = ({ file, names }: CheckedWorkload): string =>
  file.serviceAccount.name ?? names.workload;
