export type { MetricDefinition } from './metrics/definition.ts';

import { CONSUMER_METRICS } from './metrics/consumer.ts';
import { DATABASE_METRICS } from './metrics/database.ts';
import { HTTP_METRICS } from './metrics/http.ts';
import { KAFKA_CLIENT_METRICS } from './metrics/kafka-client.ts';
import { PROCESS_METRICS } from './metrics/process.ts';
import { RUNTIME_METRICS } from './metrics/runtime.ts';

/** Everything the consumer exports. Registration, alerts and the documented table read this list; nothing else names a metric. */
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
