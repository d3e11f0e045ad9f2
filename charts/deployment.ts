import type { ApiObject } from 'cdk8s';
import { k8s } from 'cdk8s-plus-28';
import type { Construct } from 'constructs';
import { objectMetadata, type Workload } from '../contract/workload.ts';
import { podTemplate } from './pod-template.ts';

const REVISIONS_KEPT = 3;

/**
 * The Deployment. A rollout takes a Pod away before it adds one: with as many Pods as partitions an additional one would
 * own nothing, never become ready, and stop the rollout.
 */
export function deployment(scope: Construct, workload: Workload, configMap: ApiObject): ApiObject {
  return new k8s.KubeDeployment(scope, 'deployment', {
    metadata: objectMetadata(workload, workload.names.workload),
    spec: {
      replicas: workload.file.replicas,
      revisionHistoryLimit: REVISIONS_KEPT,
      selector: { matchLabels: workload.selector },
      strategy: {
        type: 'RollingUpdate',
        rollingUpdate: { maxSurge: k8s.IntOrString.fromNumber(0), maxUnavailable: k8s.IntOrString.fromNumber(1) },
      },
      template: podTemplate(workload, configMap.name),
    },
  });
}
