import type { MetricDefinitions } from './definition.ts';

/**
 * Bounds in seconds. A write of a small batch takes some milliseconds and one of 10,000 rows some tenths of a second.
 * What takes longer than the statement time-out (30 s by default) was tried again, and a minute is an outage.
 */
const PROCESSING_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60] as const;

/**
 * Bounds in seconds. End to end there is the broker in between, with which a quiet topic takes 10 to 50 ms, and behind
 * it a backlog of up to days.
 */
const END_TO_END_SECONDS = [
  0.01, 0.02, 0.03, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 600, 1_800, 3_600, 21_600, 86_400,
] as const;

/** Bounds in records: powers of ten in three steps, up to the largest batch that can be set. */
const BATCH_RECORDS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000] as const;

/** What the consumer does, in its own words, and the two names of the specification. */
export const CONSUMER_METRICS = {
  recordsConsumed: {
    name: 'kafka_consumer_records_consumed_total',
    type: 'counter',
    labels: ['topic', 'partition'],
    help: 'Records whose transaction committed in PostgreSQL, dead letters included; only of the partitions this process owns',
    unit: 'records',
  },
  recordsLag: {
    name: 'kafka_consumer_records_lag',
    type: 'gauge',
    labels: ['topic', 'partition'],
    help: 'Log end offset less the next offset stored in PostgreSQL, for each partition this process owns. No series while it is not known, such as when the brokers have not reported the end for a minute',
    unit: 'records',
  },
  lagSeconds: {
    name: 'consumer_lag_seconds',
    type: 'gauge',
    labels: ['topic', 'partition'],
    help: 'Age of the oldest record that is not in PostgreSQL yet, by its timestamp, or since its fetch if that is longer; before its fetch, since the partition fell behind. 0 without lag, no series if not known',
    unit: 'seconds',
  },
  logEndAge: {
    name: 'consumer_log_end_age_seconds',
    type: 'gauge',
    labels: ['topic'],
    help: "Time since the brokers last reported the end of a partition's log, or that it has no leader: the longest of the topic's partitions; before the first report, since the assignment",
    unit: 'seconds',
  },
  recordsBeyondStable: {
    name: 'consumer_records_beyond_stable_offset',
    type: 'gauge',
    labels: ['topic', 'partition'],
    help: 'Log end offset less the last stable offset, from the last fetch within a minute, else no series: what open transactions hide, and the lag does not count',
    unit: 'records',
  },
  unreadablePartitions: {
    name: 'consumer_unreadable_partitions',
    type: 'gauge',
    labels: ['topic'],
    help: 'Partitions this process owns that stopped at a batch that cannot be read: a wrong checksum, content that is no record or too large, an unknown codec or format, or a topic that an ACL denies',
    unit: 'partitions',
  },
  topicGone: {
    name: 'consumer_topic_gone',
    type: 'gauge',
    labels: ['topic'],
    help: '1 while Kafka does not have a subscribed topic any more, and has reported that for 5 s; 0 while it does. No series before its first answer, and once that is older than a minute',
  },
  topicsWaiting: {
    name: 'consumer_topics_waiting',
    type: 'gauge',
    labels: ['topic'],
    help: '1 while a topic that only a template names waits alone, as for its table; 2 where nobody wants the table (missing: ignore). No series while it does not wait, or from a process that it does not concern',
  },
  topicWaitingRetention: {
    name: 'consumer_topic_waiting_retention_seconds',
    type: 'gauge',
    labels: ['topic'],
    help: 'Time until retention.ms may take unread records of a topic that waits alone, of the partitions this process owns; 0 once it may have. No series where it is not known or unlimited, or nothing is unread',
    unit: 'seconds',
  },
  topicPartitions: {
    name: 'consumer_topic_partitions',
    type: 'gauge',
    labels: ['topic'],
    help: 'Partitions that a subscribed topic has in Kafka, whichever process owns them; no series before the first answer, once that is older than a minute, and while the topic is gone',
    unit: 'partitions',
  },
  leaderlessPartitions: {
    name: 'consumer_partitions_leaderless',
    type: 'gauge',
    labels: ['topic'],
    help: 'Partitions of a subscribed topic that no broker leads, so nobody can read them, whoever owns them; from each process that owns some of the topic; no series after a minute without an answer',
    unit: 'partitions',
  },
  skippedOffsets: {
    name: 'consumer_skipped_offsets_total',
    type: 'counter',
    labels: ['topic', 'partition'],
    help: 'Offsets that were deleted from the log before they were read, or are of a batch that cannot be read, and were skipped because consumer.onGap or consumer.onBrokenBatch is skip',
    unit: 'offsets',
  },
  rowsWritten: {
    name: 'consumer_rows_written_total',
    type: 'counter',
    labels: ['topic', 'method'],
    help: 'Rows committed in PostgreSQL, dead letters left out, by the way they were written',
    unit: 'rows',
  },
  rowsDropped: {
    name: 'consumer_rows_dropped_total',
    type: 'counter',
    labels: ['topic'],
    help: 'Rows that a row trigger on the table records dropped, so that their records are in no table; only with records.onDroppedRows: allow',
    unit: 'rows',
  },
  tableRecords: {
    name: 'consumer_table_records_total',
    type: 'counter',
    labels: ['table', 'operation'],
    help: 'Records committed in one of your tables, by what was done there: a row appended or upserted, a key deleted, or skipped as no row is needed; dead letters left out; counted in each table',
    unit: 'records',
  },
  unmappedFields: {
    name: 'consumer_unmapped_fields_total',
    type: 'counter',
    labels: ['topic'],
    help: 'Fields of committed records that none of your tables for the topic takes: each counts once a record, by the outer name; dead letters by PostgreSQL included; none where a column takes $value',
    unit: 'fields',
  },
  unmatchedRecords: {
    name: 'consumer_records_unmatched_total',
    type: 'counter',
    labels: ['topic'],
    help: 'Committed records that no table of yours takes, as the when of none matches; dead letters left out. No series for topics without when',
    unit: 'records',
  },
  schemaRequests: {
    name: 'consumer_schema_requests_total',
    type: 'counter',
    labels: ['outcome'],
    help: 'Requests to the schema registry by how they ended: found, unknown, refused (login or path), away. No series without schemaRegistry',
    unit: 'requests',
  },
  schemaWait: {
    name: 'consumer_schema_wait_seconds',
    type: 'gauge',
    labels: [],
    help: 'For how long the oldest batch has been waiting for a schema of the registry; 0 while none waits. No series without schemaRegistry',
    unit: 'seconds',
  },
  schemas: {
    name: 'consumer_schemas',
    type: 'gauge',
    labels: [],
    help: 'Schemas of the registry that this process keeps, at most 1,000 unless a batch needs more. No series without schemaRegistry',
    unit: 'schemas',
  },
  deadLetters: {
    name: 'consumer_dead_letters_total',
    type: 'counter',
    labels: ['topic', 'reason'],
    help: 'Records that became dead letters, by topic and reason',
    unit: 'records',
  },
  tableDeadLetters: {
    name: 'consumer_table_dead_letters_total',
    type: 'counter',
    labels: ['table', 'column', 'reason'],
    help: 'Dead letters that one of your tables made, by the columns at fault, separated by commas, and by reason; column is empty where none is known, and after the first 200 series with a column',
    unit: 'records',
  },
  deadLettersWaiting: {
    name: 'consumer_dead_letters_waiting',
    type: 'gauge',
    labels: ['topic'],
    help: 'Dead letters of the group in the table dead_letters, by topic, counted once a minute; from each process the same. No series while it is not known, and with deadLetters.to: topic',
    unit: 'records',
  },
  deadLettersOldest: {
    name: 'consumer_dead_letters_oldest_age_seconds',
    type: 'gauge',
    labels: ['topic'],
    help: 'Time since the oldest dead letter in the table dead_letters failed, by topic; 0 where there is none. No series while it is not known, and with deadLetters.to: topic',
    unit: 'seconds',
  },
  deadLettersExpired: {
    name: 'consumer_dead_letters_expired_total',
    type: 'counter',
    labels: ['topic'],
    help: 'Dead letters that this process deleted because they were older than deadLetters.keep. No series without that setting',
    unit: 'records',
  },
  transactions: {
    name: 'consumer_transactions_total',
    type: 'counter',
    labels: ['outcome'],
    help: 'Writes of a partition by outcome of their transaction, which small ones may share: committed, fenced (another writer had moved the offset), failed (to be tried again)',
    unit: 'transactions',
  },
  errors: {
    name: 'consumer_errors_total',
    type: 'counter',
    labels: ['reason'],
    help: 'Errors that pass by themselves and are tried again, by reason',
    unit: 'errors',
  },
  handovers: {
    name: 'consumer_handovers_total',
    type: 'counter',
    labels: [],
    help: 'Partitions of which a write came to nothing while the group gave them to another owner: one of the two was first. Such writes are neither fenced nor failed',
    unit: 'handovers',
  },
  retries: {
    name: 'consumer_retries_total',
    type: 'counter',
    labels: [],
    help: 'Times that the stored position was read again after a write that failed or was fenced, or that could not be read at an assignment',
    unit: 'retries',
  },
  pausedSeconds: {
    name: 'consumer_paused_seconds_total',
    type: 'counter',
    labels: [],
    help: 'Time in which at least one partition waited for PostgreSQL, away or busy: from a failed write until the stored position is read again, and each write from its second second on, as in a lock',
    unit: 'seconds',
  },
  processing: {
    name: 'consumer_processing_seconds',
    type: 'histogram',
    labels: ['topic'],
    help: 'From the fetch of the oldest record of a write to its commit in PostgreSQL, for each write of a partition',
    unit: 'seconds',
    buckets: PROCESSING_SECONDS,
  },
  endToEnd: {
    name: 'consumer_end_to_end_seconds',
    type: 'histogram',
    labels: ['topic'],
    help: "From a record's timestamp to the commit of its transaction in PostgreSQL, for each record that has a timestamp",
    unit: 'seconds',
    buckets: END_TO_END_SECONDS,
  },
  batchRecords: {
    name: 'consumer_batch_records',
    type: 'histogram',
    labels: ['topic'],
    help: 'Records of a committed write of a partition, dead letters included; the sum is the number of records of the topic, whoever owned its partitions when',
    unit: 'records',
    buckets: BATCH_RECORDS,
  },
  health: {
    name: 'health',
    type: 'gauge',
    labels: ['component'],
    help: 'Status of each component of the health as /actuator/health has it: 3 UP, 2 OUT_OF_SERVICE or not checked yet, 1 DOWN, 0 UNKNOWN',
  },
  healthFailures: {
    name: 'health_consecutive_failures',
    type: 'gauge',
    labels: [],
    help: "Evaluations of the consumer's own health in a row that were not UP; 0 as soon as one is",
    unit: 'evaluations',
  },
} as const satisfies MetricDefinitions;
