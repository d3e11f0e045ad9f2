/** One metric family as it is scraped. */
export interface MetricDefinition {
  /** Name in Prometheus; base units, `_total` on counters. */
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'summary';
  /** Label names beside the common ones (`application`); every value comes from a closed set or from the assignment. */
  readonly labels: readonly string[];
  readonly help: string;
  /** Micrometer's dotted name, where Spring Boot has the same metric: both answer at `/actuator/metrics/{name}`. */
  readonly dotted?: string;
  /** Base unit as `/actuator/metrics/{name}` shows it; left out where Micrometer has none. */
  readonly unit?: string;
}

/** Everything the consumer exports. Registration, alerts and the README's table read this list; nothing else names a metric. */
export const METRICS = {
  recordsConsumed: {
    name: 'kafka_consumer_records_consumed_total',
    type: 'counter',
    labels: ['topic', 'partition'],
    help: 'Records whose transaction committed in PostgreSQL, dead letters included',
    unit: 'records',
  },
  recordsLag: {
    name: 'kafka_consumer_records_lag',
    type: 'gauge',
    labels: ['topic', 'partition'],
    help: 'Log end offset less the next offset stored in PostgreSQL, for each partition this process owns',
    unit: 'records',
  },
  skippedOffsets: {
    name: 'consumer_skipped_offsets_total',
    type: 'counter',
    labels: ['topic', 'partition'],
    help: 'Offsets that were deleted from the log before they were read, skipped because consumer.onGap says so',
    unit: 'offsets',
  },
  deadLetters: {
    name: 'consumer_dead_letters_total',
    type: 'counter',
    labels: ['reason'],
    help: 'Records that became dead letters, by reason',
    unit: 'records',
  },
  transactions: {
    name: 'consumer_transactions_total',
    type: 'counter',
    labels: ['outcome'],
    help: 'Write transactions by outcome: committed, fenced (another writer had moved the offset), failed (to be tried again)',
    unit: 'transactions',
  },
  poolActive: {
    name: 'db_pool_active_connections',
    type: 'gauge',
    labels: [],
    help: 'Connections of the writing pool that are in use',
    unit: 'connections',
  },
  poolIdle: {
    name: 'db_pool_idle_connections',
    type: 'gauge',
    labels: [],
    help: 'Connections of the writing pool that wait for work',
    unit: 'connections',
  },
  poolPending: {
    name: 'db_pool_pending_requests',
    type: 'gauge',
    labels: [],
    help: 'Writers that wait for a connection of the pool',
    unit: 'requests',
  },
  poolMax: {
    name: 'db_pool_max_connections',
    type: 'gauge',
    labels: [],
    help: 'Connections that the writing pool opens at most',
    unit: 'connections',
  },
  databaseConnectionFailures: {
    name: 'db_connection_failures_total',
    type: 'counter',
    labels: [],
    help: 'Connections to PostgreSQL that could not be opened or broke while in use',
    unit: 'failures',
  },
  healthFailures: {
    name: 'health_consecutive_failures',
    type: 'gauge',
    labels: [],
    help: "Evaluations of the consumer's own health in a row that were not UP; 0 as soon as one is",
    unit: 'evaluations',
  },
  memoryUsed: {
    name: 'jvm_memory_used_bytes',
    type: 'gauge',
    labels: ['area', 'id'],
    help: "Used memory: V8's heap spaces are area heap, the rest of the process is area nonheap",
    dotted: 'jvm.memory.used',
    unit: 'bytes',
  },
  memoryCommitted: {
    name: 'jvm_memory_committed_bytes',
    type: 'gauge',
    labels: ['area', 'id'],
    help: 'Memory that is reserved from the operating system',
    dotted: 'jvm.memory.committed',
    unit: 'bytes',
  },
  memoryMax: {
    name: 'jvm_memory_max_bytes',
    type: 'gauge',
    labels: ['area', 'id'],
    help: 'Most memory that can be used; -1 where there is no limit',
    dotted: 'jvm.memory.max',
    unit: 'bytes',
  },
  gcPause: {
    name: 'jvm_gc_pause_seconds',
    type: 'summary',
    labels: ['action', 'cause'],
    help: "Pauses of V8's garbage collector",
    dotted: 'jvm.gc.pause',
    unit: 'seconds',
  },
  gcPauseMax: {
    name: 'jvm_gc_pause_seconds_max',
    type: 'gauge',
    labels: ['action', 'cause'],
    help: "Longest pause of V8's garbage collector in the last three minutes",
    unit: 'seconds',
  },
  residentMemory: {
    name: 'process_resident_memory_bytes',
    type: 'gauge',
    labels: [],
    help: 'Resident memory of the process',
    unit: 'bytes',
  },
  cpuUsage: {
    name: 'process_cpu_usage',
    type: 'gauge',
    labels: [],
    help: 'Share of all processors that the process used since the scrape before, 0 to 1',
    dotted: 'process.cpu.usage',
  },
  cpuCount: {
    name: 'system_cpu_count',
    type: 'gauge',
    labels: [],
    help: 'Processors available to the process',
    dotted: 'system.cpu.count',
  },
  uptime: {
    name: 'process_uptime_seconds',
    type: 'gauge',
    labels: [],
    help: 'Time since the process started',
    dotted: 'process.uptime',
    unit: 'seconds',
  },
  startTime: {
    name: 'process_start_time_seconds',
    type: 'gauge',
    labels: [],
    help: 'Start of the process as seconds since the epoch',
    dotted: 'process.start.time',
    unit: 'seconds',
  },
} as const satisfies Record<string, MetricDefinition>;

/** Outcomes of a write transaction: the label values of `consumer_transactions_total`. */
export const TRANSACTION_OUTCOMES = ['committed', 'fenced', 'failed'] as const;
