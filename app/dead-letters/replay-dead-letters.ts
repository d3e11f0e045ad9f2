import type { DatabasePool } from '../store/database-pool.ts';
import { type ReplayOutcome, type ReplayTarget, replayNext } from './dead-letters-replay.ts';
import type { ReplayRequest } from './dead-letters-request.ts';
import type { DeadLetterPlace } from './dead-letters-table.ts';

/**
 * Replays the letters that a request names, one transaction after the other, in the order of group, topic, partition and
 * offset, and gives the outcome of each once its transaction is over.
 *
 * @param signal when it is aborted, the letter in hand is finished and no other begun
 * @throws OutageError, FatalError when PostgreSQL is away or refuses; what was moved before stays moved
 */
export async function* replayDeadLetters(
  pool: Pick<DatabasePool, 'withClient'>,
  target: ReplayTarget,
  { filter, limit = Number.POSITIVE_INFINITY }: Pick<ReplayRequest, 'filter' | 'limit'>,
  signal: AbortSignal,
): AsyncGenerator<ReplayOutcome> {
  let after: DeadLetterPlace | null = null;
  for (let seen = 0; seen < limit && !signal.aborted; seen += 1) {
    const place: DeadLetterPlace | null = after;
    const outcome: ReplayOutcome | null = await pool.withClient((client) => replayNext(client, target, filter, place));
    if (outcome === null) {
      return;
    }
    after = outcome.letter;
    yield outcome;
  }
}
