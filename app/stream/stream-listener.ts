import type { DeadLetterReason } from '../../contract/dead-letter-reasons.ts';
import type { WriteMethod } from '../../contract/metrics/definition.ts';
import type { StreamRecord, TopicPartition } from './record.ts';
import type { Gap } from './record-sink.ts';

/** One transaction that is in PostgreSQL for good. */
export interface CommittedBatch extends TopicPartition {
  /** Records the transaction accounts for: rows and dead letters together. */
  readonly records: number;
  readonly deadLetters: ReadonlyMap<DeadLetterReason, number>;
  /** Rows by the way they were written. */
  readonly rows: ReadonlyMap<WriteMethod, number>;
  /** The records, whose contents are of no interest here. */
  readonly written: readonly Pick<StreamRecord, 'timestamp'>[];
  /** When the oldest of the records was fetched. */
  readonly fetchedAt: Date;
  readonly committedAt: Date;
  readonly nextOffset: bigint;
}

/**
 * What the pipeline tells those who watch it: metrics and logs subscribe, the pipeline knows neither. A listener must
 * not throw.
 */
export interface StreamListener {
  /** Rows, dead letters and the offset are committed. */
  onCommitted(batch: CommittedBatch): void;
  /** Another writer had moved the offset: nothing was written, the position is read again. */
  onFenced(partition: TopicPartition): void;
  /** Offsets that were deleted before they were read are recorded as a gap and skipped for good. */
  onSkipped(gap: Gap): void;
  /** A transaction, or the reading of the first positions, failed for a reason that passes; it will be tried again. */
  onFailed(partition: TopicPartition, error: Error): void;
  /** The stored position is read again, after a failure or because another writer had moved it. */
  onRetry(): void;
  /** PostgreSQL cannot be written to from now on, or can be again. */
  onPaused(isPaused: boolean): void;
}
