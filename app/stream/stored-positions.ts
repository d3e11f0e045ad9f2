import { partitionKey } from '../records/record.ts';
import { requirePosition } from './partition/positions.ts';
import { backoffMs } from './partition/retries.ts';
import type { Clock } from './ports/clock.ts';
import type { RecordSink } from './ports/record-sink.ts';
import type { Position, RecordSource } from './ports/record-source.ts';
import { FatalError, OutageError } from './ports/stream-errors.ts';

const POSITIONS_CHECK_MS = 30_000;

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
 * The known positions are taken before PostgreSQL is asked, when each of them is committed already. So a lower answer
 * comes from a server that does not know of that commit.
 *
 * @param onBehind receives each partition whose stored offset went back
 */
export async function watchStoredPositions(
  pipeline: WatchedPipeline,
  sink: Pick<RecordSink, 'positions'>,
  { clock, signal, onBehind }: WatchOptions,
): Promise<void> {
  while (!signal.aborted) {
    await clock.wait(POSITIONS_CHECK_MS, signal);
    const known = new Map(pipeline.positions().map((position) => [partitionKey(position), position]));
    const topics = [...new Set([...known.values()].map(({ topic }) => topic))];
    if (signal.aborted || topics.length === 0) {
      continue;
    }
    const stored = await completePositions(sink, topics, known).catch((error: unknown): Position[] => {
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
async function completePositions(
  sink: Pick<RecordSink, 'positions'>,
  topics: readonly string[],
  known: ReadonlyMap<string, Position>,
): Promise<Position[]> {
  const stored = await sink.positions(topics);
  const byPartition = new Map(stored.map((position) => [partitionKey(position), position]));
  for (const [key, position] of known) {
    requirePosition(position, byPartition.get(key), position.offset);
  }
  return stored;
}

interface WatchOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly onBehind: (stored: Position, known: bigint) => void;
}

/**
 * What autoscalers take for lag, though it is written, is what was written since the last hint: the rate times this.
 * Beside hints every 5 s they cost a hundredth of a core more at most, measured with 6 and with 48 moving partitions.
 */
const HINT_MS = 250;
/** Between two looks at rest: each look is a wake-up. */
const LOOK_AT_REST_MS = 1_000;
/** So many looks without a move are rest. A steady load moves once in a linger, which is a second at most. */
const LOOKS_OF_REST = 6;

/**
 * Commits the positions stored in PostgreSQL to Kafka four times a second, as far as they moved since the last commit,
 * until the signal is aborted. While nothing moves, nothing is sent, and after a while it looks once a second. Only
 * tools that watch the group read the hints. A hint that fails is no failure: it is sent again with the next ones. The
 * more hints have failed in a row, the longer is the wait, since brokers that cannot store offsets need none.
 *
 * After each generation all are committed once, moved or not. A member that leaves the group commits its last positions
 * of partitions that others own already, and may move them behind, or before, what the others committed. The generation
 * that begins when it has left corrects them.
 */
export async function sendCommitHints(
  source: Pick<RecordSource, 'commitHint'>,
  pipeline: { readonly generation: number; positions(): Position[] },
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  let hinted: ReadonlyMap<string, bigint> = new Map();
  let hintedIn = 0;
  let [failures, still] = [0, 0];
  while (!signal.aborted) {
    await clock.wait(pauseBefore(failures, still), signal);
    const { generation } = pipeline;
    if (generation !== hintedIn) {
      hinted = new Map();
      hintedIn = generation;
    }
    const positions = pipeline.positions();
    const moved = positions.filter((position) => hinted.get(partitionKey(position)) !== position.offset);
    const isGiven = moved.length > 0 ? await hint(source, moved) : null;
    failures = isGiven === false ? failures + 1 : 0;
    still = isGiven === null ? still + 1 : 0;
    if (isGiven ?? positions.length < hinted.size) {
      hinted = new Map(positions.map((position) => [partitionKey(position), position.offset]));
    }
  }
}

/** @param still how many looks in a row nothing had moved */
const pauseBefore = (failures: number, still: number): number =>
  still >= LOOKS_OF_REST ? LOOK_AT_REST_MS : HINT_MS + (failures === 0 ? 0 : backoffMs(failures));

const hint = (source: Pick<RecordSource, 'commitHint'>, positions: readonly Position[]): Promise<boolean> =>
  source.commitHint(positions).then(
    () => true,
    () => false,
  );
