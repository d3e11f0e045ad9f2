export type { MetricDefinition } from './metrics/definition.ts';

import { CONSUMER_METRICS } from './metrics/consumer.ts';
import { DATABASE_METRICS } from './metrics/database.ts';
import { HTTP_METRICS } from './metrics/http.ts';
import { KAFKA_CLIENT_METRICS } from './metrics/kafka-client.ts';
import { PROCESS_METRICS } from './metrics/process.ts';
import { RUNTIME_METRICS } from './metrics/runtime.ts';

/**
 * Everything the consumer exports. Registration, alerts and the documented table read this list; nothing else names a
 * metric.
 */
export const METRICS = {
  ...CONSUMER_METRICS,
  ...DATABASE_METRICS,
  ...KAFKA_CLIENT_METRICS,
  ...HTTP_METRICS,
  ...RUNTIME_METRICS,
  ...PROCESS_METRICS,
};

/** Key of a family in the catalogue. */
export type MetricKey = keyof typeof METRICS;

/** How many series one process may cost Prometheus. */
export const SERIES_BUDGET = {
  /** Everything that does not depend on the number of partitions, with one topic and every label value there can be. */
  base: 800,
  /** More for each partition that the process owns. */
  perPartition: 7,
  /** More for each further topic: its histograms and counters; fewer where no table has conditions on its records. */
  perTopic: 83,
  /** More for each table of the user's own; dead letters that name a column are up to 200 beside. */
  perTable: 22,
  /** Beyond it Prometheus refuses a scrape as a whole; 200 partitions of 20 topics take three quarters of it. */
  sampleLimit: 5_000,
  /** The same where topics are taken by a template: 200 topics of ten partitions take three quarters of it. */
  sampleLimitOfTemplates: 50_000,
  /**
   * So it does for a series with more labels, those of the target included and `management.metrics.tags` left out; half
   * of them are free for relabelings.
   */
  labelLimit: 32,
} as const;
