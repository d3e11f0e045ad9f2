import type { PoolClient } from 'pg';
import { milliseconds } from '../../../settings/schema/duration.ts';
import type { Settings } from '../../../settings/settings.ts';
import { OutageError } from '../../stream/ports/stream-errors.ts';

/** While dead letters are sent to a topic, the transaction is idle: that may take longer than a statement may. */
const OUTSIDE_MS = 15_000;

/** A lock is given up a little before the statement, so that the error names the lock. */
const LOCK_SHARE = 0.9;

/** The server's own time-outs, by its names for them, in milliseconds: they hold when this process is gone. */
export interface Timeouts {
  readonly statement_timeout: number;
  readonly lock_timeout: number;
  readonly idle_in_transaction_session_timeout: number;
}

/**
 * A transaction of several tables waits for a lock for so long at most, so that what waits for one of them holds up the
 * others no longer. PostgreSQL looks for deadlocks after a second (`deadlock_timeout`), and finds them before.
 */
const IMPATIENT_LOCK_MS = 3_000;

/** The same without patience for locks. */
export const impatient = (timeouts: Timeouts): Timeouts => ({
  ...timeouts,
  lock_timeout: Math.min(timeouts.lock_timeout, IMPATIENT_LOCK_MS),
});

export function timeoutsOf({ statementTimeout }: Pick<Settings['database'], 'statementTimeout'>): Timeouts {
  const timeout = milliseconds(statementTimeout);
  return {
    statement_timeout: timeout,
    lock_timeout: Math.ceil(timeout * LOCK_SHARE),
    idle_in_transaction_session_timeout: timeout + OUTSIDE_MS,
  };
}

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
 * The same with the time-outs: the session may be one that a connection pooler lends for a transaction, without them.
 */
export const beginRows = (timeouts: Timeouts): string =>
  [BEGIN_ROWS, ...Object.entries(timeouts).map(([name, value]) => `SET LOCAL ${name} = ${value}`)].join('; ');

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
