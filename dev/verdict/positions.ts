import { setTimeout as delay } from 'node:timers/promises';
import type { Kafka } from 'kafkajs';
import pg from 'pg';
import type { Written } from './compare-tables.ts';
import { count, type Finding } from './finding.ts';

/** SQLSTATE of a table that is not there: the consumer answers before it has made its tables. */
const UNDEFINED_TABLE = '42P01';
const POLL_MS = 100;
const STALL_TIMEOUT_MS = 60_000;

/** Offsets by partition. */
type Offsets = ReadonlyMap<number, bigint>;

/** The consumer's stored positions beside the log of its topic. */
export interface Positions {
  /** The next offset that PostgreSQL expects, by partition; partitions without a row are absent. */
  readonly next: Offsets;
  /** Kafka's log start, by partition. */
  readonly start: Offsets;
  /** Kafka's log end, by partition. */
  readonly end: Offsets;
  readonly deadLetters: bigint;
}

/** What PostgreSQL has of a topic. */
type Stored = Pick<Positions, 'next' | 'deadLetters'>;

interface StoredRow {
  readonly next: Readonly<Record<string, string>> | null;
  readonly dead: string;
}

/** Reads the positions from Kafka and PostgreSQL over connections that stay open; several reads may run at once. */
export class PositionReader {
  readonly #pool: pg.Pool;
  readonly #admin: ReturnType<Kafka['admin']>;
  readonly #written: Written;

  constructor(databaseUrl: string, kafka: Kafka, written: Written) {
    this.#pool = new pg.Pool({ connectionString: databaseUrl, max: 2 });
    // A broken connection is also an error of the query that needs it: there it is reported.
    this.#pool.on('error', () => undefined);
    this.#admin = kafka.admin();
    this.#written = written;
  }

  connect(): Promise<void> {
    return this.#admin.connect();
  }

  async read(): Promise<Positions> {
    // The stored positions first: a record written between the two answers must not look like a negative lag.
    const stored = await this.readStored();
    const ends = await this.#admin.fetchTopicOffsets(this.#written.topic);
    return {
      ...stored,
      start: new Map(ends.map(({ partition, low }) => [partition, BigInt(low)])),
      end: new Map(ends.map(({ partition, high }) => [partition, BigInt(high)])),
    };
  }

  /** Asks PostgreSQL alone: Kafka may not have the topic any more. */
  async readStored(): Promise<Stored> {
    const row = await this.#readRow().catch(emptyWhenAbsent);
    const next = Object.entries(row?.next ?? {});
    return {
      next: new Map(next.map(([partition, offset]) => [Number(partition), BigInt(offset)])),
      deadLetters: BigInt(row?.dead ?? 0),
    };
  }

  /** In one statement, so that offsets and dead letters are of the same snapshot. */
  async #readRow(): Promise<StoredRow | undefined> {
    const { schema, topic, group } = this.#written;
    const { rows } = await this.#pool.query<StoredRow>(
      `SELECT (SELECT json_object_agg(partition, next_offset::text) FROM "${schema}".offsets
               WHERE group_id = $1 AND topic = $2) AS next,
              (SELECT count(*) FROM "${schema}".dead_letters WHERE group_id = $1 AND topic = $2) AS dead`,
      [group, topic],
    );
    return rows[0];
  }

  async disconnect(): Promise<void> {
    await Promise.allSettled([this.#pool.end(), this.#admin.disconnect()]);
  }
}

function emptyWhenAbsent(error: unknown): undefined {
  if ((error as { code?: unknown }).code !== UNDEFINED_TABLE) {
    throw error;
  }
}

/** Sum of the next offsets of all partitions; one that has no row yet counts from its log start. */
export const sumOfNext = ({ next, start }: Positions): bigint =>
  [...start].reduce((total, [partition, low]) => total + (next.get(partition) ?? low), 0n);

/**
 * Waits until the stored positions reach the offsets that the broker acknowledged, for as long as they move.
 *
 * @param ends the offset after the last acknowledged record, by partition.
 * @param read reads the positions.
 * @param isAlive whether the consumer still runs: the positions of one that has ended do not move.
 * @param stallTimeout milliseconds without a move after which the wait ends. @default 60000
 */
export async function awaitAccounted(
  ends: Offsets,
  read: () => Promise<Positions>,
  isAlive: () => boolean,
  stallTimeout: number = STALL_TIMEOUT_MS,
): Promise<Finding> {
  let best = -1n;
  let movedAt = performance.now();
  for (;;) {
    const positions = await read();
    const { next } = positions;
    const behind = [...ends].filter(([partition, end]) => (next.get(partition) ?? 0n) < end);
    const finding = {
      check: 'partitions whose stored position reached their end',
      expected: count(ends.size),
      found: count(ends.size - behind.length),
      isWell: behind.length === 0,
    };
    if (finding.isWell) {
      return { ...finding, details: [] };
    }
    if (sumOfNext(positions) > best) {
      best = sumOfNext(positions);
      movedAt = performance.now();
    }
    const reason = isAlive() ? `no progress for ${stallTimeout / 1_000} s` : 'the consumer has ended';
    if (!isAlive() || performance.now() - movedAt > stallTimeout) {
      const places = behind.map(
        ([partition, end]) =>
          `partition ${partition}: stored position ${next.get(partition) ?? 'none'}, log end ${end}`,
      );
      return { ...finding, details: [reason, ...places] };
    }
    await delay(POLL_MS);
  }
}

/**
 * Waits until records that were produced to every partition after the call are in PostgreSQL, and all records before
 * them. Records of the time of the call do not count: a partition may have been up to date when its consumer died.
 *
 * @param read reads the positions; it may fail and is then called again.
 * @param limit milliseconds to wait.
 * @param pollMs milliseconds between two reads. @default 100
 * @returns the milliseconds until then; undefined when the limit was reached.
 */
export async function timeToRecover(
  read: () => Promise<Positions>,
  limit: number,
  pollMs: number = POLL_MS,
): Promise<number | undefined> {
  const startedAt = performance.now();
  let before: Offsets | undefined;
  let target: Offsets | undefined;
  for (;;) {
    const positions = await read().catch(() => undefined);
    if (positions) {
      before ??= positions.end;
      target ??= isBeyond(positions.end, before) ? positions.end : undefined;
    }
    const elapsed = performance.now() - startedAt;
    if (positions && target && reaches(positions.next, target)) {
      return elapsed;
    }
    if (elapsed > limit) {
      return undefined;
    }
    await delay(pollMs);
  }
}

const reaches = (offsets: Offsets, target: Offsets): boolean =>
  [...target].every(([partition, offset]) => (offsets.get(partition) ?? 0n) >= offset);

const isBeyond = (offsets: Offsets, before: Offsets): boolean =>
  [...before].every(([partition, offset]) => (offsets.get(partition) ?? 0n) > offset);
