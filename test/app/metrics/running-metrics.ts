import { createMetrics, type Metrics, type MetricsOptions } from '../../../app/metrics/create-metrics.ts';
import { managementOptions } from '../management/running-management.ts';

/** Some records of the topic of the settings go into a table as well. */
const TABLES = [
  { topic: 'orders', table: 'public.orders', fields: 'same' as const, columns: {}, when: { type: 'order' } },
];

/** A build that knows all of itself. */
const BUILD = { version: '1.2.3', commit: '3a2e408b2f8d1f5a0c9c6c2a3f1b2d4e5f607182' };

/** Metrics of a consumer at work, whose partitions were fetched; nothing of it was started. */
export function runningMetrics(overrides: Partial<MetricsOptions> = {}): Metrics {
  const health = {
    healthFailures: () => 2,
    certificates: () => new Map([['server', new Date(Date.now() + 86_400_000)]]),
    healthStatuses: () =>
      new Map([
        ['db', 'DOWN'],
        ['ping', 'UP'],
      ] as const),
  };
  const own = managementOptions();
  const waits = {
    code: 'TABLES_DO_NOT_FIT',
    message: '',
    since: new Date(0),
    isIgnored: false,
    keptUntil: new Date(),
  } as const;
  const report = () => ({ ...own.report(), waiting: [{ topic: 'orders', ...waits }] });
  const topics = { all: ['orders'], settings: { tables: TABLES } };
  const options = { ...own, report, topics, build: BUILD, ...health, ...overrides };
  const metrics = createMetrics(options);
  for (const { topic, partition } of options.report().partitions) {
    metrics.client.onLogEnds({ topic, partition, highWatermark: 5n, lastStableOffset: 5n });
  }
  return metrics;
}

/** Metrics of a consumer whose start is over, with an HTTP route; nothing has to be stopped. */
export async function startedMetrics(overrides: Partial<MetricsOptions> = {}): Promise<Metrics> {
  const metrics = runningMetrics(overrides);
  await metrics.start();
  metrics.stop();
  metrics.startup.started();
  metrics.startup.ready();
  metrics.http.expect({ method: 'GET', uri: '/actuator/health' }, 200);
  return metrics;
}
