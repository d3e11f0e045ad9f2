import { createMetrics, type Metrics, type MetricsOptions } from '../../../app/metrics/create-metrics.ts';
import { managementOptions } from '../management/running-management.ts';

/** Metrics of a consumer at work; nothing of it was started. */
export function runningMetrics(overrides: Partial<MetricsOptions> = {}): Metrics {
  return createMetrics({ ...managementOptions(), healthFailures: () => 2, ...overrides });
}
