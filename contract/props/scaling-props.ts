// Written by npm run generate out of consumer.yaml's schema; never edited.
import type { ScalingHpaProps } from './scaling-hpa-props.ts';
import type { ScalingKedaProps } from './scaling-keda-props.ts';

/** `scaling` of consumer.yaml. */
export interface ScalingProps {
  /**
   * KEDA: as many Pods as the group's lag asks for. Left out: not used.
   *
   * @default - not used
   */
  readonly keda?: ScalingKedaProps;

  /**
   * HorizontalPodAutoscaler: by CPU, memory or an external metric. Left out: not used.
   *
   * @default - not used
   */
  readonly hpa?: ScalingHpaProps;
}
