import { PRODUCT_NAME } from '../../contract/identity.ts';
import type { Settings } from '../../contract/settings.ts';
import type { ConsumerReport } from '../stream/consumer-report.ts';
import type { StreamListener } from '../stream/stream-listener.ts';
import { Exposition, type ExpositionFormat } from './exposition.ts';
import { GarbageCollection } from './garbage-collection.ts';
import { memorySources } from './memory-sources.ts';
import { MetricReader } from './metric-reading.ts';
import { single } from './metric-source.ts';
import { type PoolFigures, poolSources } from './pool-figures.ts';
import { processSources } from './process-sources.ts';
import { StreamCounters } from './stream-counters.ts';

/** Where the figures come from. */
export interface MetricsOptions {
  readonly settings: Pick<Settings, 'management'>;
  readonly report: () => ConsumerReport;
  readonly pool: () => PoolFigures;
  /** Evaluations of the consumer's health in a row that were not UP. */
  readonly healthFailures: () => number;
}

/** The consumer's metrics: what feeds them and what shows them. */
export interface Metrics {
  /** Takes what the pipeline tells. */
  readonly listener: StreamListener;
  /** Counts a connection to PostgreSQL that could not be opened or broke. */
  databaseConnectionFailed(): void;
  /** Writes all or some families for Prometheus. */
  write(format: ExpositionFormat, includedNames?: ReadonlySet<string>): Promise<string>;
  readonly reader: MetricReader;
  /** Begins to watch the garbage collector. */
  start(): void;
  stop(): void;
}

/** Puts every family of the catalogue together with its source. */
export function createMetrics({ settings, report, pool, healthFailures }: MetricsOptions): Metrics {
  const counters = new StreamCounters(report);
  const garbageCollection = new GarbageCollection();
  let connectionFailures = 0;
  const sources = {
    ...counters.sources,
    ...poolSources(pool),
    ...memorySources,
    ...garbageCollection.sources,
    ...processSources(),
    databaseConnectionFailures: single(() => connectionFailures),
    healthFailures: single(healthFailures),
  };
  const tags = { application: PRODUCT_NAME, ...settings.management.metrics.tags };
  const expositions = {
    text: new Exposition('text', sources, tags),
    openmetrics: new Exposition('openmetrics', sources, tags),
  };
  return {
    listener: counters,
    databaseConnectionFailed: () => {
      connectionFailures += 1;
    },
    write: (format, includedNames) => expositions[format].write(includedNames),
    reader: new MetricReader(sources, tags),
    start: () => garbageCollection.start(),
    stop: () => garbageCollection.stop(),
  };
}
