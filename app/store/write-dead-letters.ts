import type { PoolClient } from 'pg';
import type { DeadLetter, DeadLetterTopic } from '../stream/dead-letter.ts';
import type { DeadLetterLimit } from '../stream/dead-letter-limit.ts';
import { alreadyWritten } from './already-written.ts';
import { copyInto } from './binary-copy.ts';
import { DEAD_LETTERS, deadLetterRows } from './dead-letter-rows.ts';

/** Where dead letters go, and how many there may be. */
export interface DeadLetterHandling {
  /** Whether they are rows of `dead_letters`. */
  readonly toTable: boolean;
  /** The topic that takes them; `null` for none. */
  readonly topic: DeadLetterTopic | null;
  readonly limit: DeadLetterLimit;
}

/**
 * Writes dead letters within the transaction under way: the rows first, since they may be refused and a topic takes
 * nothing back; the topic before COMMIT, since after it nobody would know that they are still to be sent.
 */
export async function writeDeadLetters(
  client: PoolClient,
  target: { readonly schema: string; readonly groupId: string; readonly deadLetters: DeadLetterHandling },
  letters: readonly DeadLetter[],
): Promise<void> {
  if (letters.length === 0) {
    return;
  }
  const { schema, groupId, deadLetters } = target;
  if (deadLetters.toTable) {
    await copyInto(client, schema, DEAD_LETTERS, deadLetterRows(letters)).catch((error: unknown) => {
      throw alreadyWritten(error, groupId) ?? error;
    });
  }
  await deadLetters.topic?.send(letters);
}
