import { describe, expect, test } from '@jest/globals';
import { query } from '../stack/database.ts';
import { startPgBouncer } from '../stack/pgbouncer.ts';
import { randomName } from '../stack/random-name.ts';
import { until } from '../stack/until.ts';
import { aRequest, connect, openStore } from '../store/open-store.ts';
import { aTable, openTables } from './open-tables.ts';

const TWO = { orders: 'id int, name text', items: 'id int UNIQUE, name text' };
const NOTHING = { orders: [], items: [], records: [], letters: [] };

const values = (...ids: number[]) => ids.map((id) => JSON.stringify({ id, name: `name ${id}` }));

describe('a writer whose offset another one has moved writes nothing anywhere', () => {
  test('by itself', async () => {
    const { sink, topic, run, stored } = await openTables({ tables: TWO });
    await run('UPDATE ?.offsets SET next_offset = 1 WHERE partition = 0');
    expect(await sink.write(aRequest(topic, 0n, values(0, 1)))).toEqual({ kind: 'fenced' });
    expect(await stored()).toEqual({ ...NOTHING, offset: 1 });
  });

  test('with poison', async () => {
    const { sink, topic, run, stored } = await openTables({
      tables: { ...TWO, items: 'id int CHECK (id > 0), name text' },
    });
    await run('UPDATE ?.offsets SET next_offset = 1 WHERE partition = 0');
    expect(await sink.write(aRequest(topic, 0n, ['{poison', ...values(0, 1)]))).toEqual({ kind: 'fenced' });
    expect(await stored()).toEqual({ ...NOTHING, offset: 1 });
  });

  test('of two at the same moment', async () => {
    const { restarted, topic, stored } = await openTables({ tables: TWO });
    const sinks = [restarted(), restarted(), restarted()];
    const outcomes = await Promise.allSettled(sinks.map((sink) => sink.write(aRequest(topic, 0n, values(0, 1, 2)))));
    const kinds = outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value.kind : 'rejected'));
    expect(kinds.filter((kind) => kind === 'committed')).toHaveLength(1);
    expect(await stored()).toEqual({ orders: [0, 1, 2], items: [0, 1, 2], records: [0, 1, 2], letters: [], offset: 3 });
  });
});

test.each([
  ['in one message', values(0, 1)],
  ['part by part', ['{poison', ...values(0, 1)]],
])(
  'a connection that is cut between two COPYs %s leaves nothing, and the records are written later',
  async (_, cut) => {
    const { sink, topic, schema, stored } = await openTables({ tables: TWO });
    const other = await connect();
    await other.query(
      `BEGIN; INSERT INTO ${schema}.items VALUES (1, 'another session, which decides whether 1 is there')`,
    );
    const writing = sink.write(aRequest(topic, 0n, cut)).catch((error: unknown) => error);
    const waiting = `SELECT pid FROM pg_stat_activity WHERE wait_event = 'transactionid' AND query LIKE '%${schema}%'`;
    const pid = await until(
      'a COPY that waits for the other session',
      async () => (await query<{ pid: number }>(waiting))[0]?.pid,
    );
    await query('SELECT pg_terminate_backend($1)', [pid]);
    expect(await writing).toMatchObject({ name: 'OutageError' });
    await other.query('ROLLBACK');
    expect(await stored()).toEqual({ ...NOTHING, offset: 0 });
    await sink.write(aRequest(topic, 0n, cut));
    expect(await stored()).toMatchObject({ orders: [0, 1], items: [0, 1], offset: cut.length });
  },
);

test('small requests of several topics and partitions are one transaction, and each table has its rows', async () => {
  const schema = randomName('schema');
  const [one, both, other] = [randomName('one'), randomName('both'), randomName('other')];
  const tables = [aTable(schema, 'orders', [one, both]), aTable(schema, 'items', [both, other])];
  const { sink } = openStore({ schema, settings: { kafka: { topics: [both] } }, userTables: () => tables });
  await sink.migrate();
  await query(`CREATE TABLE ${schema}.orders (id int, name text); CREATE TABLE ${schema}.items (id int, name text)`);
  const requests = [one, both, other].flatMap((topic, nth) =>
    [0, 1].map((partition) => aRequest(topic, 0n, values(10 * nth + partition, 10 * nth + partition + 2), partition)),
  );
  for (const topic of [one, both, other]) {
    await sink.initialize(topic, () => [0, 1].map((partition) => ({ topic, partition, offset: 0n })));
  }
  const outcomes = await Promise.all(requests.map((request) => sink.write(request)));
  const committed = { kind: 'committed', deadLetters: new Map(), rows: new Map([['copy', 2]]) };
  const tablesOf = { [one]: ['orders'], [both]: ['orders', 'items'], [other]: ['items'] };
  const appended = (table: string) => ({ table: `${schema}.${table}`, operation: 'append', records: 2 });
  expect(outcomes).toMatchObject(
    requests.map((request) => ({ ...committed, tables: { operations: tablesOf[request.topic]?.map(appended) } })),
  );
  const [found] = await query(`SELECT
    (SELECT array_agg(id ORDER BY id) FROM ${schema}.orders) AS orders,
    (SELECT array_agg(id ORDER BY id) FROM ${schema}.items) AS items,
    (SELECT array_agg(DISTINCT topic) FROM ${schema}.records) AS records,
    (SELECT count(DISTINCT xmin::text)::int FROM (SELECT xmin FROM ${schema}.orders UNION ALL
      SELECT xmin FROM ${schema}.items UNION ALL SELECT xmin FROM ${schema}.records) AS written) AS transactions`);
  expect(found).toEqual({
    orders: [0, 1, 2, 3, 10, 11, 12, 13],
    items: [10, 11, 12, 13, 20, 21, 22, 23],
    records: [both],
    transactions: 1,
  });
});

test('PgBouncer in transaction mode lends one session for all COPYs', async () => {
  const { url } = await startPgBouncer({
    mode: 'transaction',
    settings: { default_pool_size: 2, ignore_startup_parameters: 'options' },
  });
  const { sink, topic, stored } = await openTables({ tables: TWO, url });
  const batches = Array.from({ length: 20 }, (_, nth) => ({ from: BigInt(nth), partition: nth % 2 }));
  for (const { from, partition } of batches) {
    await sink.write(aRequest(topic, from / 2n, values(Number(from)), partition));
  }
  await sink.write(aRequest(topic, 10n, ['{poison', ...values(20)]));
  const written = Array.from({ length: 21 }, (_, id) => id);
  expect(await stored()).toMatchObject({ orders: written, items: written, letters: [10] });
});

/** A trigger that drops the row with the id 1. */
const DROPPING = `CREATE FUNCTION ?.drops() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN IF NEW.id = 1 THEN RETURN NULL; END IF; RETURN NEW; END $$;
  CREATE TRIGGER drops BEFORE INSERT ON ?.items FOR EACH ROW EXECUTE FUNCTION ?.drops()`;

describe('a trigger that drops rows of a user table stops the consumer, and nothing is written', () => {
  const dropped = (schema: string) => ({
    code: 'ROWS_DROPPED',
    message: expect.stringContaining(`the table ${schema}.items took 2 of 3 rows`),
  });

  test('whatever is allowed for records', async () => {
    const settings = { records: { onDroppedRows: 'allow' } };
    const { sink, topic, schema, stored } = await openTables({ tables: TWO, sql: DROPPING, settings });
    await expect(sink.write(aRequest(topic, 0n, values(0, 1, 2)))).rejects.toMatchObject(dropped(schema));
    expect(await stored()).toEqual({ ...NOTHING, offset: 0 });
  });

  test('when it was created under the consumer', async () => {
    const { sink, topic, schema, run, stored } = await openTables({ tables: TWO });
    await sink.write(aRequest(topic, 0n, values(7)));
    await run(DROPPING);
    await expect(sink.write(aRequest(topic, 1n, values(0, 1, 2)))).rejects.toMatchObject(dropped(schema));
    expect(await stored()).toEqual({ orders: [7], items: [7], records: [0], letters: [], offset: 1 });
  });
});

describe('a table that is altered under the consumer', () => {
  test('takes rows as long as it has the columns', async () => {
    const { sink, topic, run, stored } = await openTables({ tables: TWO });
    await sink.write(aRequest(topic, 0n, values(0)));
    await run('ALTER TABLE ?.items ALTER id TYPE bigint, ALTER name TYPE varchar(50), ADD more int DEFAULT 7');
    await sink.write(aRequest(topic, 1n, values(1)));
    expect(await stored()).toEqual({ orders: [0, 1], items: [0, 1], records: [0, 1], letters: [], offset: 2 });
  });

  test.each([
    ['has lost a column', 'ALTER TABLE ?.items DROP name', 'items is not as it was'],
    ['is gone', 'DROP TABLE ?.items', 'items'],
  ])('and %s gets no rows, and no record is a dead letter', async (_, sql, words) => {
    const { sink, topic, schema, run } = await openTables({ tables: TWO });
    await sink.write(aRequest(topic, 0n, values(0)));
    await run(sql);
    const writing = sink.write(aRequest(topic, 1n, ['{poison', ...values(1)]));
    await expect(writing).rejects.toMatchObject({ name: 'FatalError' });
    await expect(sink.write(aRequest(topic, 1n, values(1)))).rejects.toMatchObject({ name: 'FatalError' });
    const restarted = sink.write(aRequest(topic, 1n, values(1)));
    await expect(restarted).rejects.toThrow(words);
    expect(await run('SELECT id FROM ?.orders')).toEqual([{ id: 0 }]);
    expect(await query(`SELECT FROM ${schema}.dead_letters`)).toEqual([]);
  });
});

test('times without a zone are UTC, and days are read as ISO 8601, whatever the settings of the role are', async () => {
  const isolation = 'read committed -c TimeZone=Asia/Tokyo -c DateStyle=SQL,DMY -c IntervalStyle=sql_standard';
  const tables = { orders: 'id int, name timestamptz', days: 'id int, name text' };
  const { sink, topic, run, stored } = await openTables({ tables: { orders: tables.orders }, isolation });
  const names = ['2024-02-03T04:05:06', '2024-02-03 04:05:06'].map((name, id) => JSON.stringify({ id, name }));
  await sink.write(aRequest(topic, 0n, [...names, '{poison']));
  expect(await stored()).toMatchObject({ orders: [0, 1], letters: [2] });
  await sink.write(aRequest(topic, 3n, names));
  expect(await run(`SELECT DISTINCT name = '2024-02-03T04:05:06Z' AS "isUtc" FROM ?.orders`)).toEqual([
    { isUtc: true },
  ]);
});
