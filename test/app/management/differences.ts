/** Parts of an answer that may differ; `all` is the whole answer, about a thing that this consumer does not have. */
export type Part = 'headers' | 'body' | 'all';

/** Captured answers that differ here by intention. */
export interface Difference {
  /** Names of the captures. */
  readonly captures: readonly string[];
  readonly parts: readonly Part[];
  /** The reason, word by word as in docs/monitoring-interface.md. */
  readonly reason: string;
}

/** All differences from the captures. Every other part has to be as captured. */
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
    captures: ['prometheus-openmetrics-3'],
    parts: ['headers'],
    reason: 'a scrape is compressed for who accepts gzip; Spring Boot does that when `server.compression` is on',
  },
  {
    captures: ['prometheus-protobuf'],
    parts: ['headers', 'body'],
    reason: 'no protobuf: the next acceptable type is used',
  },
];

/** Families of Boot's scrape that this consumer does not have. */
export const ABSENT_FAMILIES: readonly { readonly names: readonly RegExp[]; readonly reason: string }[] = [
  { names: [/^(executor|tomcat)_/], reason: 'no task executor, no Tomcat: no families of theirs' },
  { names: [/^spring_kafka_/], reason: 'no Spring listener, no Spring template: no families of theirs' },
  {
    names: [/^jvm_(buffer_count|classes|compilation)_/],
    reason: 'no JVM: no classes, no compiler, no count of buffers',
  },
  {
    names: [
      /^kafka_(app_info|consumer_(commit_sync|committed|connection|io_|iotime|network_io|node|outgoing|poll_idle)_?)/,
      /^kafka_consumer_(failed_(re)?auth|successful|reauthentication|response|select|time_between)/,
      /^kafka_consumer_(incoming_byte_rate|request_(rate|size))/,
      /^kafka_consumer_coordinator_(commit|join|sync|partition_|heartbeat_r|failed_rebalance_rate)/,
      /^kafka_consumer_coordinator_rebalance_(rate|latency(_total)?$)/,
      /^kafka_consumer_fetch_manager_(fetch_(size|throttle)|preferred|records_(lag_avg|lead|per_request))/,
    ],
    reason:
      "no Java Kafka client: no figures of that client's inside; lag, consumption, fetches and rebalances are here",
  },
];

/** Labels of Boot's scrape, and tags of its metrics, that this consumer does not have. */
export const ABSENT_LABELS = {
  names: new Set<string>(['spring_id', 'spring.id']),
  reason: 'no Spring listener, whose name would be in them: no label `spring_id`',
} as const;

/** Parts of an object that are Boot's alone or this consumer's alone. */
export const FOREIGN_KEYS: readonly { readonly keys: readonly string[]; readonly reason: string }[] = [
  { keys: ['ssl', 'kafka', 'consumer'], reason: 'no component `ssl`; `kafka` and `consumer` besides' },
  {
    keys: ['java', 'license', 'runtime'],
    reason: 'no section `java`; `runtime` names what runs, `license` the terms',
  },
];

/** Headers that are not compared. */
export const TRANSPORT_HEADERS = {
  names: new Set<string>(['date', 'connection', 'keep-alive', 'content-length', 'transfer-encoding']),
  reason: "Date, Connection, Keep-Alive, Content-Length and Transfer-Encoding are the server's own",
} as const;
