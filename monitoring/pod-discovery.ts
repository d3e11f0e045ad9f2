import type { CheckedWorkload } from '../deployment/checked-workload.ts';

/** A step that gives a target its labels, or drops it. */
interface Relabeling {
  readonly sourceLabels?: string[];
  readonly regex?: string;
  readonly action?: 'keep' | 'drop' | 'replace';
  readonly targetLabel?: string;
  readonly replacement?: string;
}

const POD = '__meta_kubernetes_pod';

/** Labels of the Pods as one selector of Kubernetes' API. */
export const labelSelector = ({ selector }: CheckedWorkload): string =>
  Object.entries(selector)
    .map(([label, value]) => `${label}=${value}`)
    .join(',');

/**
 * From all ports of the consumer's Pods, as Prometheus finds them at the API server, to one target per running Pod, with
 * the labels that the rules look at.
 */
export function podRelabelings({ endpoint, names }: CheckedWorkload): Relabeling[] {
  return [
    { sourceLabels: [`${POD}_container_port_name`], regex: endpoint.portName, action: 'keep' },
    { sourceLabels: [`${POD}_phase`], regex: 'Failed|Succeeded', action: 'drop' },
    { sourceLabels: ['__meta_kubernetes_namespace'], targetLabel: 'namespace', action: 'replace' },
    { sourceLabels: [`${POD}_name`], targetLabel: 'pod', action: 'replace' },
    { targetLabel: 'job', replacement: names.scrapeJob, action: 'replace' },
  ];
}
