import { SERIES_BUDGET } from '../contract/metrics.ts';
import type { CheckedWorkload } from '../deployment/checked-workload.ts';

const LONGEST_TIMEOUT_SECONDS = 10;

/** How every way of scraping asks the consumer. */
export function scrapeSettings({ endpoint, file }: CheckedWorkload) {
  const interval = file.monitoring.scrapeIntervalSeconds;
  return {
    path: endpoint.prometheusPath,
    scheme: endpoint.scheme.toLowerCase() as Lowercase<typeof endpoint.scheme>,
    interval: `${interval}s`,
    timeout: `${Math.min(interval, LONGEST_TIMEOUT_SECONDS)}s`,
    sampleLimit: SERIES_BUDGET.sampleLimit,
  };
}
