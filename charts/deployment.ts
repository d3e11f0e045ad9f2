import type { ApiObject } from 'cdk8s';
import { k8s } from 'cdk8s-plus-28';
import type { Construct } from 'constructs';
import { type CheckedWorkload, objectMetadata } from '../deployment/checked-workload.ts';
import { podTemplate } from './pod-template.ts';

const REVISIONS_KEPT = 3;

/**
 * The Deployment. Unless consumer.yaml says otherwise a rollout takes a Pod away before it adds one: with as many Pods as
 * partitions an additional one would own nothing. It has no number of replicas where an autoscaler sets it.
 */
export function deployment(scope: Construct, workload: CheckedWorkload, configMap: ApiObject): ApiObject {
  const { replicas, rollout, scaling } = workload.file;
  const { maxSurge, maxUnavailable } = rollout;
  const isScaled = (scaling.keda ?? scaling.hpa) !== undefined;
  return new k8s.KubeDeployment(scope, 'deployment', {
    metadata: objectMetadata(workload, workload.names.workload),
    spec: {
      ...(!isScaled && { replicas }),
      revisionHistoryLimit: REVISIONS_KEPT,
      selector: { matchLabels: workload.selector },
      strategy: {
        type: 'RollingUpdate',
        rollingUpdate: {
          maxSurge: k8s.IntOrString.fromNumber(maxSurge),
          maxUnavailable: k8s.IntOrString.fromNumber(maxUnavailable),
        },
      },
      template: podTemplate(workload, configMap.name),
    },
  });
}
