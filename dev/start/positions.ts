import type { Kafka } from 'kafkajs';
import pg from 'pg';
import type { Written } from '../verdict/compare-tables.ts';

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
    const { schema, topic, group } = this.#written;
    const [next, dead, ends] = await Promise.all([
      this.#pool.query<{ partition: number; next_offset: string }>(
        `SELECT partition, next_offset FROM "${schema}".offsets WHERE group_id = $1 AND topic = $2`,
        [group, topic],
      ),
      this.#pool.query<{ number: string }>(
        `SELECT count(*) AS number FROM "${schema}".dead_letters WHERE group_id = $1 AND topic = $2`,
        [group, topic],
      ),
      this.#admin.fetchTopicOffsets(topic),
    ]);
    return {
      next: new Map(next.rows.map(({ partition, next_offset }) => [partition, BigInt(next_offset)])),
      start: new Map(ends.map(({ partition, low }) => [partition, BigInt(low)])),
      end: new Map(ends.map(({ partition, high }) => [partition, BigInt(high)])),
      deadLetters: BigInt(dead.rows[0]?.number ?? 0),
    };
  }

  async disconnect(): Promise<void> {
    await Promise.allSettled([this.#pool.end(), this.#admin.disconnect()]);
  }
}

/** Sum of the next offsets of all partitions; one that has no row yet counts from its log start. */
export const sumOfNext = ({ next, start }: Positions): bigint =>
  [...start].reduce((total, [partition, low]) => total + (next.get(partition) ?? low), 0n);
