import type { ConsumerFile } from './consumer-file.ts';

/** How many Pods there may be. */
export interface ReplicaRange {
  readonly least: number;
  readonly most: number;
}

/**
 * Fewest and most Pods: those of KEDA or of the HorizontalPodAutoscaler, else `replicas`. An autoscaler without
 * `maxReplicas` takes `partitions`, which a consumer.yaml with an autoscaler has to have (scaling-rules.ts).
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
