/** The levels of an alert; the higher one of a name mutes the lower one. */
export const ALERT_LEVELS = ['warning', 'critical'] as const;

export type AlertLevelName = (typeof ALERT_LEVELS)[number];

/** One level of an alert. */
export interface AlertLevel {
  /** What makes it fire, in a few words, for the list of a page; `#` is the threshold. */
  readonly fires: string;
  /** Limit that the condition compares with; `limit` of the alert says of what. */
  readonly threshold: number;
  /** Time the condition has to hold before the alert fires, as Prometheus writes it. */
  readonly for: string;
  /** Rendered only where consumer.yaml switches it, or the whole alert, on. @default false */
  readonly isOptional?: boolean;
}

/** An alert by its defaults; consumer.yaml may say otherwise under `monitoring.alerts`. */
export interface AlertDefinition extends Readonly<Partial<Record<AlertLevelName, AlertLevel>>> {
  /** What the thresholds count. */
  readonly limit: string;
  /** How `fires` shows the threshold: 0.8 as 80 %, 300 seconds as 5 minutes. @default as a number */
  readonly shows?: 'share' | 'seconds';
  /** Time the alert keeps firing after the condition is gone. */
  readonly keepFiringFor: string;
  /** Why these two times. */
  readonly times: string;
}

/**
 * A topic with few records has not ten dead letters in ten minutes: so many of an hour, and such a share, are a
 * warning.
 */
export const DEAD_LETTERS_OF_AN_HOUR = { letters: 5, share: 0.25 } as const;

/**
 * Every alert of a consumer: rules, the documented table and the runbooks' names come from here. Limits are "more
 * than", but for the failures in a row, which are "at least", and the days of a certificate, which are "fewer than".
 */
export const ALERTS = {
  ConsumerLagHigh: {
    limit: 'records of all partitions of one topic that PostgreSQL does not have yet',
    warning: { fires: 'more than # records behind', threshold: 10_000, for: '5m' },
    critical: { fires: 'more than # records behind', threshold: 100_000, for: '5m' },
    keepFiringFor: '5m',
    times: 'a rolling update, and a rebalance, fit into five minutes; a lag that swings around the limit is one alert',
  },
  ConsumerLagTime: {
    limit: 'seconds that the oldest record of a partition has been waiting, and growing',
    shows: 'seconds',
    warning: { fires: 'a record waits for more than #, and ever longer', threshold: 300, for: '5m' },
    critical: { fires: 'a record waits for more than #, and ever longer', threshold: 1_800, for: '5m' },
    keepFiringFor: '5m',
    times: 'as ConsumerLagHigh; a backlog that is being worked off does not grow, and is silent',
  },
  HealthCheckFailing: {
    limit: 'failed health checks, or failed scrapes, in a row (at least)',
    critical: { fires: 'not UP # times in a row, or # scrapes without an answer', threshold: 3, for: '0s' },
    keepFiringFor: '2m',
    times:
      'the failures in a row are the wait; a restart by the liveness probe begins the count anew, and takes less than two minutes',
  },
  ConsumerAbsent: {
    limit: 'signs that Prometheus has no target at all: 1, or none',
    critical: { fires: 'no Pod to scrape', threshold: 0, for: '5m' },
    keepFiringFor: '0s',
    times: 'a Pod that moves to another node is away for a minute or two; the first target that is back ends it',
  },
  ConsumerRestarting: {
    limit: 'starts of one container within 15 minutes, beside the first',
    warning: { fires: 'a container started more than # times again within 15 minutes', threshold: 2, for: '0s' },
    keepFiringFor: '10m',
    times: 'the restarts are the wait; Kubernetes waits up to five minutes before the next one',
  },
  MemoryHigh: {
    limit: "resident memory of the process over the container's memory limit",
    shows: 'share',
    warning: { fires: 'above # of the memory limit', threshold: 0.8, for: '5m' },
    critical: { fires: 'above # of the memory limit', threshold: 0.95, for: '1m' },
    keepFiringFor: '2m',
    times: 'short enough to fire before the kernel kills the container, long enough for a full garbage collection',
  },
  HeapNearItsLimit: {
    limit: "share of V8's heap limit that is in use after a garbage collection",
    shows: 'share',
    warning: { fires: 'more than # of the heap in use after a garbage collection', threshold: 0.9, for: '5m' },
    keepFiringFor: '2m',
    times: 'what five minutes of collections do not free is in use',
  },
  EventLoopBlocked: {
    limit: 'seconds by which the event loop came late to its work, at most within three minutes',
    shows: 'seconds',
    warning: { fires: 'the event loop is blocked for more than #, again and again', threshold: 1, for: '5m' },
    keepFiringFor: '2m',
    times: 'a block counts for three minutes, so five of them are blocks again and again',
  },
  DatabaseConnectionFailures: {
    limit: 'connections to PostgreSQL that failed within 5 minutes',
    critical: { fires: 'more than # connections failed within 5 minutes', threshold: 0, for: '0s' },
    keepFiringFor: '5m',
    times: 'it reports any failure at once; the next one within five minutes belongs to the same outage',
  },
  KafkaUnreachable: {
    limit: "seconds since a broker last reported where a topic's log ends: to any Pod, or to one of several (warning)",
    shows: 'seconds',
    warning: { fires: 'one Pod has not heard from Kafka for #, and another one has', threshold: 60, for: '1m' },
    critical: { fires: 'no Pod has heard from Kafka for #', threshold: 60, for: '1m' },
    keepFiringFor: '2m',
    times:
      'two minutes after the last answer: a broker that restarts is back before that, and ConsumerLagHigh still fires',
  },
  SchemaRegistryAway: {
    limit: 'seconds that the oldest batch has been waiting for a schema of the registry',
    shows: 'seconds',
    critical: { fires: 'a batch waits for a schema for more than #', threshold: 10, for: '5m' },
    keepFiringFor: '5m',
    times:
      'an unknown schema waits for 5 s; a registry that restarts is back within five minutes, and Kubernetes restarts a container within as many',
  },
  CertificateExpires: {
    limit: 'days until a certificate in use expires: of the HTTP interface, or of this client (fewer than)',
    warning: { fires: 'a certificate expires in fewer than # days', threshold: 21, for: '0s' },
    critical: { fires: 'a certificate expires in fewer than # days', threshold: 7, for: '0s' },
    keepFiringFor: '15m',
    times: 'a date does not flap; the kept time holds it over failed scrapes',
  },
  TopicGone: {
    limit: 'Pods that report a topic as gone',
    critical: { fires: 'more than # Pods report that a topic is gone', threshold: 0, for: '0s' },
    keepFiringFor: '2m',
    times: 'the consumer itself waits for a second answer of Kafka',
  },
  TopicWaits: {
    limit: 'Pods that report a topic which waits alone, and is wanted',
    critical: { fires: 'a topic that a template names waits alone', threshold: 0, for: '5m' },
    keepFiringFor: '2m',
    times: 'a table that is created a little later than its topic, or altered, is there within five minutes',
  },
  PartitionUnassigned: {
    limit: 'partitions of a topic for which no Pod exports a lag',
    critical: { fires: 'more than # partitions that no Pod reads', threshold: 0, for: '5m' },
    keepFiringFor: '2m',
    times:
      'as ConsumerLagHigh, whose sum lacks these partitions; a rebalance and a new partition fit into five minutes',
  },
  PartitionUnreadable: {
    limit: 'partitions that stopped at a batch that cannot be read',
    critical: { fires: 'more than # partitions stopped at a batch that cannot be read', threshold: 0, for: '1m' },
    keepFiringFor: '2m',
    times: 'a minute has several attempts to read the batch',
  },
  PartitionLeaderless: {
    limit: 'partitions of a topic that no broker leads',
    critical: { fires: 'more than # partitions that no broker leads', threshold: 0, for: '2m' },
    keepFiringFor: '2m',
    times: 'a broker that restarts is back within two minutes, and leads its partitions again',
  },
  RecordsSkipped: {
    limit: 'offsets skipped within 15 minutes: deleted before they were read, or of a batch that cannot be read',
    critical: { fires: 'more than # records skipped within 15 minutes', threshold: 0, for: '0s' },
    keepFiringFor: '15m',
    times: 'records are lost, whatever comes after it',
  },
  DeadLettersHigh: {
    limit: `share of a topic's records of 10 minutes that became dead letters, once they are at least 10; a warning also looks at an hour: at least ${DEAD_LETTERS_OF_AN_HOUR.letters}, and more than ${DEAD_LETTERS_OF_AN_HOUR.share * 100} %`,
    shows: 'share',
    warning: {
      fires: `more than # of the records of a topic in 10 minutes, or ${DEAD_LETTERS_OF_AN_HOUR.share * 100} % in an hour`,
      threshold: 0.01,
      for: '5m',
    },
    critical: { fires: 'more than # of the records of a topic in 10 minutes', threshold: 0.25, for: '5m' },
    keepFiringFor: '10m',
    times:
      'five minutes of it are no single batch; the share of ten minutes falls slowly after the last letter, that of the hour within an hour',
  },
  DeadLettersWaiting: {
    limit: 'seconds since the oldest dead letter of a topic failed that is still in the table',
    shows: 'seconds',
    warning: { fires: 'a letter is in the table for more than #', threshold: 604_800, for: '15m', isOptional: true },
    keepFiringFor: '15m',
    times:
      'a week is no matter of minutes; a rolling update, and a count of a large table, fit into a quarter of an hour',
  },
  WriterFenced: {
    limit: 'fenced writes of 15 minutes for each partition',
    warning: { fires: 'more than # fenced writes a partition within 15 minutes', threshold: 3, for: '0s' },
    keepFiringFor: '15m',
    times:
      'a change of owners is a handover and fences no partition; more of it within the quarter of an hour is two writers',
  },
  RebalanceStorm: {
    limit: 'rebalances of one Pod within 15 minutes',
    warning: { fires: 'more than # rebalances of a Pod within 15 minutes', threshold: 15, for: '0s', isOptional: true },
    keepFiringFor: '15m',
    times:
      'a Pod that is replaced makes three, so a rolling update of four Pods makes 12; one of many makes more, so the alert is optional',
  },
  RecordsLate: {
    limit:
      'burn rate of the error budget of a topic: times as many records late as the objective allows, unless a backlog was worked off',
    warning: {
      fires: 'records are late # times as often as the objective allows, over 6 hours',
      threshold: 6,
      for: '2m',
    },
    critical: {
      fires: 'records are late # times as often as the objective allows, over 1 hour',
      threshold: 14.4,
      for: '2m',
      isOptional: true,
    },
    keepFiringFor: '5m',
    times: 'the windows are the wait: 6 h and 30 min for a warning, 1 h and 5 min for critical',
  },
} as const satisfies Readonly<Record<string, AlertDefinition>>;

export type AlertName = keyof typeof ALERTS;

/**
 * Records that are in the table within this time of their timestamp are fresh: a bucket of
 * `consumer_end_to_end_seconds`.
 */
export const FRESH_WITHIN_SECONDS = 60;

/** A topic with more records of lag than this has a backlog: its records come late, and no objective holds for them. */
export const BACKLOG_RECORDS = 10_000;

/** Share of all records that is to be fresh. */
export const FRESH_SHARE = 0.99;

/**
 * How often the consumer evaluates its own health for `health_consecutive_failures`: three times fit into 30 s, before
 * the liveness probe's third failure.
 */
export const HEALTH_EVALUATION_INTERVAL_MS = 10_000;
