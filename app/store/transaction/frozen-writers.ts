import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import pg, { escapeIdentifier, type PoolClient } from 'pg';
import { PRODUCT_NAME } from '../../../contract/identity.ts';
import type { Settings } from '../../../settings/settings.ts';
import { partitionKey, type TopicPartition } from '../../records/record.ts';
import { OutageError } from '../../stream/ports/stream-errors.ts';
import type { DatabasePool } from '../connection/database-pool.ts';
import { destroySocket } from '../connection/pg-internals.ts';
import { describeDatabaseError } from '../connection/sqlstate.ts';
import { BEGIN } from '../connection/transaction.ts';

/** PostgreSQL cuts longer names, and two groups that begin alike would have the same one. */
const LONGEST_IDENTIFIER = 63;

/** What PostgreSQL keeps of a name as it is. */
const KEPT_NAME = /^[ -~]*$/;

/**
 * A row of `offsets` is refused for so long before the holders of its lock are searched for, and a transaction of less
 * is left alone.
 */
const FROZEN_AFTER_MS = 10_000;

/** The search waits for the row like a write, so that `pg_blocking_pids` has a session to list the blockers of. */
const WAIT_FOR_ROW_MS = 1_000;
const ASK_AGAIN_MS = 50;

/** The name of the sessions that write for a group: its id, or a digest of one that PostgreSQL would change. */
export function sessionName(groupId: string): string {
  const name = `${PRODUCT_NAME} ${groupId}`;
  return KEPT_NAME.test(groupId) && name.length <= LONGEST_IDENTIFIER
    ? name
    : `${PRODUCT_NAME} sha256:${createHash('sha256').update(groupId).digest('hex').slice(0, 32)}`;
}

/**
 * A session that is ours to end: the same role, the same group, and for {@link FROZEN_AFTER_MS} in a transaction that
 * waits for its client. `$1` is the name of the group's sessions.
 */
const IS_FROZEN_WRITER = `usename = session_user AND datname = current_database() AND application_name = $1
  AND wait_event_type = 'Client' AND xact_start < clock_timestamp() - interval '${FROZEN_AFTER_MS} ms'`;

/**
 * The sessions that keep the session `$2` waiting, directly or by keeping one waiting that is before it in the queue.
 */
const BLOCKING = `WITH RECURSIVE blocking (pid) AS (
    SELECT unnest(pg_blocking_pids($2))
     UNION SELECT next.pid FROM blocking, unnest(pg_blocking_pids(blocking.pid)) AS next (pid))
  SELECT pid, usename AS role, application_name AS name, coalesce(${IS_FROZEN_WRITER}, false) AS "isFrozenWriter"
    FROM blocking JOIN pg_stat_activity USING (pid) ORDER BY pid`;

/** One session that holds up an offset. */
interface BlockingSession {
  readonly pid: number;
  readonly role: string | null;
  readonly name: string | null;
  readonly isFrozenWriter: boolean;
}

/** A session that was ended, for the log. */
export type EndedSession = Pick<BlockingSession, 'pid' | 'role' | 'name'>;

/** What the search for the holders of a row came to. */
interface HolderSearch {
  readonly ended: readonly EndedSession[];
  /** What holds the row, in words, or why that is not known; `null` when nothing holds it any more. */
  readonly held: string | null;
}

/** The place of the offsets, and the way to them. */
interface FrozenWriterOptions {
  readonly database: Settings['database'];
  readonly groupId: string;
  /** Called with each session that was ended. */
  readonly onEnded: (session: EndedSession) => void;
}

/**
 * Ends the sessions of writers that froze in the middle of a `COPY`: PostgreSQL waits for the rest of their rows, with
 * the offsets locked, and has no time-out for that wait.
 *
 * A transaction that is ended so is rolled back as a whole: its records stay ahead of the stored offset, and the next
 * owner writes them. One that was about to commit has committed or has not, as after a lost connection.
 */
export class FrozenWriters {
  readonly #pool: DatabasePool;
  readonly #options: FrozenWriterOptions;
  /** Since when the offset of a partition is refused, by a clock that is never set. */
  readonly #refusedSince = new Map<string, number>();
  /** One search at a time: each takes a connection more, and what it ends may hold many offsets. */
  #search: Promise<HolderSearch> | null = null;

  constructor(pool: DatabasePool, options: FrozenWriterOptions) {
    this.#pool = pool;
    this.#options = options;
  }

  /**
   * Moves an offset by `move`. When the row has been refused for 10 s, the frozen writers that hold it are ended and
   * `move` is tried once more.
   *
   * @throws OutageError of the refusal, with the sessions that hold the row where they were searched for
   */
  async moving<T>(partition: TopicPartition, move: () => Promise<T>): Promise<T> {
    const key = partitionKey(partition);
    const refusal = await this.#unlessRefused(key, move);
    if (!(refusal instanceof OutageError)) {
      return refusal;
    }
    const since = this.#refusedSince.get(key) ?? performance.now();
    this.#refusedSince.set(key, since);
    if (performance.now() - since < FROZEN_AFTER_MS) {
      throw refusal;
    }
    const isOwnSearch = this.#search === null;
    const { ended, held } = await this.#searchOnce(partition);
    if (ended.length > 0) {
      return move();
    }
    if (!isOwnSearch) {
      throw refusal;
    }
    this.#refusedSince.delete(key);
    throw held === null ? refusal : asHeld(refusal, held);
  }

  async #unlessRefused<T>(key: string, move: () => Promise<T>): Promise<T | OutageError> {
    try {
      const moved = await move();
      this.#refusedSince.delete(key);
      return moved;
    } catch (error) {
      if (error instanceof OutageError && error.isLockWait && error.table === undefined) {
        return error;
      }
      throw error;
    }
  }

  #searchOnce(partition: TopicPartition): Promise<HolderSearch> {
    this.#search ??= this.#searchFor(partition)
      .catch((error: unknown) => ({
        ended: [],
        held: `what holds the offset is not known: ${describeDatabaseError(error)}`,
      }))
      .finally(() => {
        this.#search = null;
      });
    return this.#search;
  }

  /** Waits for the row on a connection beside the pool, and asks on another one what it waits for. */
  async #searchFor(partition: TopicPartition): Promise<HolderSearch> {
    const { database, groupId } = this.#options;
    const waiter = await this.#pool.openBeside();
    try {
      const pid = await beginWaiting(waiter);
      const waiting = lockOffset(waiter, database.schema, groupId, partition);
      const search = await this.#pool.withClient((asker) => this.#end(asker, pid, waiting));
      await (search.ended.length > 0 ? waiting : undefined);
      return search;
    } finally {
      destroySocket(waiter);
    }
  }

  /** Asks until a frozen writer is among the sessions that block, or the wait for the row is over. */
  async #end(asker: PoolClient, waiterPid: number, waiting: Promise<boolean>): Promise<HolderSearch> {
    const name = sessionName(this.#options.groupId);
    for (;;) {
      const { rows } = await asker.query<BlockingSession>(BLOCKING, [name, waiterPid]);
      const frozen = rows.filter(({ isFrozenWriter }) => isFrozenWriter);
      if (frozen.length > 0) {
        return this.#endEach(asker, frozen);
      }
      const isLocked = await Promise.race([waiting, delay(ASK_AGAIN_MS, 'unknown')]);
      if (isLocked !== 'unknown') {
        return { ended: [], held: isLocked || rows.length === 0 ? null : heldBy(rows.map(described)) };
      }
    }
  }

  async #endEach(asker: PoolClient, frozen: readonly BlockingSession[]): Promise<HolderSearch> {
    const ended: EndedSession[] = [];
    const held: string[] = [];
    for (const { pid, role, name } of frozen) {
      try {
        if (await endSession(asker, sessionName(this.#options.groupId), pid)) {
          ended.push({ pid, role, name });
          this.#options.onEnded({ pid, role, name });
        }
      } catch (error) {
        const why = describeDatabaseError(error);
        held.push(`${described({ pid, role, name })}, which is frozen and could not be ended (${why})`);
      }
    }
    return { ended, held: held.length === 0 ? null : heldBy(held) };
  }
}

const described = ({ pid, role, name }: EndedSession): string =>
  `the session with pid ${pid} (role ${role}, application_name "${name}")`;

const heldBy = (sessions: readonly string[]): string => `the offset is held by ${sessions.join(', ')}`;

/** The refusal, with what the holder of a greater right needs. */
const asHeld = (refusal: OutageError, held: string): OutageError =>
  new OutageError(`${refusal.message}; ${held}. docs/runbooks/ConsumerLagHigh.md has the query to find and end it`, {
    cause: refusal.cause,
    reason: refusal.reason,
    isLockWait: refusal.isLockWait,
  });

/** Begins the transaction that waits, and answers with the session's process as the server knows it. */
async function beginWaiting(waiter: pg.Client): Promise<number> {
  await waiter.query(BEGIN);
  await waiter.query(`SET LOCAL lock_timeout = ${WAIT_FOR_ROW_MS}`);
  const { rows } = await waiter.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  return rows[0]?.pid ?? 0;
}

/**
 * Waits for the lock that the update of an offset takes, and gives it back. Never rejects: `false` without the lock.
 */
async function lockOffset(
  client: pg.Client,
  schema: string,
  groupId: string,
  { topic, partition }: TopicPartition,
): Promise<boolean> {
  const lock = `SELECT FROM ${escapeIdentifier(schema)}.offsets
    WHERE group_id = $1 AND topic = $2 AND partition = $3 FOR NO KEY UPDATE`;
  try {
    await client.query(lock, [groupId, topic, partition]);
    await client.query('ROLLBACK');
    return true;
  } catch {
    return false;
  }
}

/**
 * Ends a session if it is a frozen writer still, and answers whether it was.
 *
 * @throws DatabaseError when the role has no right to
 */
async function endSession(asker: PoolClient, name: string, pid: number): Promise<boolean> {
  const end = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = $2 AND ${IS_FROZEN_WRITER}`;
  const { rows } = await asker.query(end, [name, pid]);
  return rows.length > 0;
}
