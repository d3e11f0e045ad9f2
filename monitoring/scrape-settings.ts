import type { Workload } from '../contract/workload.ts';

/** Series of one Pod beyond which a scrape is refused: the consumer exports some tens, and a few more per partition. */
const SAMPLE_LIMIT = 5_000;

const LONGEST_TIMEOUT_SECONDS = 10;

/** How every way of scraping asks the consumer. */
export function scrapeSettings({ endpoint, file }: Workload) {
  const interval = file.monitoring.scrapeIntervalSeconds;
  return {
    path: endpoint.prometheusPath,
    scheme: endpoint.scheme.toLowerCase() as Lowercase<typeof endpoint.scheme>,
    interval: `${interval}s`,
    timeout: `${Math.min(interval, LONGEST_TIMEOUT_SECONDS)}s`,
    sampleLimit: SAMPLE_LIMIT,
  };
}
