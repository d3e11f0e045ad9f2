/** Parts of an answer that may differ; `all` is the answer as a whole: what it is about is not here. */
export type Part = 'headers' | 'body' | 'all';

/** Captured answers that this consumer is meant to give differently. */
export interface Difference {
  /** Names of the captures. */
  readonly captures: readonly string[];
  readonly parts: readonly Part[];
  /** Why; stands in docs/monitoring-interface.md word by word. */
  readonly reason: string;
}

/** All differences from the captures. Whatever is not in here has to be as captured. */
export const DIFFERENCES: readonly Difference[] = [
  { captures: ['error'], parts: ['all'], reason: '`/error` is a path like any other: 404' },
  { captures: ['health-ssl'], parts: ['all'], reason: 'no SSL bundles: no component `ssl`' },
  {
    captures: ['metric-executor.active', 'metric-tomcat.sessions.active.current', 'metric-spring.kafka.listener'],
    parts: ['all'],
    reason: 'no task executor, no Tomcat, no Spring listener: no such metrics',
  },
  {
    captures: ['metric-tag-heap-eden', 'metric-tag-heap-eden-comma'],
    parts: ['all'],
    reason: "no JVM pools: the tag `id` has V8's heap spaces",
  },
  {
    captures: ['health-encoded-slash'],
    parts: ['headers', 'body'],
    reason: "no Tomcat: `%2F` in a path is 400 with the usual error JSON, not with Tomcat's page",
  },
  {
    captures: ['prometheus-name-array'],
    parts: ['all'],
    reason: 'no Tomcat: raw brackets in a query are no error, and the unknown parameter is passed over',
  },
  {
    captures: ['prometheus-protobuf'],
    parts: ['headers', 'body'],
    reason: 'no protobuf: the next acceptable type is used',
  },
];

/** Families of Boot's scrape that are not here. */
export const ABSENT_FAMILIES: readonly { readonly names: RegExp; readonly reason: string }[] = [
  { names: /^(executor|tomcat)_/, reason: 'no task executor, no Tomcat' },
  { names: /^spring_kafka_/, reason: 'no Spring listener, no Spring template' },
  { names: /^jvm_(buffer_count|classes|compilation)_/, reason: 'no such thing in V8' },
  {
    names:
      /^kafka_(app_info|consumer_(commit_sync|committed|connection|failed_(re)?auth|successful|reauthentication|io_|iotime|network_io|node|outgoing|poll_idle|response|select|time_between|incoming_byte_rate|request_(rate|size)))/,
    reason: "inside of Java's Kafka client: this one has no such figures",
  },
  {
    names:
      /^kafka_consumer_(coordinator_(commit|join|sync|partition_|heartbeat_r|rebalance_(rate|latency$)|failed_rebalance_rate)|fetch_manager_(fetch_size|fetch_throttle|preferred|records_(lag_avg|lead|per_request)))/,
    reason: "inside of Java's Kafka client: this one has no such figures",
  },
];

/** Labels of Boot's scrape that are not here: who names a Spring listener. */
export const ABSENT_LABELS: ReadonlySet<string> = new Set(['spring_id', 'spring.id']);

/** Parts of an object that are Boot's alone or this consumer's alone. */
export const ABSENT_KEYS: ReadonlySet<string> = new Set([
  // components of the health
  'ssl',
  'kafka',
  'consumer',
  // sections of the info
  'java',
  'license',
  'runtime',
]);
