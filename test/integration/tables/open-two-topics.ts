import { afterEach, expect } from '@jest/globals';
import { MappedTables } from '../../../app/tables/table/mapped-tables.ts';
import { checkSettings } from '../../../settings/settings.ts';
import { query } from '../stack/database.ts';
import { randomName } from '../stack/random-name.ts';
import { until } from '../stack/until.ts';
import { aRequest, connect, openStore } from '../store/open-store.ts';

export const PARTITIONS = 6;
const ending: (() => Promise<unknown>)[] = [];

afterEach(() => Promise.all(ending.splice(0).map((end) => end())));

/** Two topics, a table for each whose statements are given, and writes of all their partitions at once. */
export async function open(
  ddl: {
    readonly orders?: string;
    readonly totals?: string;
    readonly entry?: object;
    readonly statementTimeout?: string;
    /** Whether the sink knows the topics as such that may wait. @default false */
    readonly mayWait?: boolean;
  } = {},
) {
  const schema = randomName('schema');
  const [orders, totals] = [randomName('orders'), randomName('totals')];
  const tables = [
    // A template that takes the one topic, as far as the settings know.
    { topic: [orders, `${orders}.{any}`], table: `${schema}.orders`, ...ddl.entry },
    { topic: totals, table: `${schema}.totals` },
  ];
  const { statementTimeout, mayWait = false } = ddl;
  const settings = { tables, kafka: { topics: [] }, ...(statementTimeout && { database: { statementTimeout } }) };
  const checked = checkSettings({
    database: { url: 'postgresql://unused/unused', schema },
    tables,
    kafka: { brokers: ['unused:9092'], groupId: 'group', topics: [] },
  });
  if (!checked.ok) {
    throw new Error(JSON.stringify(checked.problems));
  }
  const userTables = new MappedTables(checked.value, { unmapped: { log: () => undefined } }, undefined, {
    settings: checked.value,
    waiting: new Map(),
    isTemplated: () => true,
  });
  const { sink, pool } = openStore({ schema, settings, userTables, groupId: schema, isTemplated: () => mayWait });
  const run = (sql: string) => query(sql.replaceAll('?', schema));
  await sink.migrate();
  await run(ddl.orders ?? 'CREATE TABLE ?.orders (id int)');
  await run(ddl.totals ?? 'CREATE TABLE ?.totals (id int)');
  await pool.withClient((client) => userTables.read(client));
  for (const topic of [orders, totals]) {
    const all = Array.from({ length: PARTITIONS }, (_, partition) => ({ topic, partition, offset: 0n }));
    await sink.initialize(topic, () => all);
  }
  /** One request of each partition of both topics, in one turn of the event loop: they are one group. */
  const write = (rows = 1) => {
    const of = (topic: string) =>
      Array.from({ length: PARTITIONS }, (_, partition) => {
        const values = Array.from({ length: rows }, (_, nth) => `{"id": ${partition * rows + nth}}`);
        return sink.write(aRequest(topic, 0n, values, partition)).catch((error: Error) => error);
      });
    return { orders: Promise.all(of(orders)), totals: Promise.all(of(totals)) };
  };
  /** A transaction of another session, which goes on until it is ended. */
  const hold = async (sql: string) => {
    const other = await connect();
    await other.query(`BEGIN; ${sql.replaceAll('?', schema)}`);
    const end = () => other.query('ROLLBACK');
    ending.push(end);
    return end;
  };
  const sessions = async (condition: string) => {
    const found = await query<{ pid: number }>(
      `SELECT pid FROM pg_stat_activity WHERE application_name LIKE '%' || $1 AND ${condition}`,
      [schema],
    );
    return found.map(({ pid }) => pid);
  };
  const waiters = () => sessions(`wait_event_type = 'Lock'`);
  const waiting = async () => (await waiters()).length;
  /** The others are written before the one that waits has begun to. */
  const awaitWaiting = () => until('a connection that waits', async () => ((await waiting()) > 0 ? true : undefined));
  const count = async (table: string) => {
    const [found] = await query<{ rows: number }>(`SELECT count(*)::int AS rows FROM ${schema}.${table}`);
    return found?.rows;
  };
  const offsets = async (topic: string) => {
    const rows = await query<{ at: number }>(
      `SELECT DISTINCT next_offset::int AS at FROM ${schema}.offsets WHERE topic = $1`,
      [topic],
    );
    return rows.map(({ at }) => at);
  };
  return {
    schema,
    orders,
    totals,
    sink,
    pool,
    userTables,
    run,
    write,
    hold,
    sessions,
    waiters,
    waiting,
    awaitWaiting,
    count,
    offsets,
  };
}

export const committed = new Array(PARTITIONS).fill(
  expect.objectContaining({ kind: 'committed', deadLetters: new Map() }),
);

export const heldUp = new Array(PARTITIONS).fill(
  expect.objectContaining({ name: 'OutageError', table: expect.stringMatching(/\.orders$/) }),
);

export const fatal = (code: string) =>
  new Array(PARTITIONS).fill(expect.objectContaining({ name: 'FatalError', code }));
