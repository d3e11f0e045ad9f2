/** One metric family as it is scraped. */
export interface MetricDefinition {
  /** Name in Prometheus; base units, `_total` on counters. */
  readonly name: string;
  /**
   * A `summary` has a sum and a count and no quantiles; its decaying maximum is another gauge, `<name>_max`. An
   * `info` is a gauge that is always 1: its labels are what it says.
   */
  readonly type: 'counter' | 'gauge' | 'summary' | 'histogram' | 'info';
  /** Label names beside the common ones (`application`); every value comes from a closed set or from the assignment. */
  readonly labels: readonly string[];
  readonly help: string;
  /** Micrometer's dotted name, where Spring Boot has the same metric: both answer at `/actuator/metrics/{name}`. */
  readonly dotted?: string;
  /** Base unit as `/actuator/metrics/{name}` shows it; left out where Micrometer has none. */
  readonly unit?: string;
  /** Upper bounds of a histogram's buckets, ascending, without the infinite one. */
  readonly buckets?: readonly number[];
  /** Read from Linux's `/proc`: left out on other systems. @default false */
  readonly linuxOnly?: boolean;
}

/** A catalogue, or a part of one. */
export type MetricDefinitions = Readonly<Record<string, MetricDefinition>>;

/** Outcomes of a write transaction: the label values of `consumer_transactions_total`. */
export const TRANSACTION_OUTCOMES = ['committed', 'fenced', 'failed'] as const;

/** Ways into the table: the label values of `consumer_rows_written_total`. */
export const WRITE_METHODS = ['copy'] as const;

export type WriteMethod = (typeof WRITE_METHODS)[number];

/** What is done with a record in a table of the user's own: the label values of `consumer_table_records_total`. */
export const TABLE_OPERATIONS = ['append', 'upsert', 'delete', 'skip'] as const;

export type TableOperation = (typeof TABLE_OPERATIONS)[number];

/** What can go wrong and passes by itself, and what it means: the label values of `consumer_errors_total`. */
export const ERROR_REASON = {
  database_away: 'PostgreSQL could not be reached, or the connection broke',
  database_busy: 'PostgreSQL refused for now: a conflict, a lock, a time-out, a shutdown or no room',
  database_unknown: 'PostgreSQL failed with an error that nobody has classified',
  registry_away: 'the schema registry did not answer, or not as one, and a batch waits for a schema',
  kafka_away: 'the brokers did not answer the consumer or the health check, or could not report what a topic contains',
  kafka_client: 'the Kafka client crashed though Kafka was not away, and started again',
  dead_letter_topic: 'the topic for dead letters did not take them',
  fenced: 'another writer had moved the stored offset',
} as const satisfies Record<string, string>;

export type ErrorReason = keyof typeof ERROR_REASON;

/**
 * How requests to the schema registry end: the label values of `consumer_schema_requests_total`. `refused`: a login or
 * a path is wrong; `away`: no answer, or another one than a registry gives.
 */
export const SCHEMA_REQUEST_OUTCOMES = ['found', 'unknown', 'refused', 'away'] as const;

export type SchemaRequestOutcome = (typeof SCHEMA_REQUEST_OUTCOMES)[number];

/** Values of `health`, as the manual of Spring Boot has them for such a gauge. */
export const HEALTH_STATUS_CODE = { UP: 3, OUT_OF_SERVICE: 2, DOWN: 1, UNKNOWN: 0 } as const;

export type HealthStatus = keyof typeof HEALTH_STATUS_CODE;

/**
 * Levels of Logback: the label values of `logback_events_total`. A fatal line counts as `error`, which Logback ends
 * with.
 */
export const LOG_LEVELS = ['error', 'warn', 'info', 'debug', 'trace'] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];

/** States of a Java thread: the label values of `jvm_threads_states_threads`. */
export const THREAD_STATES = ['new', 'runnable', 'blocked', 'waiting', 'timed-waiting', 'terminated'] as const;

export type ThreadState = (typeof THREAD_STATES)[number];

/** Labels whose names have dots in Micrometer; every other one is the same in both. */
export const DOTTED_LABELS: Readonly<Record<string, string>> = {
  client_id: 'client.id',
  kafka_version: 'kafka.version',
  main_application_class: 'main.application.class',
};

/** Value of the labels `pool` (HikariCP's) and `name` (Spring Boot's) of the pool that writes. */
export const WRITING_POOL = 'writers';
