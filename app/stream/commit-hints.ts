import type { Clock } from './clock.ts';
import { partitionKey } from './record.ts';
import type { Position, RecordSource } from './record-source.ts';

const HINT_MS = 5_000;

/**
 * Tells Kafka every few seconds where PostgreSQL stands, as far as it moved since it was told, until the signal is
 * aborted. Only tools that watch the group read it; a hint that fails is no failure, and is given again with the next
 * ones.
 */
export async function sendCommitHints(
  source: Pick<RecordSource, 'commitHint'>,
  pipeline: { positions(): Position[] },
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  let told: ReadonlyMap<string, bigint> = new Map();
  while (!signal.aborted) {
    await clock.wait(HINT_MS, signal);
    const positions = pipeline.positions();
    const moved = positions.filter((position) => told.get(partitionKey(position)) !== position.offset);
    const isTold = moved.length === 0 || (await hint(source, moved));
    if (isTold) {
      told = new Map(positions.map((position) => [partitionKey(position), position.offset]));
    }
  }
}

const hint = (source: Pick<RecordSource, 'commitHint'>, positions: readonly Position[]): Promise<boolean> =>
  source.commitHint(positions).then(
    () => true,
    () => false,
  );
