// Written by npm run generate out of consumer.yaml's schema; never edited.

/** How fast the number of Pods may change; each change is a rebalance of the group. */
export interface ScalingKedaBehaviorProps {
  /**
   * Time over which the lowest wanted number counts before Pods are added.
   *
   * Allowed: 0 to 3600.
   *
   * @default 60
   */
  readonly scaleUpWindowSeconds?: number;

  /**
   * Time over which the highest wanted number counts before a Pod is taken away.
   *
   * Allowed: 0 to 3600.
   *
   * @default 600
   */
  readonly scaleDownWindowSeconds?: number;

  /**
   * Time from one Pod that is taken away to the next: each moves partitions.
   *
   * Allowed: 1 to 1800.
   *
   * @default 300
   */
  readonly scaleDownPeriodSeconds?: number;
}
