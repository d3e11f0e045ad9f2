import type pg from 'pg';
import { tablesOf } from '../../../settings/sections/tables.ts';
import type { Settings } from '../../../settings/settings.ts';
import type { Logger } from '../../logging/logger.ts';
import { RepeatedFailures } from '../../logging/outage-log.ts';
import { systemClock } from '../../stream/ports/clock.ts';
import { OutageError } from '../../stream/ports/stream-errors.ts';
import { openConnection } from '../connection/database-connection.ts';
import { destroySocket } from '../connection/pg-internals.ts';
import { TABLE_NAMES } from './own-tables.ts';

/** Searches are so far apart at least: where writes are slow for another reason, each search opens a connection. */
const PAUSE_MS = 2_000;

/** While there is a lock, it is searched for so often. */
const AGAIN_MS = 1_000;

/** While it is there and PostgreSQL does not answer: a refused login is not tried more often. */
const UNANSWERED_MS = 10_000;

/** The catalog answers at once, or the search has failed. */
const CATALOG_ANSWER_MS = 3_000;

/**
 * Sessions that hold a lock on a table or one of its partitions that lets no row in, or wait for it and let none pass,
 * and those that they wait for. What the role may not see of another role's session is NULL.
 */
const LOCKS = `WITH RECURSIVE written (oid, name) AS (
    SELECT class.oid, nspname || '.' || relname FROM pg_class AS class JOIN pg_namespace AS space ON space.oid = relnamespace
      JOIN unnest($1::text[], $2::text[]) AS wanted (schema, name) ON nspname = wanted.schema AND relname = wanted.name
     UNION SELECT inhrelid, written.name FROM written JOIN pg_inherits ON inhparent = written.oid),
  blocking (pid, name) AS (
    SELECT pid, name FROM pg_locks JOIN written ON relation = written.oid
     WHERE locktype = 'relation' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
       AND mode IN ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
     UNION SELECT nullif(next.pid, 0), name FROM blocking, unnest(pg_blocking_pids(blocking.pid)) AS next (pid))
  SELECT name AS table, pid, usename AS user, nullif(application_name, '') AS "applicationName", state,
         to_char(xact_start AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS since
    FROM blocking LEFT JOIN pg_stat_activity USING (pid) ORDER BY pid, name`;

/** What keeps rows out of a table. */
interface Lock {
  readonly table: string;
  /** `null`: a prepared transaction has no session. */
  readonly pid: number | null;
  readonly user: string | null;
  readonly applicationName: string | null;
  readonly state: string | null;
  readonly since: string | null;
}

/** The place of a row in its table, in each language: `while updating tuple (0,1) in relation "offsets"`. */
const PLACE_OF_ROW = /^(?!COPY )[^\n]*\(\d+,\d+\)/;

/** Whether another session's row was waited for. The innermost context comes first; that of COPY may quote a record. */
const waitedForRow = ({ cause }: OutageError): boolean => PLACE_OF_ROW.test((cause as pg.DatabaseError).where ?? '');

interface TableLocksOptions {
  readonly settings: Pick<Settings, 'database' | 'kafka'>;
  /** The topics that are read now, by their names alone. */
  readonly topics: { readonly settings: Pick<Settings, 'tables'> };
  /** The settings of the moment, for each new connection. */
  readonly current: () => Settings['database'];
  readonly logger: Logger;
  /** Ends the searches. */
  readonly signal: AbortSignal;
}

/**
 * Logs which sessions keep rows out of the tables by a lock (`LOCK TABLE`, `ALTER TABLE`): once when writes are slow or
 * fail and such a lock is found, every five minutes, and when it is gone.
 *
 * It asks on a connection beside those of the pool, which is closed when no lock is found. No write waits for it.
 */
export class TableLocks {
  readonly #options: TableLocksOptions;
  #client: pg.Client | null = null;
  /** One search at a time, for all partitions. */
  #search: Promise<boolean> | null = null;
  #searchedAt = Number.NEGATIVE_INFINITY;
  #isFound = false;

  constructor(options: TableLocksOptions) {
    this.#options = options;
    options.signal.addEventListener('abort', () => this.#disconnect(), { once: true });
  }

  /**
   * Whether the log names the lock that ended a write with this error. PostgreSQL does not name the table that was
   * waited for, and a group of writes waits for the tables of several topics: any lock on a table may be the one, but
   * for a write that waited for a row. Never rejects.
   */
  async hasLogged(error: Error): Promise<boolean> {
    return error instanceof OutageError && error.isLockWait && !waitedForRow(error) && this.search();
  }

  /** Searches for a lock, and returns whether there is one once the log names it. Never rejects. */
  search(): Promise<boolean> {
    if (this.#isFound) {
      return Promise.resolve(true);
    }
    this.#search ??= this.#searchOnce().finally(() => {
      this.#search = null;
    });
    return this.#search;
  }

  /** Schemas and names of all tables that are written now. */
  #names(): readonly (readonly string[])[] {
    const { settings, topics } = this.#options;
    const { schema } = settings.database;
    const tables = [...TABLE_NAMES.map((table) => ({ schema, table })), ...tablesOf(topics.settings)];
    return [tables.map((each) => each.schema), tables.map(({ table }) => table)];
  }

  async #searchOnce(): Promise<boolean> {
    const { signal } = this.#options;
    await systemClock.wait(Math.max(0, this.#searchedAt + PAUSE_MS - performance.now()), signal);
    const locks = signal.aborted ? [] : await this.#ask().catch(() => []);
    this.#searchedAt = performance.now();
    this.#isFound = locks.length > 0;
    if (this.#isFound) {
      void this.#follow(locks);
    } else {
      this.#disconnect();
    }
    return this.#isFound;
  }

  async #follow(found: readonly Lock[]): Promise<void> {
    const { signal, logger } = this.#options;
    const reasons = new RepeatedFailures();
    const beganAt = performance.now();
    let [locks, isAnswered] = [found, true];
    while (locks.length > 0 && !signal.aborted) {
      const [tables, holders] = [tablesIn(locks), holdersIn(locks)];
      if (isAnswered && reasons.failed(JSON.stringify([tables, holders.map(({ pid }) => pid)])) !== undefined) {
        logger.warn(
          { tables, holders },
          'a lock keeps rows out of these tables: they wait until its holder ends its transaction',
        );
      }
      await systemClock.wait(isAnswered ? AGAIN_MS : UNANSWERED_MS, signal);
      const answer = await this.#ask().catch(() => null);
      isAnswered = answer !== null;
      locks = answer ?? locks;
    }
    this.#disconnect();
    this.#isFound = false;
    if (locks.length === 0) {
      const seconds = Math.round((performance.now() - beganAt) / 1_000);
      logger.info(
        { tables: tablesIn(found), seconds },
        `the lock is gone after ${seconds} s: rows can be written again`,
      );
    }
  }

  async #ask(): Promise<readonly Lock[]> {
    const { current, signal } = this.#options;
    try {
      this.#client ??= (await openConnection(current(), { query_timeout: CATALOG_ANSWER_MS }, signal)).client;
      return (await this.#client.query<Lock>(LOCKS, [...this.#names()])).rows;
    } catch (error) {
      this.#disconnect();
      throw error;
    }
  }

  #disconnect(): void {
    if (this.#client !== null) {
      destroySocket(this.#client);
      this.#client = null;
    }
  }
}

const tablesIn = (locks: readonly Lock[]): readonly string[] => [...new Set(locks.map(({ table }) => table))];

/** Each session once, without what is not known of it; a prepared transaction has none. */
function holdersIn(locks: readonly Lock[]): readonly Partial<Lock>[] {
  const ofSessions = locks.filter(({ pid }) => pid !== null);
  const byPid = new Map(ofSessions.map(({ table: _table, ...holder }) => [holder.pid, holder]));
  return [...byPid.values()].map((holder) =>
    Object.fromEntries(Object.entries(holder).filter(([, known]) => known !== null)),
  );
}
