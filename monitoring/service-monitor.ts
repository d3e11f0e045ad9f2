import type { IServiceMonitor } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/ServiceMonitor';
import { ApiObject } from 'cdk8s';
import type { Construct } from 'constructs';
import type { Workload } from '../contract/workload.ts';
import { operatorMetadata } from './operator-metadata.ts';
import { operatorAccess } from './scrape-access.ts';
import { scrapeSettings } from './scrape-settings.ts';

/** Tells the Prometheus Operator to scrape every Pod behind the Service. */
export function serviceMonitor(scope: Construct, workload: Workload): ApiObject {
  const { path, scheme, interval, timeout, sampleLimit } = scrapeSettings(workload);
  const manifest = {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'ServiceMonitor',
    metadata: operatorMetadata(workload),
    spec: {
      selector: { matchLabels: workload.selector },
      sampleLimit,
      endpoints: [
        {
          port: workload.endpoint.portName,
          path,
          scheme,
          interval,
          scrapeTimeout: timeout,
          ...operatorAccess(workload),
        },
      ],
    },
  } satisfies IServiceMonitor;
  return new ApiObject(scope, 'service-monitor', manifest);
}
