import type { CheckedWorkload } from '../deployment/checked-workload.ts';

/** Metadata of the operator's custom resources, with the labels by which some operators select what they look at. */
export function operatorMetadata({ namespace, names, labels, file }: CheckedWorkload) {
  return { name: names.workload, namespace, labels: { ...labels, ...file.monitoring.labels } };
}
