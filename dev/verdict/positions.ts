import type { Kafka } from 'kafkajs';
import pg from 'pg';
import type { Written } from './compare-tables.ts';

/** How far the consumer has come. */
export interface Positions {
  /** The next offset that PostgreSQL expects, by partition; partitions without a row are absent. */
  readonly next: ReadonlyMap<number, bigint>;
  /** Kafka's log start, by partition. */
  readonly start: ReadonlyMap<number, bigint>;
  /** Kafka's log end, by partition. */
  readonly end: ReadonlyMap<number, bigint>;
  readonly deadLetters: bigint;
}

interface Stored {
  readonly next: Readonly<Record<string, string>> | null;
  readonly dead: string;
}

/** SQLSTATE of a table that is not there: the consumer answers before it has made its tables. */
const UNDEFINED_TABLE = '42P01';

function emptyWhenAbsent(error: unknown): undefined {
  if ((error as { code?: unknown }).code !== UNDEFINED_TABLE) {
    throw error;
  }
}

/** Asks Kafka and PostgreSQL how far the consumer has come, over connections that stay open; several may ask at once. */
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
    // The stored positions first: what is produced and written between the two answers must not look like a negative lag.
    const stored = await this.#readStored().catch(emptyWhenAbsent);
    const ends = await this.#admin.fetchTopicOffsets(this.#written.topic);
    const next = Object.entries(stored?.next ?? {});
    return {
      next: new Map(next.map(([partition, offset]) => [Number(partition), BigInt(offset)])),
      start: new Map(ends.map(({ partition, low }) => [partition, BigInt(low)])),
      end: new Map(ends.map(({ partition, high }) => [partition, BigInt(high)])),
      deadLetters: BigInt(stored?.dead ?? 0),
    };
  }

  /** In one statement, so that both come from the same moment. */
  async #readStored(): Promise<Stored | undefined> {
    const { schema, topic, group } = this.#written;
    const { rows } = await this.#pool.query<Stored>(
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

/** Sum of the next offsets of all partitions; one that has no row yet counts from its log start. */
export const sumOfNext = ({ next, start }: Positions): bigint =>
  [...start].reduce((total, [partition, low]) => total + (next.get(partition) ?? low), 0n);
