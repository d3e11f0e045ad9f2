import type { PoolClient } from 'pg';
import { OutageError } from '../stream/stream-errors.ts';

/**
 * Begins a transaction at the level that every statement here is made for, whatever the server's or the role's default
 * is. At a stricter one a session that waited for another session's commit fails instead of seeing its changes.
 */
export const BEGIN = 'BEGIN ISOLATION LEVEL READ COMMITTED';

/**
 * The same, and deferred constraints are checked at once: at COMMIT they would refuse the whole transaction and name no
 * row.
 */
export const BEGIN_ROWS = `${BEGIN}; SET CONSTRAINTS ALL IMMEDIATE`;

/**
 * Commits, and makes sure that PostgreSQL did: a transaction that failed before answers COMMIT with ROLLBACK and no
 * error.
 *
 * @throws OutageError when it did not
 */
export async function commit(client: PoolClient): Promise<void> {
  const { command } = await client.query('COMMIT');
  requireCommitted(command);
}

/**
 * Makes sure of a command tag that it is of a transaction that was committed.
 *
 * @throws OutageError when it is not
 */
export function requireCommitted(tag: string | undefined): void {
  if (tag !== 'COMMIT') {
    throw new OutageError(`the transaction ended with ${tag} instead of COMMIT`, { reason: 'database_busy' });
  }
}
