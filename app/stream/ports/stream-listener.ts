import type { DeadLetterReason } from '../../../contract/dead-letter-reasons.ts';
import type { WriteMethod } from '../../../contract/metrics/definition.ts';
import type { Logger } from '../../logging/logger.ts';
import type { TopicPartition } from '../../records/record.ts';
import type { Records } from '../../records/records.ts';
import type { CommittedWrite, Gap, TableCounts, WriteRequest } from './record-sink.ts';
import { OutageError } from './stream-errors.ts';

/** One transaction that is in PostgreSQL for good. */
export interface CommittedBatch extends TopicPartition {
  /** Records the transaction accounts for: rows, dead letters, and what a trigger dropped, together. */
  readonly records: number;
  readonly deadLetters: ReadonlyMap<DeadLetterReason, number>;
  /** Rows by the way they were written. */
  readonly rows: ReadonlyMap<WriteMethod, number>;
  /** `undefined` or left out: the topic has no table of the user's own. */
  readonly tables?: TableCounts | undefined;
  /** The records. */
  readonly written: Records;
  /** When the oldest of the records was fetched. */
  readonly fetchedAt: Date;
  readonly committedAt: Date;
  readonly nextOffset: bigint;
}

/** What the transaction of a request did; written out, since an object by spreads costs several times as much. */
export const committedBatch = (
  { topic, partition, records, nextOffset }: WriteRequest,
  { deadLetters, rows, tables }: CommittedWrite,
  { fetchedAt, committedAt }: Pick<CommittedBatch, 'fetchedAt' | 'committedAt'>,
): CommittedBatch => ({
  topic,
  partition,
  records: records.length,
  deadLetters,
  rows,
  tables,
  written: records,
  fetchedAt,
  committedAt,
  nextOffset,
});

function recordsIn(counts: ReadonlyMap<string, number>): number {
  let total = 0;
  for (const count of counts.values()) {
    total += count;
  }
  return total;
}

/** Records of a batch that are in no table, since a trigger dropped their rows and the configuration allows it. */
export const rowsDropped = ({ records, deadLetters, rows }: CommittedBatch): number =>
  records - recordsIn(deadLetters) - recordsIn(rows);

/**
 * Events of the pipeline: metrics and the log subscribe, and the pipeline knows neither. A listener must not throw.
 */
export interface StreamListener {
  /** Rows, dead letters and the offset are committed. */
  onCommitted(batch: CommittedBatch): void;
  /** Another writer had moved the offset: nothing was written, the position is read again. */
  onFenced(partition: TopicPartition): void;
  /** A write was refused because the partition was changing owners: the other one was first, or held the offset. */
  onHandover(partition: TopicPartition): void;
  /** Offsets that were deleted before they were read, or cannot be, are recorded as a gap and skipped for good. */
  onSkipped(gap: Gap): void;
  /** A transaction, or the reading of the first positions, failed for a reason that passes; it will be tried again. */
  onFailed(partition: TopicPartition, error: Error): void;
  /** The stored position is read again, after a failure or because another writer had moved it. */
  onRetry(): void;
  /** PostgreSQL cannot be written to from now on, or can be again. */
  onPaused(isPaused: boolean): void;
}

/**
 * The outage is one line of the log already (outage-log.ts), whatever the number of partitions that wait for its end.
 */
const isLoggedAsOutage = (error: Error): boolean =>
  error instanceof OutageError && (error.reason === 'database_away' || error.reason === 'registry_away');

/**
 * Writes the pipeline's events to the log: fencing, and failures of a write beside an outage, as warnings;
 * transactions, and attempts in an outage, only at debug.
 *
 * @param isLoggedElsewhere whether the log has the cause of a failed write; the line of the write waits for the answer,
 * the write does not. @default no cause but an outage
 */
export function streamLog(
  logger: Logger,
  isLoggedElsewhere: (error: Error) => Promise<boolean> = async () => false,
): StreamListener {
  return {
    onCommitted: (batch) => {
      const { topic, partition, records, deadLetters } = batch;
      const nextOffset = batch.nextOffset.toString();
      logger.debug({ topic, partition, nextOffset, records }, 'committed');
      if (deadLetters.size > 0) {
        const reasons = Object.fromEntries(deadLetters);
        logger.warn({ topic, partition, nextOffset, reasons }, 'records became dead letters');
      }
      const rows = rowsDropped(batch);
      if (rows > 0) {
        const lost = { topic, partition, nextOffset, records, rows };
        logger.warn(lost, 'a trigger dropped rows: their records are in no table');
      }
    },
    onFenced: ({ topic, partition }) =>
      logger.warn(
        { topic, partition },
        'another writer moved the offset: nothing was written, reading the position again',
      ),
    onHandover: ({ topic, partition }) =>
      logger.debug(
        { topic, partition },
        'the partition is changing owners: nothing was written, reading the position again',
      ),
    onSkipped: ({ topic, partition, expectedOffset, nextOffset, broken }) => {
      const range = { topic, partition, from: expectedOffset.toString(), nextOffset: nextOffset.toString() };
      const fault = broken ? { code: broken.code, codec: broken.codec, reason: broken.reason } : {};
      const why = broken ? 'offsets are of a batch that cannot be read' : 'offsets were deleted before they were read';
      logger.error({ ...range, ...fault }, `${why}: skipped, and recorded in the table gaps`);
    },
    onFailed: ({ topic, partition }, error) => {
      const log = (isLogged: boolean): void =>
        logger[isLogged ? 'debug' : 'warn'](
          { topic, partition, reason: error.message },
          'the write failed and is tried again',
        );
      if (isLoggedAsOutage(error)) {
        log(true);
      } else {
        isLoggedElsewhere(error).then(log, () => log(false));
      }
    },
    onRetry: () => undefined,
    onPaused: () => undefined,
  };
}

/** One listener that calls all of them, in order. */
export function notifyAll(listeners: readonly StreamListener[]): StreamListener {
  return {
    onCommitted: (batch) => {
      for (const listener of listeners) listener.onCommitted(batch);
    },
    onFenced: (partition) => {
      for (const listener of listeners) listener.onFenced(partition);
    },
    onHandover: (partition) => {
      for (const listener of listeners) listener.onHandover(partition);
    },
    onSkipped: (gap) => {
      for (const listener of listeners) listener.onSkipped(gap);
    },
    onFailed: (partition, error) => {
      for (const listener of listeners) listener.onFailed(partition, error);
    },
    onRetry: () => {
      for (const listener of listeners) listener.onRetry();
    },
    onPaused: (isPaused) => {
      for (const listener of listeners) listener.onPaused(isPaused);
    },
  };
}
