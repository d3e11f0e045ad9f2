import type { IPodMonitor } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/PodMonitor';
import { ApiObject } from 'cdk8s';
import type { Construct } from 'constructs';
import type { CheckedWorkload } from '../deployment/checked-workload.ts';
import { operatorEndpoint } from './operator-endpoint.ts';
import { operatorMetadata } from './operator-metadata.ts';
import { scrapeSettings } from './scrape-settings.ts';

/** Tells the Prometheus Operator to scrape every Pod, without a Service. The job is ours, not `namespace/name`: the rules look at it. */
export function podMonitor(scope: Construct, workload: CheckedWorkload): ApiObject {
  const relabelings = [{ targetLabel: 'job', replacement: workload.names.scrapeJob }];
  const manifest = {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'PodMonitor',
    metadata: operatorMetadata(workload),
    spec: {
      selector: { matchLabels: workload.selector },
      sampleLimit: scrapeSettings(workload).sampleLimit,
      podMetricsEndpoints: [{ ...operatorEndpoint(workload), relabelings }],
    },
  } satisfies IPodMonitor;
  return new ApiObject(scope, 'pod-monitor', manifest);
}
