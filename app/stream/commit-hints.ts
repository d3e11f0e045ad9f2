import type { Clock } from './clock.ts';
import type { Position, RecordSource } from './record-source.ts';

const HINT_MS = 5_000;

/**
 * Tells Kafka every few seconds where PostgreSQL stands, until the signal is aborted. Only tools that watch the group
 * read it; a hint that fails is no failure.
 */
export async function sendCommitHints(
  source: Pick<RecordSource, 'commitHint'>,
  pipeline: { positions(): Position[] },
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await clock.wait(HINT_MS, signal);
    await source.commitHint(pipeline.positions()).catch(() => undefined);
  }
}
