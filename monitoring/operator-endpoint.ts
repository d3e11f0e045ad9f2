import type { CheckedWorkload } from '../deployment/checked-workload.ts';
import { operatorAccess } from './scrape.ts';
import { scrapeSettings } from './scrape-settings.ts';

/** The endpoint of a ServiceMonitor or a PodMonitor: the same port of the same Pods, asked in the same way. */
export function operatorEndpoint(workload: CheckedWorkload) {
  const { path, scheme, interval, timeout } = scrapeSettings(workload);
  return {
    port: workload.endpoint.portName,
    path,
    scheme,
    interval,
    scrapeTimeout: timeout,
    ...operatorAccess(workload),
  };
}
