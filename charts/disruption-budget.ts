import type { ApiObject } from 'cdk8s';
import { k8s } from 'cdk8s-plus-28';
import type { Construct } from 'constructs';
import { type CheckedWorkload, objectMetadata } from '../deployment/checked-workload.ts';

/** Fewest Pods for which a budget makes sense: with one it would only block the drain of a node. */
export const FEWEST_REPLICAS_FOR_BUDGET = 2;

/** Lets node drains take one Pod at a time; Pods that are unhealthy anyway don't hold a drain up. */
export function disruptionBudget(scope: Construct, workload: CheckedWorkload): ApiObject {
  return new k8s.KubePodDisruptionBudget(scope, 'disruption-budget', {
    metadata: objectMetadata(workload, workload.names.workload),
    spec: {
      maxUnavailable: k8s.IntOrString.fromNumber(1),
      selector: { matchLabels: workload.selector },
      unhealthyPodEvictionPolicy: 'AlwaysAllow',
    },
  });
}
