import type { IServiceMonitor } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/ServiceMonitor';
import { ApiObject } from 'cdk8s';
import type { Construct } from 'constructs';
import type { CheckedWorkload } from '../deployment/checked-workload.ts';
import { operatorEndpoint } from './operator-endpoint.ts';
import { operatorMetadata } from './operator-metadata.ts';
import { scrapeSettings } from './scrape-settings.ts';

/** Tells the Prometheus Operator to scrape every Pod behind the Service. */
export function serviceMonitor(scope: Construct, workload: CheckedWorkload): ApiObject {
  const manifest = {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'ServiceMonitor',
    metadata: operatorMetadata(workload),
    spec: {
      selector: { matchLabels: workload.selector },
      sampleLimit: scrapeSettings(workload).sampleLimit,
      endpoints: [operatorEndpoint(workload)],
    },
  } satisfies IServiceMonitor;
  return new ApiObject(scope, 'service-monitor', manifest);
}
