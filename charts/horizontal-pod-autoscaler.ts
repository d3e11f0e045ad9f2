import type { ApiObject } from 'cdk8s';
import { k8s } from 'cdk8s-plus-28';
import type { Construct } from 'constructs';
import { type CheckedWorkload, objectMetadata } from '../deployment/checked-workload.ts';
import type { ConsumerFile } from '../deployment/consumer-file.ts';
import { replicaRange } from '../deployment/scaling.ts';
import { scalingBehavior } from './scaling-behavior.ts';

type HpaSettings = NonNullable<ConsumerFile['scaling']['hpa']>;

const utilization = (name: 'cpu' | 'memory', averageUtilization: number | undefined): k8s.MetricSpecV2[] =>
  averageUtilization === undefined
    ? []
    : [{ type: 'Resource', resource: { name, target: { type: 'Utilization', averageUtilization } } }];

function externalMetric(external: HpaSettings['external']): k8s.MetricSpecV2[] {
  if (external === undefined) {
    return [];
  }
  const { metric, labels, averageValue } = external;
  const selector = Object.keys(labels).length === 0 ? {} : { selector: { matchLabels: labels } };
  const target = { type: 'AverageValue', averageValue: k8s.Quantity.fromString(String(averageValue)) };
  return [{ type: 'External', external: { metric: { name: metric, ...selector }, target } }];
}

/** Kubernetes' own autoscaler; the Deployment then has no number of replicas, which an apply would reset. */
export function horizontalPodAutoscaler(scope: Construct, workload: CheckedWorkload, hpa: HpaSettings): ApiObject {
  const { least, most } = replicaRange(workload.file);
  return new k8s.KubeHorizontalPodAutoscalerV2(scope, 'horizontal-pod-autoscaler', {
    metadata: objectMetadata(workload, workload.names.workload),
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: workload.names.workload },
      minReplicas: least,
      maxReplicas: most,
      metrics: [
        ...utilization('cpu', hpa.cpuPercent),
        ...utilization('memory', hpa.memoryPercent),
        ...externalMetric(hpa.external),
      ],
      behavior: scalingBehavior(hpa.behavior),
    },
  });
}
