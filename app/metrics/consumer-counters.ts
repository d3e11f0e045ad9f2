import { DEAD_LETTER_REASON, type DeadLetterReason } from '../../contract/dead-letter-reasons.ts';
import {
  ERROR_REASON,
  type ErrorReason,
  TRANSACTION_OUTCOMES,
  WRITE_METHODS,
} from '../../contract/metrics/definition.ts';
import { METRICS } from '../../contract/metrics.ts';
import type { ConsumerReport, PartitionReport } from '../stream/consumer-state.ts';
import type { TopicPartition } from '../stream/record.ts';
import type { Gap } from '../stream/record-sink.ts';
import { OutageError } from '../stream/stream-errors.ts';
import type { CommittedBatch, StreamListener } from '../stream/stream-listener.ts';
import {
  BucketCounts,
  LabelledCounts,
  type Labels,
  type MetricSource,
  type MetricSources,
  type Sample,
  single,
} from './metric-source.ts';
import { PerPartition } from './partition-lag.ts';

type StreamMetricKey =
  | 'recordsConsumed'
  | 'skippedOffsets'
  | 'recordsLag'
  | 'lagSeconds'
  | 'deadLetters'
  | 'transactions'
  | 'errors'
  | 'retries'
  | 'pausedSeconds'
  | keyof WriteFigures['sources'];

const DEAD_LETTER_REASONS = Object.keys(DEAD_LETTER_REASON) as DeadLetterReason[];
const ERROR_REASONS = Object.keys(ERROR_REASON) as ErrorReason[];

/** What is counted of one partition, whoever owns it. */
class PartitionCounts {
  readonly labels: Labels;
  consumed = 0;
  skipped = 0;

  constructor(topic: string, partition: number) {
    this.labels = { partition: String(partition), topic };
  }
}

/**
 * Counts what the pipeline tells. What has the label partition is exposed for the partitions that the process owns, from 0
 * on; the series goes when the partition is revoked, and a counter continues where it was when it comes back. What is
 * summed over partitions goes on in the counters by topic, which never fall.
 */
export class StreamCounters implements StreamListener {
  readonly #report: () => ConsumerReport;
  readonly #now: () => number;
  readonly #partitions = new PerPartition((topic, partition) => new PartitionCounts(topic, partition));
  readonly #deadLetters = new LabelledCounts('reason', DEAD_LETTER_REASONS);
  readonly #transactions = new LabelledCounts('outcome', TRANSACTION_OUTCOMES);
  readonly #errors = new LabelledCounts('reason', ERROR_REASONS);
  readonly #paused = new StopWatch();
  readonly #figures: WriteFigures;
  #retries = 0;

  /**
   * @param topics what the consumer reads: their series are there from the start
   * @param now milliseconds since the epoch
   * @default Date.now()
   */
  constructor(report: () => ConsumerReport, topics: readonly string[], now: () => number = () => Date.now()) {
    this.#report = report;
    this.#now = now;
    this.#figures = new WriteFigures(topics);
  }

  onCommitted(batch: CommittedBatch): void {
    this.#transactions.add('committed');
    this.#partitions.of(batch).consumed += batch.records;
    for (const [reason, records] of batch.deadLetters) {
      this.#deadLetters.add(reason, records);
    }
    this.#figures.observe(batch);
  }

  onFenced(): void {
    this.#transactions.add('fenced');
    this.#errors.add('fenced');
  }

  onSkipped(gap: Gap): void {
    this.#partitions.of(gap).skipped += Number(gap.nextOffset - gap.expectedOffset);
  }

  onFailed(_partition: TopicPartition, error: Error): void {
    this.#transactions.add('failed');
    this.#errors.add(error instanceof OutageError ? error.reason : 'database_unknown');
  }

  onRetry(): void {
    this.#retries += 1;
  }

  onPaused(isPaused: boolean): void {
    if (isPaused) {
      this.#paused.start();
    } else {
      this.#paused.stop();
    }
  }

  /** The Kafka client crashed and starts again. */
  clientCrashed(): void {
    this.#errors.add('kafka_client');
  }

  /** Sources of the families that this counts. */
  get sources(): Pick<MetricSources, StreamMetricKey> {
    return {
      ...this.#figures.sources,
      recordsConsumed: this.#perPartition((_, { consumed }) => consumed),
      skippedOffsets: this.#perPartition((_, { skipped }) => skipped),
      recordsLag: this.#perPartition(({ lag }) => (lag === null ? null : Number(lag))),
      lagSeconds: this.#perPartition((owned) => this.#secondsBehind(owned)),
      deadLetters: this.#deadLetters.source,
      transactions: this.#transactions.source,
      errors: this.#errors.source,
      retries: single(() => this.#retries),
      pausedSeconds: single(() => this.#paused.seconds),
    };
  }

  #perPartition(read: (owned: PartitionReport, counts: PartitionCounts) => number | null): MetricSource {
    return () => {
      const samples: Sample[] = [];
      for (const owned of this.#report().partitions) {
        const counts = this.#partitions.of(owned);
        const value = read(owned, counts);
        if (value !== null) {
          samples.push({ labels: counts.labels, value });
        }
      }
      return samples;
    };
  }

  #secondsBehind({ lag, behindSince }: PartitionReport): number | null {
    if (lag === null) {
      return null;
    }
    return behindSince ? Math.max(0, this.#now() - behindSince.getTime()) / 1_000 : 0;
  }
}

/** Rows, batch sizes and times of one topic's transactions. */
class TopicWrites {
  readonly labels: Labels;
  readonly rows: LabelledCounts<(typeof WRITE_METHODS)[number]>;
  readonly processing = new BucketCounts(METRICS.processing.buckets);
  readonly endToEnd = new BucketCounts(METRICS.endToEnd.buckets);
  readonly batchRecords = new BucketCounts(METRICS.batchRecords.buckets);

  constructor(topic: string) {
    this.labels = { topic };
    this.rows = new LabelledCounts('method', WRITE_METHODS, { topic });
  }
}

type WriteMetrics = Pick<MetricSources, 'rowsWritten' | 'processing' | 'endToEnd' | 'batchRecords'>;

/** Measures committed transactions by topic; every series is there from the start. */
class WriteFigures {
  readonly #topics: ReadonlyMap<string, TopicWrites>;

  constructor(topics: readonly string[]) {
    this.#topics = new Map(topics.map((topic) => [topic, new TopicWrites(topic)]));
  }

  observe({ topic, rows, records, written, fetchedAt, committedAt }: CommittedBatch): void {
    const writes = this.#topics.get(topic);
    if (writes === undefined || records === 0) {
      return;
    }
    const committedMs = committedAt.getTime();
    for (const [method, count] of rows) {
      writes.rows.add(method, count);
    }
    writes.batchRecords.observe(records);
    writes.processing.observe(seconds(committedMs - fetchedAt.getTime()));
    for (const { timestamp } of written) {
      if (timestamp >= 0n) {
        writes.endToEnd.observe(seconds(committedMs - Number(timestamp)));
      }
    }
  }

  get sources(): WriteMetrics {
    const histogram = (of: (writes: TopicWrites) => BucketCounts): MetricSource => {
      return () => [...this.#topics.values()].map((writes) => of(writes).sample(writes.labels));
    };
    return {
      rowsWritten: () => [...this.#topics.values()].flatMap(({ rows }) => rows.source()),
      processing: histogram(({ processing }) => processing),
      endToEnd: histogram(({ endToEnd }) => endToEnd),
      batchRecords: histogram(({ batchRecords }) => batchRecords),
    };
  }
}

/** A producer's clock may be ahead of ours; a sum of durations never falls all the same. */
const seconds = (milliseconds: number): number => Math.max(0, milliseconds) / 1_000;

/** Adds up the time for which something goes on. */
export class StopWatch {
  readonly #now: () => number;
  #elapsedMs = 0;
  #startedAt: number | null = null;

  /** @param now Milliseconds of a clock that never goes back. @default performance.now() */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Goes on from here; nothing changes while it is running. */
  start(): void {
    this.#startedAt ??= this.#now();
  }

  stop(): void {
    this.#elapsedMs += this.#startedAt === null ? 0 : this.#now() - this.#startedAt;
    this.#startedAt = null;
  }

  /** The whole time until now. */
  get seconds(): number {
    const running = this.#startedAt === null ? 0 : this.#now() - this.#startedAt;
    return (this.#elapsedMs + running) / 1_000;
  }
}
