import type { ConsumerFile } from './consumer-file.ts';

/** How many Pods there may be. */
export interface ReplicaRange {
  readonly least: number;
  readonly most: number;
}

/**
 * Fewest and most Pods, whoever decides: KEDA, an HPA, or `replicas`. An autoscaler's most are `partitions` where nothing
 * else is said; that one of both is there is a rule.
 */
export function replicaRange({
  replicas,
  partitions,
  scaling,
}: Pick<ConsumerFile, 'replicas' | 'partitions' | 'scaling'>): ReplicaRange {
  const autoscaler = scaling.keda ?? scaling.hpa;
  return autoscaler === undefined
    ? { least: replicas, most: replicas }
    : { least: autoscaler.minReplicas, most: autoscaler.maxReplicas ?? partitions ?? autoscaler.minReplicas };
}
