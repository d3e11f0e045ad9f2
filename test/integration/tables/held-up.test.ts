import { describe, expect, test } from '@jest/globals';
import { query } from '../stack/database.ts';
import { until } from '../stack/until.ts';
import { aRequest } from '../store/open-store.ts';
import { committed, fatal, heldUp, open, PARTITIONS } from './open-two-topics.ts';

const REFUSING = `CREATE TABLE ?.orders (id int);
  CREATE FUNCTION ?.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'not today'; END $$;
  CREATE TRIGGER refuse BEFORE INSERT ON ?.orders FOR EACH ROW EXECUTE FUNCTION ?.refuse()`;

describe('what shares a transaction with a table is written without it, while the table', () => {
  test('is locked; one connection waits for it, and its rows are written once when the lock is gone', async () => {
    const { orders, totals, write, hold, waiting, awaitWaiting, count, offsets } = await open();
    const release = await hold('LOCK TABLE ?.orders IN ACCESS EXCLUSIVE MODE');
    const writes = write();
    expect(await writes.totals).toEqual(committed);
    await awaitWaiting();
    expect([await waiting(), await offsets(totals), await offsets(orders)]).toEqual([1, [1], [0]]);
    await release();
    expect(await writes.orders).toEqual(committed);
    expect([await count('orders'), await count('totals')]).toEqual([PARTITIONS, PARTITIONS]);
    expect(await offsets(orders)).toEqual([1]);
  });

  test('is locked for longer; its next writes wait for it alone, and on one connection', async () => {
    const { totals, sink, write, hold, waiting, awaitWaiting } = await open();
    const release = await hold('LOCK TABLE ?.orders IN ACCESS EXCLUSIVE MODE');
    const writes = write();
    await writes.totals;
    await awaitWaiting();
    for (const offset of [1n, 2n]) {
      const next = Array.from({ length: PARTITIONS }, (_, partition) =>
        sink.write(aRequest(totals, offset, ['{"id": 7}'], partition)),
      );
      expect(await Promise.all(next)).toEqual(committed);
      expect(await waiting()).toBe(1);
    }
    await release();
    expect(await writes.orders).toEqual(committed);
  });

  test('is locked, already while the first connection waits, and no second one does', async () => {
    const { orders, totals, sink, schema, hold, count } = await open();
    const release = await hold('LOCK TABLE ?.orders IN ACCESS EXCLUSIVE MODE');
    const write = (topic: string, partition: number) => sink.write(aRequest(topic, 0n, ['{"id": 7}'], partition));
    const first = write(orders, 0);
    const waiters = () =>
      query<{ begun: string; isStalled: boolean }>(
        `SELECT query_start::text AS begun, clock_timestamp() - query_start > interval '200 ms' AS "isStalled"
           FROM pg_stat_activity WHERE application_name LIKE '%' || $1 AND wait_event_type = 'Lock'`,
        [schema],
      );
    const stalled = await until('a transaction that is stalled', async () => {
      const [waiter] = await waiters();
      return waiter?.isStalled === true ? waiter : undefined;
    });
    const [second, other] = [write(orders, 1), write(totals, 1)];
    expect(await other).toEqual(committed[0]);
    expect([await waiters(), await count('totals')]).toEqual([[stalled], 1]);
    await release();
    expect(await Promise.all([first, second])).toEqual(committed.slice(0, 2));
  });

  test('is locked; the connection that waited for it in vain knows its tables, and is used on', async () => {
    const { write, hold, sessions, waiters, awaitWaiting } = await open();
    const release = await hold('LOCK TABLE ?.orders IN ACCESS EXCLUSIVE MODE');
    const writes = write();
    await awaitWaiting();
    const waited = await waiters();
    expect(await writes.totals).toEqual(committed);
    expect(await sessions('true')).toEqual(expect.arrayContaining(waited));
    await release();
    expect(await writes.orders).toEqual(committed);
  });

  test.each([
    ['a column with a default', 'CREATE TABLE ?.orders (id int, at timestamptz DEFAULT now())', 'orders'],
    [
      'a partition, which is locked,',
      'CREATE TABLE ?.orders (id int) PARTITION BY LIST (id); CREATE TABLE ?.part PARTITION OF ?.orders DEFAULT',
      'part',
    ],
  ])('has %s and is locked before its connection has read it from the catalog', async (_, ddl, locked) => {
    const { pool, userTables, write, hold, waiting, awaitWaiting } = await open({ orders: ddl });
    const release = await hold(`LOCK TABLE ?.${locked} IN ACCESS EXCLUSIVE MODE`);
    const writes = write();
    expect(await writes.totals).toEqual(committed);
    await awaitWaiting();
    await pool.withClient((client) => userTables.read(client));
    expect(await waiting()).toBe(1);
    await release();
    expect(await writes.orders).toEqual(committed);
  });

  test('has a row that another transaction holds', async () => {
    const { write, hold, waiting, awaitWaiting, count } = await open({
      orders: 'CREATE TABLE ?.orders (id int PRIMARY KEY)',
    });
    const release = await hold('INSERT INTO ?.orders VALUES (3)');
    const writes = write();
    expect(await writes.totals).toEqual(committed);
    await awaitWaiting();
    expect(await waiting()).toBe(1);
    await release();
    expect(await writes.orders).toEqual(committed);
    expect(await count('orders')).toBe(PARTITIONS);
  });

  test('is dropped: its topic gets the error that says so, and nothing of it goes elsewhere', async () => {
    const { orders, run, write, count, offsets } = await open();
    await run('DROP TABLE ?.orders');
    const writes = write();
    expect(await writes.totals).toEqual(committed);
    expect(await writes.orders).toEqual(fatal('TABLES_DO_NOT_FIT'));
    expect([await count('records'), await count('dead_letters'), await offsets(orders)]).toEqual([0, 0, [0]]);
  });

  test.each([
    ['dropped', 'DROP TABLE ?.orders'],
    ['renamed', 'ALTER TABLE ?.orders RENAME TO others'],
  ])('is %s before a record that is no row: the error is that of the table', async (_, ddl) => {
    const { orders, sink, run, count } = await open();
    await sink.write(aRequest(orders, 0n, ['{"id": 1}']));
    await run(ddl);
    const written = sink.write(aRequest(orders, 1n, ['{', '{"id": 2}']));
    await expect(written).rejects.toMatchObject({ code: 'TABLES_DO_NOT_FIT', isOfTopic: true });
    expect(await count('dead_letters')).toBe(0);
  });

  test('is altered so that it does not fit, and is mended later', async () => {
    const { orders, totals, run, write, sink, offsets } = await open();
    await run('ALTER TABLE ?.orders RENAME id TO number; ALTER TABLE ?.orders ALTER number SET NOT NULL');
    await run('ALTER TABLE ?.orders ALTER number ADD GENERATED ALWAYS AS IDENTITY');
    const writes = write();
    expect(await writes.totals).toEqual(committed);
    expect(await writes.orders).toEqual(fatal('TABLES_DO_NOT_FIT'));
    expect([...(await sink.misfits([orders, totals])).keys()]).toEqual([orders]);
    await run('ALTER TABLE ?.orders ADD id int');
    expect(await sink.misfits([orders, totals])).toEqual(new Map());
    expect(await write().orders).toEqual(committed);
    expect(await offsets(orders)).toEqual([1]);
  });

  test('is on a disk that is full, and has its rows once there is room', async () => {
    const { run, write, orders, offsets } = await open();
    await run(`CREATE FUNCTION ?.is_full() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      RAISE EXCEPTION 'no space left' USING ERRCODE = 'disk_full'; END $$`);
    await run('CREATE TRIGGER is_full BEFORE INSERT ON ?.orders FOR EACH STATEMENT EXECUTE FUNCTION ?.is_full()');
    const writes = write();
    expect(await writes.totals).toEqual(committed);
    expect(await writes.orders).toEqual(heldUp);
    await run('DROP TRIGGER is_full ON ?.orders');
    expect(await write().orders).toEqual(committed);
    expect(await offsets(orders)).toEqual([1]);
  });

  test('has no partition for its rows, and has them once it has one', async () => {
    const { run, write, count } = await open({ orders: 'CREATE TABLE ?.orders (id int) PARTITION BY RANGE (id)' });
    const writes = write();
    expect(await writes.totals).toEqual(committed);
    expect(await writes.orders).toEqual(heldUp);
    await run('CREATE TABLE ?.orders_0 PARTITION OF ?.orders DEFAULT');
    expect(await write().orders).toEqual(committed);
    expect([await count('orders'), await count('dead_letters')]).toEqual([PARTITIONS, 0]);
  });

  test('has a trigger that refuses every row', async () => {
    const { write, orders, offsets, count } = await open({ orders: REFUSING });
    const writes = write(100);
    expect(await writes.totals).toEqual(committed);
    expect(await writes.orders).toEqual(fatal('TABLE_REFUSES_ROWS'));
    expect([await count('dead_letters'), await offsets(orders)]).toEqual([0, [0]]);
  });

  test.each([
    ['few', 1, heldUp],
    ['more', 2, expect.arrayContaining(fatal('TABLE_REFUSES_ROWS').slice(0, 1))],
  ])('has a trigger that refuses every row, of which there are %s, and a template takes its topic', async (...of) => {
    const [, rows, ended] = of;
    const { write, orders, offsets, count, run } = await open({ orders: REFUSING, mayWait: true });
    const writes = write(rows);
    expect(await writes.totals).toEqual(committed);
    expect(await writes.orders).toEqual(ended);
    expect([await count('dead_letters'), await offsets(orders)]).toEqual([0, [0]]);
    await run('CREATE OR REPLACE FUNCTION ?.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$');
    expect(await write(rows).orders).toEqual(committed);
    expect([await count('dead_letters'), await count('orders')]).toEqual([0, rows * PARTITIONS]);
  });
});

test('a topic whose table is missing at the start has no rows anywhere, and has them once it is there', async () => {
  const { orders, totals, userTables, sink, run, write, count } = await open({ orders: 'SELECT' });
  expect(userTables.all.map(({ topics }) => topics)).toEqual([[totals]]);
  expect([...(await sink.misfits([orders])).values()]).toMatchObject([
    { code: 'TABLES_DO_NOT_FIT', topic: orders, message: expect.stringContaining('tables[0].table') },
  ]);
  const writes = write();
  expect([await writes.totals, await writes.orders]).toEqual([committed, fatal('TABLES_DO_NOT_FIT')]);
  expect(await count('records')).toBe(0);
  await run('CREATE TABLE ?.orders (id int)');
  await sink.misfits([orders]);
  expect(await write().orders).toEqual(committed);
});

test('a connection reads of the catalog what it writes into, and nothing else', async () => {
  const { pool, userTables, orders } = await open();
  const names: unknown[] = [];
  await pool.withClient(async (client) => {
    const asked = new Proxy(client, {
      get: (target, name) =>
        name === 'query'
          ? (sql: string, values?: readonly unknown[]) => {
              names.push(values?.[1]);
              return target.query(sql, values as unknown[]);
            }
          : Reflect.get(target, name),
    });
    for (const table of userTables.of(orders)) {
      await table.requireOnce(asked);
      await table.requireOnce(asked);
    }
  });
  expect(names).toEqual([['orders']]);
});

test('a topic whose table is missing, and not wanted, is ignored; one whose table does not fit is not', async () => {
  const { orders, sink, run } = await open({ orders: 'SELECT', entry: { missing: 'ignore' } });
  expect([...(await sink.misfits([orders])).values()]).toMatchObject([{ code: 'TABLES_DO_NOT_FIT', isIgnored: true }]);
  await run('CREATE TABLE ?.orders (id int GENERATED ALWAYS AS IDENTITY)');
  expect([...(await sink.misfits([orders])).values()]).toMatchObject([{ isIgnored: false }]);
});

test('a topic with a field that no column takes waits for the column, where the entry says so', async () => {
  const { orders, totals, sink, run, count } = await open({
    orders: 'CREATE TABLE ?.orders (number int)',
    entry: { unmapped: 'wait' },
  });
  const write = (topic: string) => sink.write(aRequest(topic, 0n, ['{"id": 1}']));
  for (const _ of [1, 2]) {
    await expect(write(orders)).rejects.toMatchObject({
      code: 'FIELD_UNMAPPED',
      topic: orders,
      message: expect.stringContaining(`the records of ${orders} have fields that no column takes: id.`),
    });
  }
  expect(await write(totals)).toMatchObject({ kind: 'committed' });
  await run('ALTER TABLE ?.orders ADD id int');
  await sink.misfits([orders]);
  expect(await write(orders)).toMatchObject({ kind: 'committed' });
  expect([await count('orders'), await count('dead_letters')]).toEqual([1, 0]);
});

test('a table with a foreign key does not fit a template, and the problem has the statement that drops it', async () => {
  const { orders, totals, sink, run } = await open({
    totals: 'CREATE TABLE ?.totals (id int PRIMARY KEY, parent int)',
  });
  await run('ALTER TABLE ?.totals ADD CONSTRAINT tree FOREIGN KEY (parent) REFERENCES ?.totals');
  expect(await sink.misfits([totals])).toEqual(new Map());
  await run('ALTER TABLE ?.orders ADD CONSTRAINT has_total FOREIGN KEY (id) REFERENCES ?.totals');
  const drop = expect.stringMatching(/ALTER TABLE "?\w+"?\."?orders"? DROP CONSTRAINT "?has_total"?/);
  expect([...(await sink.misfits([orders, totals])).values()]).toMatchObject([{ topic: orders, message: drop }]);
  await run('ALTER TABLE ?.orders DROP CONSTRAINT has_total');
  expect(await sink.misfits([orders])).toEqual(new Map());
});
