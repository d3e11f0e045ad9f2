import type { Workload } from '../contract/workload.ts';

/** Metadata of the operator's custom resources, with the labels by which some operators select what they look at. */
export function operatorMetadata({ namespace, names, labels, file }: Workload) {
  return { name: names.workload, namespace, labels: { ...labels, ...file.monitoring.labels } };
}
