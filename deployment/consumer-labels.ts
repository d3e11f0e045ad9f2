import { PRODUCT_NAME } from '../contract/identity.ts';

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
