// Written by npm run generate out of consumer.yaml's schema; never edited.
import type { ScalingKedaBehaviorProps } from './scaling-keda-behavior-props.ts';

/** KEDA: as many Pods as the group's lag asks for. Left out: not used. */
export interface ScalingKedaProps {
  /**
   * Fewest Pods. 0 ends the last Pod when there is no lag; metrics and alerts then have nothing to look at.
   *
   * Allowed: 0 to 1000.
   *
   * @default 1
   */
  readonly minReplicas?: number;

  /**
   * Most Pods; not above partitions, since more would wait idle. Left out: partitions.
   *
   * Allowed: 1 to 1000.
   *
   * @default - partitions
   */
  readonly maxReplicas?: number;

  /**
   * Records behind that one Pod is for: lag divided by this is the wanted number of Pods.
   *
   * Allowed: 1 to 1000000000.
   *
   * @default 1000
   */
  readonly lagPerReplica?: number;

  /**
   * Records behind beyond which the first Pod is started; matters only with minReplicas: 0.
   *
   * Allowed: 0 to 1000000000.
   *
   * @default 0
   */
  readonly activationLag?: number;

  /**
   * Time between two looks at the lag.
   *
   * Allowed: 1 to 3600.
   *
   * @default 30
   */
  readonly pollingIntervalSeconds?: number;

  /**
   * Time without lag after which the last Pod ends; matters only with minReplicas: 0.
   *
   * Allowed: 0 to 86400.
   *
   * @default 300
   */
  readonly cooldownSeconds?: number;

  /**
   * How fast the number of Pods may change; each change is a rebalance of the group.
   *
   * @default - the default of each property
   */
  readonly behavior?: ScalingKedaBehaviorProps;
}
