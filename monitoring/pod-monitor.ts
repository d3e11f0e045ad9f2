import type { IPodMonitor } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/PodMonitor';
import { ApiObject } from 'cdk8s';
import type { Construct } from 'constructs';
import type { Workload } from '../contract/workload.ts';
import { operatorMetadata } from './operator-metadata.ts';
import { operatorAccess } from './scrape-access.ts';
import { scrapeSettings } from './scrape-settings.ts';

/** Tells the Prometheus Operator to scrape every Pod, without a Service. The job is ours, not `namespace/name`: the rules look at it. */
export function podMonitor(scope: Construct, workload: Workload): ApiObject {
  const { path, scheme, interval, timeout, sampleLimit } = scrapeSettings(workload);
  const manifest = {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'PodMonitor',
    metadata: operatorMetadata(workload),
    spec: {
      selector: { matchLabels: workload.selector },
      sampleLimit,
      podMetricsEndpoints: [
        {
          port: workload.endpoint.portName,
          path,
          scheme,
          interval,
          scrapeTimeout: timeout,
          relabelings: [{ targetLabel: 'job', replacement: workload.names.scrapeJob }],
          ...operatorAccess(workload),
        },
      ],
    },
  } satisfies IPodMonitor;
  return new ApiObject(scope, 'pod-monitor', manifest);
}
