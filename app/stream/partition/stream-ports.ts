import type { MemoryBudget } from '../../memory/memory-budget.ts';
import type { Clock } from '../ports/clock.ts';
import type { RecordSink, WriteRequest } from '../ports/record-sink.ts';
import type { RecordSource } from '../ports/record-source.ts';
import type { FatalError, OutageError } from '../ports/stream-errors.ts';
import type { StreamListener } from '../ports/stream-listener.ts';
import type { OnBrokenBatch, OnGap } from './positions.ts';

/**
 * Bounds of what one partition may hold in memory and put into one transaction, and what to do about a gap and a broken
 * batch.
 */
export interface StreamOptions {
  /** Bounds what a partition queues, and what a transaction takes of its queue. */
  readonly maxQueuedBytes: number;
  readonly maxBatchRecords: number;
  readonly onGap: OnGap;
  readonly onBrokenBatch: OnBrokenBatch;
  readonly stallTimeoutMs: number;
}

/** The same for one of many partitions. */
export interface PartitionOptions extends StreamOptions {
  /** Its share of the memory: bytes that it may queue before it is paused, `maxQueuedBytes` at most. */
  readonly queueShare: number;
}

/** The ports of a partition's stream. */
export interface StreamPorts {
  readonly source: RecordSource;
  readonly sink: RecordSink;
  /**
   * Called before a write with what has to be known before its records can be rows, such as their schemas; `undefined`
   * where nothing is missing. Rejects with `OutageError` while it cannot be had, and once the signal is aborted. Left
   * out: nothing is ever missing.
   */
  readonly prepare?: (
    request: Pick<WriteRequest, 'topic' | 'records'>,
    signal: AbortSignal,
  ) => Promise<void> | undefined;
  readonly listener: StreamListener;
  readonly clock: Clock;
  readonly memory: MemoryBudget;
  /** Called once only the end of the process is left, or that a topic waits: that of the error, or this one. */
  readonly onFatal: (error: FatalError, topic?: string) => void;
  /** Whether a topic waits alone where the process would end for any other one. Left out: none does. */
  readonly mayWait?: (topic: string) => boolean;
  /** Called when an outage of the sink begins (with its error) and ends (with `null`). */
  readonly onOutage: (error: OutageError | null) => void;
}
