import { ApiObject } from 'cdk8s';
import { k8s } from 'cdk8s-plus-28';
import type { Construct } from 'constructs';
import { type CheckedWorkload, objectMetadata, serviceAccountName } from '../deployment/checked-workload.ts';
import { addPodParts } from './pod-parts.ts';
import { podTemplate } from './pod-template.ts';

const REVISIONS_KEPT = 3;

/**
 * The Deployment. Unless consumer.yaml says otherwise a rollout takes a Pod away before it adds one: with as many Pods
 * as partitions an additional one would own nothing. It has no number of replicas where an autoscaler sets it.
 */
export function deployment(scope: Construct, workload: CheckedWorkload, configMap: ApiObject): ApiObject {
  const { replicas, rollout, scaling } = workload.file;
  const { maxSurge, maxUnavailable, minReadySeconds } = rollout;
  const isScaled = (scaling.keda ?? scaling.hpa) !== undefined;
  const made = new ApiObject(
    scope,
    'deployment',
    k8s.KubeDeployment.manifest({
      metadata: objectMetadata(workload, workload.names.workload),
      spec: {
        ...(!isScaled && { replicas }),
        revisionHistoryLimit: REVISIONS_KEPT,
        ...(minReadySeconds > 0 && { minReadySeconds }),
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
    }),
  );
  return addPodParts(made, workload);
}

/** The Service in front of the operational interface; the consumer takes no other traffic. */
export function service(scope: Construct, workload: CheckedWorkload): ApiObject {
  const { portName, port } = workload.endpoint;
  return new ApiObject(
    scope,
    'service',
    k8s.KubeService.manifest({
      metadata: objectMetadata(workload, workload.names.workload),
      spec: {
        type: 'ClusterIP',
        selector: workload.selector,
        ports: [{ name: portName, port, targetPort: k8s.IntOrString.fromString(portName), protocol: 'TCP' }],
      },
    }),
  );
}

/** A ServiceAccount of the consumer's own, without a token: it never asks the API server. */
export function serviceAccount(scope: Construct, workload: CheckedWorkload): ApiObject {
  const { annotations, labels } = workload.file.serviceAccount;
  const metadata = objectMetadata(workload, serviceAccountName(workload));
  return new ApiObject(
    scope,
    'service-account',
    k8s.KubeServiceAccount.manifest({
      metadata: {
        ...metadata,
        labels: { ...labels, ...metadata.labels },
        ...(Object.keys(annotations).length > 0 && { annotations }),
      },
      automountServiceAccountToken: false,
    }),
  );
}

/** Fewest Pods for which a budget makes sense: with one it would only block the drain of a node. */
export const FEWEST_REPLICAS_FOR_BUDGET = 2;

/** Lets node drains take one Pod at a time; Pods that are unhealthy anyway don't hold a drain up. */
export function disruptionBudget(scope: Construct, workload: CheckedWorkload): ApiObject {
  return new ApiObject(
    scope,
    'disruption-budget',
    k8s.KubePodDisruptionBudget.manifest({
      metadata: objectMetadata(workload, workload.names.workload),
      spec: {
        maxUnavailable: k8s.IntOrString.fromNumber(1),
        selector: { matchLabels: workload.selector },
        unhealthyPodEvictionPolicy: 'AlwaysAllow',
      },
    }),
  );
}
