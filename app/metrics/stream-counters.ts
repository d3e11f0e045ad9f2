import { DEAD_LETTER_REASON, type DeadLetterReason } from '../../contract/dead-letter-reasons.ts';
import { TRANSACTION_OUTCOMES } from '../../contract/metrics.ts';
import type { ConsumerReport } from '../stream/consumer-report.ts';
import { partitionKey } from '../stream/record.ts';
import type { Gap } from '../stream/record-sink.ts';
import type { CommittedBatch, StreamListener } from '../stream/stream-listener.ts';
import type { MetricSource, MetricSources } from './metric-source.ts';

type StreamMetrics = Pick<
  MetricSources,
  'recordsConsumed' | 'skippedOffsets' | 'recordsLag' | 'deadLetters' | 'transactions'
>;

const REASONS = Object.keys(DEAD_LETTER_REASON) as DeadLetterReason[];

/**
 * Counts what the pipeline tells. Consumed records are exposed for the partitions that the process owns, from 0 on; the
 * series goes when the partition is revoked, and continues where it was when it comes back.
 */
export class StreamCounters implements StreamListener {
  readonly #report: () => ConsumerReport;
  readonly #consumed = new Map<string, number>();
  readonly #skipped = new Map<string, number>();
  readonly #deadLetters = new Map<string, number>(REASONS.map((reason) => [reason, 0]));
  readonly #transactions = new Map<string, number>(TRANSACTION_OUTCOMES.map((outcome) => [outcome, 0]));

  constructor(report: () => ConsumerReport) {
    this.#report = report;
  }

  onCommitted(batch: CommittedBatch): void {
    add(this.#transactions, 'committed', 1);
    add(this.#consumed, partitionKey(batch), batch.records);
    for (const [reason, records] of batch.deadLetters) {
      add(this.#deadLetters, reason, records);
    }
  }

  onFenced(): void {
    add(this.#transactions, 'fenced', 1);
  }

  onSkipped({ topic, partition, expectedOffset, nextOffset }: Gap): void {
    add(this.#skipped, partitionKey({ topic, partition }), Number(nextOffset - expectedOffset));
  }

  onFailed(): void {
    add(this.#transactions, 'failed', 1);
  }

  /** Sources of the families that this counts. */
  get sources(): StreamMetrics {
    return {
      recordsConsumed: this.#perPartition(this.#consumed),
      skippedOffsets: this.#perPartition(this.#skipped),
      recordsLag: () =>
        this.#report().partitions.flatMap((owned) =>
          owned.lag === null ? [] : [{ labels: labelsOf(owned), value: Number(owned.lag) }],
        ),
      deadLetters: seriesOf(this.#deadLetters, 'reason'),
      transactions: seriesOf(this.#transactions, 'outcome'),
    };
  }

  #perPartition(counts: ReadonlyMap<string, number>): MetricSource {
    return () =>
      this.#report().partitions.map((owned) => ({
        labels: labelsOf(owned),
        value: counts.get(partitionKey(owned)) ?? 0,
      }));
  }
}

const labelsOf = (owned: { topic: string; partition: number }) => ({
  topic: owned.topic,
  partition: String(owned.partition),
});

function add(counts: Map<string, number>, key: string, by: number): void {
  counts.set(key, (counts.get(key) ?? 0) + by);
}

function seriesOf(counts: ReadonlyMap<string, number>, label: string): MetricSource {
  return () => [...counts].map(([key, value]) => ({ labels: { [label]: key }, value }));
}
