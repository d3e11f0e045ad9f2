import type { DeadLetterReason } from '../../contract/dead-letter-reasons.ts';
import type { TopicPartition } from './record.ts';
import type { Gap } from './record-sink.ts';

/** One transaction that is in PostgreSQL for good. */
export interface CommittedBatch extends TopicPartition {
  /** Records the transaction accounts for: rows and dead letters together. */
  readonly records: number;
  readonly deadLetters: ReadonlyMap<DeadLetterReason, number>;
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
}
