import { DEAD_LETTER_REASONS, type DeadLetterReason } from '../../../contract/dead-letter-reasons.ts';
import {
  ERROR_REASON,
  type ErrorReason,
  TRANSACTION_OUTCOMES,
  WRITE_METHODS,
} from '../../../contract/metrics/definition.ts';
import { METRICS } from '../../../contract/metrics.ts';
import type { Settings } from '../../../settings/settings.ts';
import type { TopicPartition } from '../../records/record.ts';
import { type BatchPart, Records } from '../../records/records.ts';
import type { ConsumerReport } from '../../stream/partition/consumer-state.ts';
import type { Gap, RecordSink } from '../../stream/ports/record-sink.ts';
import { OutageError } from '../../stream/ports/stream-errors.ts';
import { type CommittedBatch, rowsDropped, type StreamListener } from '../../stream/ports/stream-listener.ts';
import {
  BucketCounts,
  LabelledCounts,
  type Labels,
  type MetricSource,
  type MetricSources,
  single,
  TopicSeries,
} from '../exposition/metric-source.ts';
import { PartitionLag } from './partition-lag.ts';
import { TableCounters } from './table-counters.ts';

const NO_TABLES: Settings['tables'] = [];

const ERROR_REASONS = Object.keys(ERROR_REASON) as ErrorReason[];

type CounterMetrics = Pick<
  MetricSources,
  'transactions' | 'errors' | 'handovers' | 'retries' | 'pausedSeconds' | 'unreadablePartitions'
>;

/**
 * Counts the events of the pipeline. Series by partition go with the partition's revocation; the counters by topic have
 * the sums over all partitions, and never fall.
 */
export class ConsumerCounters implements StreamListener {
  readonly #partitions: PartitionLag;
  readonly #writes: TopicWrites;
  readonly #unreadable: MetricSource;
  readonly #transactions = new LabelledCounts('outcome', TRANSACTION_OUTCOMES);
  readonly #errors = new LabelledCounts('reason', ERROR_REASONS);
  readonly #pausedTime = new PausedTime();
  readonly #tables: TableCounters;
  #handovers = 0;
  #retries = 0;

  /**
   * @param topics those that are read now, another list each time that they change: the series of each is there
   * @param now milliseconds since the epoch
   * @default Date.now()
   * @param tables the user's own that are filled now; their series are there, too. @default none
   */
  constructor(
    report: () => ConsumerReport,
    topics: () => readonly string[],
    now: () => number = () => Date.now(),
    tables: () => Settings['tables'] = () => NO_TABLES,
  ) {
    this.#tables = new TableCounters(tables);
    this.#partitions = new PartitionLag(report, now);
    this.#writes = new TopicWrites(topics);
    this.#unreadable = () => topics().map((topic) => ({ labels: { topic }, value: unreadableOf(topic, report()) }));
  }

  onCommitted(batch: CommittedBatch): void {
    this.#transactions.add('committed');
    this.#partitions.onCommitted(batch);
    this.#writes.observe(batch);
    if (batch.tables) {
      this.#tables.observe(batch.topic, batch.tables);
    }
  }

  onFenced(): void {
    this.#transactions.add('fenced');
    this.#errors.add('fenced');
  }

  onHandover(): void {
    this.#handovers += 1;
  }

  onSkipped(gap: Gap): void {
    this.#partitions.onSkipped(gap);
  }

  onFailed(_partition: TopicPartition, error: Error): void {
    this.#transactions.add('failed');
    this.#errors.add(error instanceof OutageError ? error.reason : 'database_unknown');
  }

  onRetry(): void {
    this.#retries += 1;
  }

  onPaused(isPaused: boolean): void {
    this.#pausedTime.outage(isPaused);
  }

  /** The sink with its writes measured: a listener hears of one only when it is over. */
  measured(sink: RecordSink): RecordSink {
    return {
      positions: (topics) => sink.positions(topics),
      adoptTopicIds: (ids) => sink.adoptTopicIds(ids),
      recordTables: (ids) => sink.recordTables(ids),
      initialize: (topic, choose) => sink.initialize(topic, choose),
      misfits: (topics) => sink.misfits(topics),
      skip: (gap) => this.#pausedTime.during(sink.skip(gap)),
      write: (request) => this.#pausedTime.during(sink.write(request)),
    };
  }

  /** The brokers did not answer, or the Kafka client crashed for another reason. */
  clientFailed(reason: Extract<ErrorReason, `kafka_${string}`>): void {
    this.#errors.add(reason);
  }

  get sources(): PartitionLag['sources'] & TopicWrites['sources'] & TableCounters['sources'] & CounterMetrics {
    return {
      ...this.#partitions.sources,
      ...this.#writes.sources,
      ...this.#tables.sources,
      transactions: this.#transactions.source,
      errors: this.#errors.source,
      handovers: single(() => this.#handovers),
      retries: single(() => this.#retries),
      pausedSeconds: single(() => this.#pausedTime.seconds),
      unreadablePartitions: this.#unreadable,
    };
  }
}

const unreadableOf = (topic: string, { partitions }: ConsumerReport): number =>
  partitions.filter((owned) => owned.topic === topic && owned.unreadable !== undefined).length;

type TopicWriteMetrics = Pick<
  MetricSources,
  'rowsWritten' | 'deadLetters' | 'rowsDropped' | 'processing' | 'endToEnd' | 'batchRecords'
>;

/** Rows, dead letters, batch sizes and times of one topic's transactions. */
class WritesOfTopic {
  readonly labels: Labels;
  readonly rows: LabelledCounts<(typeof WRITE_METHODS)[number]>;
  readonly deadLetters: LabelledCounts<DeadLetterReason>;
  rowsDropped = 0;
  readonly processing = new BucketCounts(METRICS.processing.buckets);
  readonly endToEnd = new BucketCounts(METRICS.endToEnd.buckets);
  readonly batchRecords = new BucketCounts(METRICS.batchRecords.buckets);

  constructor(topic: string) {
    this.labels = { topic };
    this.rows = new LabelledCounts('method', WRITE_METHODS, { topic });
    this.deadLetters = new LabelledCounts('reason', DEAD_LETTER_REASONS, { topic });
  }
}

/** Measures committed transactions by topic; every series is there as long as the topic is read. */
class TopicWrites {
  readonly #topics: TopicSeries<WritesOfTopic>;

  constructor(topics: () => readonly string[]) {
    this.#topics = new TopicSeries(topics, (topic) => new WritesOfTopic(topic));
  }

  observe(batch: CommittedBatch): void {
    const { topic, rows, records, written, fetchedAt, committedAt } = batch;
    const writes = this.#topics.of(topic);
    if (writes === undefined || records === 0) {
      return;
    }
    const committedMs = committedAt.getTime();
    for (const [method, count] of rows) {
      writes.rows.add(method, count);
    }
    for (const [reason, count] of batch.deadLetters) {
      writes.deadLetters.add(reason, count);
    }
    writes.rowsDropped += rowsDropped(batch);
    writes.batchRecords.observe(records);
    writes.processing.observe(seconds(committedMs - fetchedAt.getTime()));
    for (const part of written.parts) {
      observeAges(writes.endToEnd, part, committedMs);
    }
  }

  get sources(): TopicWriteMetrics {
    const histogram = (of: (writes: WritesOfTopic) => BucketCounts): MetricSource => {
      return () => this.#topics.all.map((writes) => of(writes).sample(writes.labels));
    };
    return {
      rowsWritten: () => this.#topics.all.flatMap(({ rows }) => rows.source()),
      deadLetters: () => this.#topics.all.flatMap(({ deadLetters }) => deadLetters.source()),
      rowsDropped: () => this.#topics.all.map((writes) => ({ labels: writes.labels, value: writes.rowsDropped })),
      processing: histogram(({ processing }) => processing),
      endToEnd: histogram(({ endToEnd }) => endToEnd),
      batchRecords: histogram(({ batchRecords }) => batchRecords),
    };
  }
}

/** Observes how old each record of a part is that has a timestamp. Nearly always all are as old as one bucket holds. */
function observeAges(ages: BucketCounts, part: BatchPart, committedMs: number): void {
  const { batch, from, to } = part;
  const { leastTime, mostTime, timeSum } = batch.sums;
  const [oldest, newest] = [batch.milliseconds + leastTime, batch.milliseconds + mostTime];
  // Also where a time is NaN, each record is looked at.
  const isKnown = to - from === batch.length && oldest >= 0 && newest <= committedMs;
  const sum = (batch.length * (committedMs - batch.milliseconds) - timeSum) / 1_000;
  const all = { count: batch.length, least: seconds(committedMs - newest), most: seconds(committedMs - oldest), sum };
  if (isKnown && ages.observeAlike(all)) {
    return;
  }
  new Records([part]).forEach((record) => {
    const { milliseconds } = record;
    const time = Number.isNaN(milliseconds) ? Number(record.timestamp) : milliseconds;
    if (time >= 0) {
      ages.observe(seconds(committedMs - time));
    }
  });
}

/** A producer's clock may be ahead, but a sum of durations never falls. */
const seconds = (milliseconds: number): number => Math.max(0, milliseconds) / 1_000;

/** A write that takes longer waits: for a lock, a connection, or a PostgreSQL that does not answer. */
const SLOW_WRITE_MS = 1_000;

/**
 * Adds up the time in which nothing was written: an outage, and each write from its second second on. What overlaps
 * counts once, and what goes on counts until now.
 */
export class PausedTime {
  readonly #now: () => number;
  /** Writes under way, by their begin: the first of them is the oldest. */
  readonly #writes = new Set<{ readonly since: number }>();
  #outageSince = Number.POSITIVE_INFINITY;
  #countedUntil = 0;
  #elapsedMs = 0;

  /** @param now Milliseconds of a clock that never goes back. @default performance.now() */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** From now on there is an outage, or none any more. */
  outage(isThere: boolean): void {
    const now = this.#count();
    this.#outageSince = isThere ? Math.min(this.#outageSince, now) : Number.POSITIVE_INFINITY;
  }

  /** Measures a write. */
  async during<T>(writing: Promise<T>): Promise<T> {
    const write = { since: this.#now() };
    this.#writes.add(write);
    try {
      return await writing;
    } finally {
      this.#count();
      this.#writes.delete(write);
    }
  }

  get seconds(): number {
    this.#count();
    return this.#elapsedMs / 1_000;
  }

  #count(): number {
    const now = this.#now();
    const [oldest] = this.#writes;
    const waitsSince = oldest === undefined ? Number.POSITIVE_INFINITY : oldest.since + SLOW_WRITE_MS;
    const since = Math.max(Math.min(this.#outageSince, waitsSince), this.#countedUntil);
    this.#elapsedMs += Math.max(0, now - since);
    this.#countedUntil = now;
    return now;
  }
}
