import { escapeIdentifier, type PoolClient } from 'pg';
import { milliseconds } from '../../../settings/schema/duration.ts';
import { topicsOf } from '../../../settings/sections/tables.ts';
import type { Settings } from '../../../settings/settings.ts';
import type { Clock } from '../../stream/ports/clock.ts';
import { OutageError } from '../../stream/ports/stream-errors.ts';
import type { DatabasePool } from '../connection/database-pool.ts';

/** Dead letters of one topic that are in the table. */
export interface WaitingLetters {
  readonly topic: string;
  readonly letters: number;
  /** Age of the oldest one, by `failed_at`; 0 where there is none. */
  readonly oldestSeconds: number;
}

/** What is known of the group's dead letters in the table. */
export interface LetterReport {
  /** By topic; `null` while it is not known, or where letters go to a topic alone. */
  readonly waiting: readonly WaitingLetters[] | null;
  /** By topic, how many this process has deleted since its start; `null` where `deadLetters.keep` is left out. */
  readonly expired: ReadonlyMap<string, number> | null;
}

const lettersTable = (schema: string): string => `${escapeIdentifier(schema)}.dead_letters`;

/** Counts the letters of a group, by topic. A topic without any is left out. */
export async function countLetters(
  client: PoolClient,
  schema: string,
  groupId: string,
): Promise<readonly WaitingLetters[]> {
  const { rows } = await client.query<WaitingLetters>(
    `SELECT topic, count(*)::float8 AS letters,
            greatest(extract(epoch FROM now() - min(failed_at)), 0)::float8 AS "oldestSeconds"
       FROM ${lettersTable(schema)} WHERE group_id = $1 GROUP BY topic ORDER BY topic`,
    [groupId],
  );
  return rows;
}

/** Letters that one transaction deletes at most: a short one holds up neither VACUUM nor a replay. */
const MOST_AT_ONCE = 1_000;

/**
 * Deletes letters of a group that failed too long ago, {@link MOST_AT_ONCE} at most, in one statement that is its own
 * transaction. A letter that a replay or another process holds is passed over: of several that find it one moves or
 * deletes it.
 *
 * @returns the topics of the deleted letters, one for each
 */
export async function expireLetters(
  client: PoolClient,
  schema: string,
  groupId: string,
  keepMs: number,
): Promise<readonly string[]> {
  const table = lettersTable(schema);
  const { rows } = await client.query<{ topic: string }>(
    `WITH old AS (
       SELECT topic, partition, "offset" FROM ${table}
        WHERE group_id = $1 AND failed_at < now() - $2::float8 * interval '1 millisecond'
        LIMIT ${MOST_AT_ONCE} FOR UPDATE SKIP LOCKED)
     DELETE FROM ${table} AS letter USING old
      WHERE letter.group_id = $1 AND letter.topic = old.topic AND letter.partition = old.partition
        AND letter."offset" = old."offset" RETURNING letter.topic`,
    [groupId, keepMs],
  );
  return rows.map(({ topic }) => topic);
}

const COUNT_MS = 60_000;

/** A count reads the whole table: a large one is counted less often, so that counting takes a hundredth of the time. */
const WAITS_OF_A_COUNT = 100;

/** What {@link KeptLetters} needs beside the pool. */
interface KeptLettersOptions {
  readonly clock: Clock;
  /** The topics that are read now. @default those of the settings */
  readonly topics?: () => readonly string[];
  readonly logger: {
    info(fields: object, message: string): void;
    warn(fields: object, message: string): void;
  };
}

/**
 * Looks after the group's dead letters in the table: counts them each minute, and deletes those that are older than
 * `deadLetters.keep`. Nothing waits for it, and nothing it meets ends the consumer.
 */
export class KeptLetters {
  readonly #pool: Pick<DatabasePool, 'withClient'>;
  readonly #options: KeptLettersOptions;
  readonly #schema: string;
  readonly #groupId: string;
  /** Letters of topics that are read are known to be none where a count has none. */
  readonly #topics: () => readonly string[];
  readonly #isInTable: boolean;
  readonly #keepMs: number | null;
  readonly #expired = new Map<string, number>();
  #counted: { readonly letters: readonly WaitingLetters[]; readonly at: number; readonly until: number } | null = null;
  #warned = '';

  constructor(
    pool: Pick<DatabasePool, 'withClient'>,
    settings: Pick<Settings, 'database' | 'kafka' | 'tables' | 'deadLetters'>,
    options: KeptLettersOptions,
  ) {
    const { keep, to } = settings.deadLetters;
    this.#pool = pool;
    this.#options = options;
    this.#schema = settings.database.schema;
    this.#groupId = settings.kafka.groupId;
    const named = topicsOf(settings);
    this.#topics = options.topics ?? (() => named);
    this.#isInTable = to !== 'topic';
    this.#keepMs = keep === undefined ? null : milliseconds(keep);
  }

  /** What is known; a count that is too old is none. */
  get report(): LetterReport {
    const now = this.#now();
    const counted = this.#counted !== null && now <= this.#counted.until ? this.#counted : null;
    const passed = (now - (counted?.at ?? now)) / 1_000;
    const waiting = counted?.letters.map((of) => ({
      ...of,
      oldestSeconds: of.letters === 0 ? 0 : of.oldestSeconds + passed,
    }));
    const none = this.#topics().map((topic) => [topic, 0] as const);
    return {
      waiting: waiting ?? null,
      expired: this.#keepMs === null ? null : new Map([...none, ...this.#expired]),
    };
  }

  /** Counts and deletes again and again, until the signal is aborted. Never rejects. */
  async watch(signal: AbortSignal): Promise<void> {
    if (!this.#isInTable && this.#keepMs === null) {
      return;
    }
    while (!signal.aborted) {
      const began = this.#now();
      const isDone = await this.#lookAfter(signal);
      const pause = Math.max(COUNT_MS, WAITS_OF_A_COUNT * (this.#now() - began));
      if (isDone && this.#counted !== null) {
        this.#counted = { ...this.#counted, until: this.#now() + 2 * pause };
      }
      await this.#options.clock.wait(pause, signal);
    }
  }

  async #lookAfter(signal: AbortSignal): Promise<boolean> {
    try {
      await this.#expire(signal);
      if (this.#isInTable) {
        await this.#count();
      }
      this.#warned = '';
      return true;
    } catch (error) {
      this.#failed(error);
      return false;
    }
  }

  async #count(): Promise<void> {
    const found = await this.#pool.withClient((client) => countLetters(client, this.#schema, this.#groupId));
    const others = this.#topics().filter((topic) => !found.some((one) => one.topic === topic));
    const letters = [...found, ...others.map((topic) => ({ topic, letters: 0, oldestSeconds: 0 }))];
    const at = this.#now();
    this.#counted = { letters, at, until: at };
  }

  async #expire(signal: AbortSignal): Promise<void> {
    const keepMs = this.#keepMs;
    const deleted = new Map<string, number>();
    for (let isMore = keepMs !== null; isMore && keepMs !== null && !signal.aborted; ) {
      const topics = await this.#pool.withClient((client) =>
        expireLetters(client, this.#schema, this.#groupId, keepMs),
      );
      for (const topic of topics) {
        deleted.set(topic, (deleted.get(topic) ?? 0) + 1);
        this.#expired.set(topic, (this.#expired.get(topic) ?? 0) + 1);
      }
      isMore = topics.length === MOST_AT_ONCE;
    }
    for (const [topic, letters] of deleted) {
      this.#options.logger.info({ topic, letters }, 'deleted dead letters that are older than deadLetters.keep');
    }
  }

  /** An outage is logged where records wait for it. */
  #failed(error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    if (!(error instanceof OutageError) && reason !== this.#warned) {
      this.#warned = reason;
      this.#options.logger.warn(
        { reason },
        'the dead letters in the table cannot be counted, or deleted as they expire',
      );
    }
  }

  #now(): number {
    return this.#options.clock.steady().getTime();
  }
}
