import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import type { SourceTable } from '../../../dev/change-events/source-tables.ts';
import { pick, randomSource } from '../../../dev/orders/random-source.ts';
import { NAMES } from '../../../dev/orders/sample-record.ts';

const PAUSE_MS = 50;
const CHANGES_AT_ONCE = 10;
/** The first changes of a table insert rows, so that the others find some. */
const ROWS_FIRST = 20;

/** A small table of a database of many. */
export const smallTable = (name: string): SourceTable => ({
  name,
  columns: ['id integer', 'name text NOT NULL', 'amount numeric(12,2)', 'changed_at timestamptz'],
  key: ['id'],
});

/** Inserts, updates and deletes, spread over tables at random: 200 a second at most, each in its own transaction. */
export class ManyChanges {
  readonly #client: pg.Client;
  readonly #seed: number;
  readonly #tables: Set<string>;
  readonly #running = new AbortController();
  #changes = 0;
  #work: Promise<void> = Promise.resolve();

  /** @param client a session of the source, which has the tables */
  constructor(client: pg.Client, seed: number, tables: readonly string[]) {
    this.#client = client;
    this.#seed = seed;
    this.#tables = new Set(tables);
  }

  /** Gives each table its first rows. */
  async fill(): Promise<void> {
    for (const table of this.#tables) {
      await this.#fill(table);
    }
  }

  /** Makes changes until {@link stop}. */
  start(): void {
    this.#work = this.#run();
  }

  /** @throws Error when a change failed */
  async stop(): Promise<void> {
    this.#running.abort();
    await this.#work;
  }

  /** Makes a table at the source, with its first rows, and changes it like the others. */
  async create(sql: string, table: string): Promise<void> {
    await this.#client.query(sql);
    await this.#fill(table);
    this.#tables.add(table);
  }

  /** Drops a table at the source. */
  async drop(table: string): Promise<void> {
    this.#tables.delete(table);
    await this.#client.query(`DROP TABLE ${table}`);
  }

  async #fill(table: string): Promise<void> {
    await this.#client.query(
      `INSERT INTO ${table} SELECT -i, 'first ' || i, i / 7.0, now() FROM generate_series(1, ${ROWS_FIRST}) AS i`,
    );
  }

  async #run(): Promise<void> {
    while (!this.#running.signal.aborted) {
      for (let nth = 0; nth < CHANGES_AT_ONCE; nth += 1) {
        await this.#client.query(this.#nextChange());
      }
      await delay(PAUSE_MS);
    }
  }

  #nextChange(): string {
    this.#changes += 1;
    const random = randomSource(this.#seed, this.#changes);
    const table = pick(random, [...this.#tables]);
    const one = `WHERE id = (SELECT id FROM ${table} WHERE id >= ${random.below(this.#changes) - ROWS_FIRST} ORDER BY 1 LIMIT 1)`;
    const name = `'${pick(random, NAMES)} ${random.below(100)}'`;
    const amount = random.below(5) === 0 ? 'NULL' : `${random.below(100_000)}.${random.below(100)}`;
    const kind = random.below(10);
    if (kind < 5) {
      return `INSERT INTO ${table} VALUES (${this.#changes}, ${name}, ${amount}, now())`;
    }
    return kind < 8
      ? `UPDATE ${table} SET name = ${name}, amount = ${amount}, changed_at = now() ${one}`
      : `DELETE FROM ${table} ${one}`;
  }
}
