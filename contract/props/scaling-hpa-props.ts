// Written by npm run generate out of consumer.yaml's schema; never edited.
import type { ScalingHpaBehaviorProps } from './scaling-hpa-behavior-props.ts';
import type { ScalingHpaExternalProps } from './scaling-hpa-external-props.ts';

/** HorizontalPodAutoscaler: by CPU, memory or an external metric. Left out: not used. */
export interface ScalingHpaProps {
  /**
   * Fewest Pods.
   *
   * Allowed: 1 to 1000.
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
   * Percent of the requested CPU to aim at. Left out: does not count.
   *
   * Allowed: 1 to 1000.
   *
   * @default - does not count
   */
  readonly cpuPercent?: number;

  /**
   * Percent of the requested memory to aim at. Left out: does not count.
   *
   * Allowed: 1 to 1000.
   *
   * @default - does not count
   */
  readonly memoryPercent?: number;

  /**
   * A metric from outside, such as the lag. Left out: does not count.
   *
   * @default - does not count
   */
  readonly external?: ScalingHpaExternalProps;

  /**
   * How fast the number of Pods may change; each change is a rebalance of the group.
   *
   * @default - the default of each property
   */
  readonly behavior?: ScalingHpaBehaviorProps;
}
