import { partitionKey } from '../../records/record.ts';
import type { Clock } from '../ports/clock.ts';
import type { RecordSink } from '../ports/record-sink.ts';
import type { Position } from '../ports/record-source.ts';
import { FatalError, OutageError } from '../ports/stream-errors.ts';
import { storedPosition } from './positions.ts';

const LOOK_MS = 30_000;

/** What looks at the positions needs of the pipeline. */
interface WatchedPipeline {
  /** Positions as they are known. */
  positions(): readonly Position[];
  /** Reads all positions again, and goes on from there. */
  reopen(): void;
  onFatal(error: Error): void;
}

/**
 * Finds stored offsets that went back, until the signal is aborted: a standby that was promoted may lack the last
 * commits, and so may a database that was restored. It lacks their rows and their offsets together. A partition with
 * records to write meets that with its next compare-and-set. One without would leave those records ahead of the stored
 * offset for as long as no other comes.
 *
 * A row that is gone as a whole ends the consumer: what was written of the partition is unknown.
 *
 * The known positions are taken before PostgreSQL is asked: each of them was committed by then, so an answer that is
 * lower comes from a server that does not know of it.
 *
 * @param onBehind told of each partition whose stored offset went back
 */
export async function watchStoredPositions(
  pipeline: WatchedPipeline,
  sink: Pick<RecordSink, 'positions'>,
  { clock, signal, onBehind }: WatchOptions,
): Promise<void> {
  while (!signal.aborted) {
    await clock.wait(LOOK_MS, signal);
    const known = new Map(pipeline.positions().map((position) => [partitionKey(position), position]));
    const topics = [...new Set([...known.values()].map(({ topic }) => topic))];
    if (signal.aborted || topics.length === 0) {
      continue;
    }
    const stored = await positionsOf(sink, topics, known).catch((error: unknown): Position[] => {
      if (!(error instanceof OutageError)) {
        pipeline.onFatal(FatalError.from(error));
      }
      return [];
    });
    const behind = stored.filter((position) => position.offset < (known.get(partitionKey(position))?.offset ?? 0n));
    if (behind.length > 0 && !signal.aborted) {
      behind.forEach((position) => {
        onBehind(position, known.get(partitionKey(position))?.offset ?? 0n);
      });
      pipeline.reopen();
    }
  }
}

/** @throws FatalError `STORED_OFFSET_MISSING` when the row of a known position is not there */
async function positionsOf(
  sink: Pick<RecordSink, 'positions'>,
  topics: readonly string[],
  known: ReadonlyMap<string, Position>,
): Promise<Position[]> {
  const stored = await sink.positions(topics);
  for (const position of known.values()) {
    storedPosition(position, stored, position.offset);
  }
  return stored;
}

interface WatchOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly onBehind: (stored: Position, known: bigint) => void;
}
