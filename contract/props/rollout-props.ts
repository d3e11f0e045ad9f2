// Written by npm run generate out of consumer.yaml's schema; never edited.

/** How Pods are replaced. */
export interface RolloutProps {
  /**
   * Pods beyond replicas that a rollout may start before it ends old ones; more than 0 needs partitions.
   *
   * Allowed: 0 to 100.
   *
   * @default 0
   */
  readonly maxSurge?: number;

  /**
   * Pods below replicas that a rollout may leave.
   *
   * Allowed: 0 to 100.
   *
   * @default 1
   */
  readonly maxUnavailable?: number;
}
