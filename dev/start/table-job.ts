import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { stringify } from 'yaml';
import { endOffsets, SampleProducer } from '../orders/sample-producer.ts';
import { CUSTOMERS, creationOf, entryOf, ORDERS, qualified } from '../orders/sample-tables.ts';
import { customerChange } from '../orders/table-records.ts';
import type { RunFolder } from '../run/run-folder.ts';
import type { Screen } from '../run/screen.ts';
import { ensureTopic } from '../stack/topic.ts';
import { compareCustomers, compareRows, goodRecords } from '../verdict/compare-rows.ts';
import { loadExpected, type Written } from '../verdict/compare-tables.ts';
import { countFinding, type Finding } from '../verdict/finding.ts';
import { awaitAccounted, PositionReader } from '../verdict/positions.ts';
import type { StartOptions } from './options.ts';
import type { Servers } from './servers.ts';

/** A change of a customer for so many orders. */
const ORDERS_PER_CHANGE = 4;
const CHANGES_PER_REQUEST = 2_000;
/** Counting is done for this part of the time at most. */
const COUNTING_SHARE = 1 / 10;

/** How many rows a table has. */
export interface RowCount {
  readonly table: string;
  readonly rows: bigint;
}

/** What `--tables` adds: a table of orders, and customers with another topic and another table. */
export interface TableJob {
  /** Schema of the tables. */
  readonly schema: string;
  /** Their entries of the setting `tables`. */
  readonly entries: readonly object[];
  /** Topic, group and schema of the customers. */
  readonly written: Written;
  readonly customers: SampleProducer;
  readonly positions: PositionReader;
  readonly counts: RowCounts;
}

/**
 * Names of the tables' schema and the customers' topic that are free.
 *
 * @param random letters and digits. @default eight random ones
 */
export function tableNames(options: StartOptions, random: string = randomBytes(4).toString('hex')) {
  return {
    schema: options.database === undefined ? 'public' : `sample_${random}`,
    topic: options.kafka === undefined ? CUSTOMERS.name : `${CUSTOMERS.name}-${random}`,
  };
}

/** Makes the tables and the topic of customers, before the consumer starts; prints the consumer's settings for them. */
export async function prepareTables(
  run: RunFolder,
  { options, servers, names }: { options: StartOptions; servers: Servers; names: Written },
  screen: Screen,
): Promise<TableJob> {
  const { schema, topic } = tableNames(options);
  await makeTables(servers.databaseUrl, schema);
  const partitions = await ensureTopic(servers.kafka, topic, options.partitions);
  const written = { ...names, topic };
  const positions = new PositionReader(servers.databaseUrl, servers.kafka, written);
  const customers = new SampleProducer({ kafka: servers.kafka, topic, partitions }, options.seed, customerChange);
  const counts = new RowCounts(servers.databaseUrl, schema);
  run.beforeClose(async () => {
    await Promise.allSettled([positions.disconnect(), customers.disconnect(), counts.disconnect()]);
  });
  await Promise.all([positions.connect(), customers.connect()]);
  const entries = [entryOf(schema, ORDERS, names.topic), entryOf(schema, CUSTOMERS, topic)];
  showEntries(screen, 'tables      made, as yours would be; the consumer has these settings for them:', entries);
  return { schema, entries, written, customers, positions, counts };
}

/** Shows entries of the setting `tables` as they are in application.yml. */
export function showEntries(screen: Screen, title: string, entries: readonly object[]): void {
  screen.line(title);
  for (const line of stringify({ tables: entries }).trimEnd().split('\n')) {
    screen.line(`              ${line}`);
  }
}

async function makeTables(databaseUrl: string, schema: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const tables = [ORDERS, CUSTOMERS].map((table) => creationOf(schema, table));
    await client.query(`CREATE SCHEMA IF NOT EXISTS ${schema}; ${tables.join(' ')}`);
  } finally {
    await client.end();
  }
}

/** Exact numbers of rows, counted as seldom as it takes long. */
class RowCounts {
  readonly #pool: pg.Pool;
  readonly #sql: string;
  #last: readonly RowCount[] = [];
  #dueAt = 0;

  constructor(databaseUrl: string, schema: string) {
    this.#pool = new pg.Pool({ connectionString: databaseUrl, max: 1 });
    // A broken connection is also an error of the query that needs it.
    this.#pool.on('error', () => undefined);
    const counts = [ORDERS, CUSTOMERS].map(
      (table) => `SELECT '${table.name}' AS table, count(*) AS rows FROM ${qualified(schema, table)}`,
    );
    this.#sql = counts.join(' UNION ALL ');
  }

  async read(): Promise<readonly RowCount[]> {
    if (performance.now() >= this.#dueAt) {
      const client = await this.#pool.connect();
      const startedAt = performance.now();
      try {
        const { rows } = await client.query<{ table: string; rows: string }>(this.#sql);
        this.#last = rows.map(({ table, rows: number }) => ({ table, rows: BigInt(number) }));
      } finally {
        client.release();
      }
      this.#dueAt = startedAt + (performance.now() - startedAt) / COUNTING_SHARE;
    }
    return this.#last;
  }

  disconnect(): Promise<void> {
    return this.#pool.end();
  }
}

/** Produces the changes that belong to the orders so far. */
export async function produceChanges({ customers }: TableJob, orders: number): Promise<void> {
  const due = Math.floor(orders / ORDERS_PER_CHANGE);
  while (customers.acknowledged < due) {
    await customers.send(Math.min(CHANGES_PER_REQUEST, due - customers.acknowledged));
  }
}

/** Waits until all changes are in PostgreSQL. */
export async function waitForChanges(job: TableJob, isAlive: () => boolean): Promise<Finding> {
  const finding = await awaitAccounted(endOffsets(job.customers.records()), () => job.positions.read(), isAlive);
  return { ...finding, check: `${finding.check}, ${job.written.topic}` };
}

/**
 * Loads the changes that have to be dead letters beside what is expected of the orders, and compares their number.
 */
export async function loadBrokenChanges(client: pg.Client, { customers, written }: TableJob): Promise<Finding> {
  const broken = [...customers.records()].filter(({ reason }) => reason !== undefined);
  await loadExpected(client, written.topic, broken);
  const { rows } = await client.query<{ number: string }>(
    `SELECT count(*) AS number FROM "${written.schema}".dead_letters WHERE group_id = $1 AND topic = $2`,
    [written.group, written.topic],
  );
  return countFinding(`dead letters of ${written.topic}`, broken.length, Number(rows[0]?.number), []);
}

/**
 * Compares both tables, column by column: orders with the expected records of the connection, customers with a Map that
 * took their changes in the order of their offsets.
 *
 * @param isAlone whether all records of the orders' topic were produced by this run
 */
export async function compareSampleTables(
  client: pg.Client,
  { schema, customers }: TableJob,
  orders: Written,
  isAlone: boolean,
): Promise<readonly Finding[]> {
  const records = goodRecords('expected', orders.topic);
  return [
    await compareRows(client, { schema, table: ORDERS, records, isWhole: isAlone }),
    await compareCustomers(client, schema, customers.records()),
  ];
}
