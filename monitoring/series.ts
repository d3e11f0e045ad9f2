import type { MetricDefinition } from '../contract/metrics.ts';
import type { Workload } from '../contract/workload.ts';

/** The labels that tell this consumer's series from all others; each way of scraping sets both. */
function matchers({ namespace, names }: Workload): string {
  return `{namespace="${namespace}",job="${names.scrapeJob}"}`;
}

/** PromQL selector of one metric of this consumer. */
export const series = (workload: Workload, metric: Pick<MetricDefinition, 'name'>): string =>
  `${metric.name}${matchers(workload)}`;

/** PromQL selector of Prometheus' own record of whether its scrapes of this consumer succeeded. */
export const scrapeSuccess = (workload: Workload): string => `up${matchers(workload)}`;

/** PromQL selector of the series that a recording rule of ours made. */
export const recorded = (workload: Workload, record: string): string => `${record}${matchers(workload)}`;
