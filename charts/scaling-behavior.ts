import type { ScalingBehavior } from '../deployment/scaling.ts';

const SCALE_UP_PERIOD_SECONDS = 60;

/** `behavior` of an HPA, which KEDA makes too: doubling upwards, one Pod at a time downwards, and not after every wave. */
export function scalingBehavior({
  scaleUpWindowSeconds,
  scaleDownWindowSeconds,
  scaleDownPeriodSeconds,
}: ScalingBehavior) {
  return {
    scaleUp: {
      stabilizationWindowSeconds: scaleUpWindowSeconds,
      selectPolicy: 'Max',
      policies: [
        { type: 'Percent', value: 100, periodSeconds: SCALE_UP_PERIOD_SECONDS },
        { type: 'Pods', value: 1, periodSeconds: SCALE_UP_PERIOD_SECONDS },
      ],
    },
    scaleDown: {
      stabilizationWindowSeconds: scaleDownWindowSeconds,
      selectPolicy: 'Max',
      policies: [{ type: 'Pods', value: 1, periodSeconds: scaleDownPeriodSeconds }],
    },
  };
}
