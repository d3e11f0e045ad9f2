import { describe, expect, test } from '@jest/globals';
import { query } from '../stack/database.ts';
import { createTopic, produce } from '../stack/kafka-client.ts';
import { randomName } from '../stack/random-name.ts';
import { runCommand } from '../stack/run-command.ts';
import { startConsumer } from '../stack/start-consumer.ts';
import { until } from '../stack/until.ts';
import { type KeyedRecord, openKeyed } from './open-keyed.ts';

const DDL = `CREATE TABLE ?.orders (id int PRIMARY KEY, total int NOT NULL);
  CREATE TABLE ?.payments (id int PRIMARY KEY, sum int)`;

const openBoth = (orders: object, payments: object, more: Readonly<Record<string, unknown>> = {}) =>
  openKeyed({
    ddl: DDL,
    tables: [
      { table: '?.orders', key: 'id', ...orders },
      { table: '?.payments', key: 'id', ...payments },
    ],
    settings: { deadLetters: { maxRatio: 1 }, ...more },
  });

type Store = Awaited<ReturnType<typeof openBoth>>;

/** Ids in each table, and the places of letters. */
const found = async ({ run, letters }: Store) => {
  const ids = async (table: string) => (await run(`SELECT id FROM ?.${table} ORDER BY id`)).map(({ id }) => id);
  return {
    orders: await ids('orders'),
    payments: await ids('payments'),
    letters: (await letters()).map(({ at, reason }) => `${at} ${reason}`),
  };
};

const order = (id: number, more: object = {}): KeyedRecord => ({ value: { type: 'order', id, total: 1, ...more } });
const payment = (id: number, more: object = {}): KeyedRecord => ({ value: { type: 'payment', id, sum: 1, ...more } });

describe('a topic of several types', () => {
  test('goes into the table that takes each, and what is wrong with a record is wrong there alone', async () => {
    const store = await openBoth({ when: { type: ['order', 'order.changed'] } }, { when: { type: 'payment' } });
    const outcome = await store.write([
      order(1),
      payment(2),
      order(3, { type: 'order.changed' }),
      payment(4, { sum: 'much' }),
      { value: { type: 'order', id: 5 } },
      { value: { type: 'refund', id: 6 } },
    ]);
    expect(await found(store)).toEqual({
      orders: [1, 3],
      payments: [2],
      letters: ['3 value_does_not_fit', '4 missing_value'],
    });
    const of = (name: string) => `${store.schema}.${name}`;
    expect(outcome).toMatchObject({
      tables: {
        operations: [
          { table: of('orders'), operation: 'upsert', records: 2 },
          { table: of('payments'), operation: 'upsert', records: 1 },
        ],
        unmatched: 1,
      },
    });
  });

  test('a record that matches no more leaves the row that an earlier one made', async () => {
    const store = await openBoth({ when: { type: 'order' } }, { when: { type: 'payment' } });
    await store.write([order(1), { value: { type: 'refund', id: 1, total: 2 } }]);
    await store.write([payment(1)]);
    expect(await store.run('SELECT * FROM ?.orders')).toEqual([{ id: 1, total: 1 }]);
  });

  test('a record that is not read by one table is read by the others', async () => {
    const store = await openBoth(
      { when: { '$header.type': 'order' } },
      { key: undefined, when: { '$header.type': 'raw' }, columns: { id: '$offset', sum: false } },
    );
    const raw = { headers: { type: 'raw' }, value: '{no JSON' };
    await store.write([
      raw,
      { ...raw, headers: { type: 'order' } },
      { headers: { type: 'order' }, value: order(3).value },
    ]);
    expect(await found(store)).toEqual({ orders: [3], payments: [0], letters: ['1 invalid_json'] });
  });
});

describe('a delete by the record key', () => {
  test('passes over conditions on fields, and is done in each table of the topic', async () => {
    const store = await openBoth({ when: { type: 'order' } }, { when: { type: 'payment' } });
    await store.write([order(1), order(2), payment(1), payment(2)]);
    await store.write([{ key: '1', value: null }]);
    expect(await found(store)).toMatchObject({ orders: [2], payments: [2] });
  });

  test('is held up by conditions on headers', async () => {
    const when = { type: 'order', '$header.region': ['eu', 'us'] };
    const store = await openBoth({ when }, { when: { type: 'payment' } });
    const eu = { headers: { region: 'eu' } };
    await store.write([{ ...order(1), ...eu }, { ...order(2), ...eu }, order(3)]);
    await store.write([
      { key: '1', value: null },
      { key: '2', value: null, headers: { region: 'us' } },
    ]);
    expect(await found(store)).toMatchObject({ orders: [1] });
  });

  test('is none by a field that deletes: all conditions hold for it', async () => {
    const store = await openBoth({ delete: 'gone', when: { type: 'order' } }, { when: { type: 'payment' } });
    await store.write([order(1), order(2)]);
    await store.write([order(1, { gone: true }), { value: { type: 'refund', id: 2, gone: true } }]);
    expect(await found(store)).toMatchObject({ orders: [2] });
  });

  test('of Debezium passes over conditions on fields as well, and needs the operation that $op names', async () => {
    const event = (op: string, after: object | null) => ({ before: null, after, op });
    const envelope = { envelope: 'debezium' };
    const store = await openBoth(
      { ...envelope, when: { type: 'order' } },
      { ...envelope, when: { $op: ['c', 'u'] }, columns: { sum: 'total' } },
    );
    const row = (id: number, type: string) => ({ key: `{"id":${id}}`, value: event('c', { id, type, total: 1 }) });
    await store.write([row(1, 'order'), row(2, 'order'), row(3, 'other'), row(4, 'order')]);
    expect(await found(store)).toMatchObject({ orders: [1, 2, 4], payments: [1, 2, 3, 4] });
    await store.write([
      { key: '{"id":1}', value: event('d', null) },
      { key: '{"id":2}', value: null },
      { key: null, value: event('t', null) },
    ]);
    expect(await found(store)).toEqual({ orders: [4], payments: [1, 2, 3, 4], letters: ['6 truncate'] });
  });

  test('of a flattened event is one whose fields may be those of the key alone', async () => {
    const store = await openBoth(
      { envelope: 'debezium-flat', when: { type: 'order' } },
      { envelope: 'debezium-flat', when: { '$header.from': 'payments' } },
    );
    const row = (id: number, more: object) => ({ key: `{"id":${id}}`, value: { id, type: null, total: 1, ...more } });
    await store.write([row(1, { type: 'order' }), row(2, { type: 'order' }), row(3, {})]);
    await store.write([row(1, { __deleted: 'true' }), row(2, { __deleted: 'false' })]);
    expect(await found(store)).toEqual({ orders: [2], payments: [], letters: [] });
  });
});

describe('a condition on a large value that Debezium did not send', () => {
  const UNSENT = '__debezium_unavailable_value';
  const changed = (id: number, after: object): KeyedRecord => ({
    key: JSON.stringify({ id }),
    value: { op: 'u', after: { id, total: id, ...after } },
  });

  test('makes a dead letter of the record, unless another condition refuses it', async () => {
    const when = { doc: 'large', '/tags/1': ['x', 'y'], state: 'new' };
    const store = await openBoth({ envelope: 'debezium', when }, { envelope: 'debezium', when: { total: '0' } });
    const sent = { doc: 'large', tags: ['w', 'x'], state: 'new' };
    await store.write([
      changed(1, sent),
      changed(2, { ...sent, doc: UNSENT }),
      changed(3, { ...sent, tags: [UNSENT] }),
      changed(4, { ...sent, doc: UNSENT, tags: [UNSENT] }),
      changed(5, { ...sent, doc: UNSENT, state: 'old' }),
      changed(6, { ...sent, doc: UNSENT, tags: ['x', 'z'] }),
      { key: '{"id":1}', value: { op: 'd', before: { id: 1, doc: UNSENT }, after: null } },
    ]);
    expect(await found(store)).toEqual({
      orders: [],
      payments: [],
      letters: [1, 2, 3].map((at) => `${at} missing_value`),
    });
    const [letter] = await store.run('SELECT error, target, target_column FROM ?.dead_letters');
    expect(letter).toEqual({
      error: `not for ${store.schema}.orders: a condition of when is on a large value that Debezium did not send, as the update did not change it`,
      target: `${store.schema}.orders`,
      target_column: null,
    });
  });

  test('says nothing of the tombstone behind it: each record is judged alone', async () => {
    const tables = [{ table: '?.events', envelope: 'debezium', columns: { event: '$value' }, when: { doc: 'large' } }];
    const ddl = 'CREATE TABLE ?.events (event jsonb)';
    const { write, run, letters } = await openKeyed({ ddl, tables, settings: { deadLetters: { maxRatio: 1 } } });
    const [unsent, tombstone] = [{ value: { op: 'u', after: { id: 1, doc: UNSENT } } }, { value: null }];
    await write([unsent, tombstone, tombstone]);
    await write([tombstone]);
    expect(await run('SELECT FROM ?.events')).toEqual([]);
    expect(await letters()).toEqual([{ at: 0, reason: 'missing_value', column: null }]);
  });

  test('holds where it is on the placeholder itself', async () => {
    const store = await openBoth(
      { envelope: 'debezium', when: { doc: UNSENT } },
      { envelope: 'debezium', when: { total: '0' } },
    );
    await store.write([changed(1, { doc: UNSENT }), changed(2, { doc: 'new' })]);
    expect(await found(store)).toEqual({ orders: [1], payments: [], letters: [] });
  });

  test('is one on the placeholder where the values are no change events', async () => {
    const store = await openBoth({ when: { doc: 'large' } }, { when: { doc: UNSENT } });
    await store.write([payment(1, { doc: UNSENT }), order(2, { doc: 'large' })]);
    expect(await found(store)).toEqual({ orders: [2], payments: [1], letters: [] });
  });
});

describe('a record that no table takes', () => {
  test('is a dead letter where an entry of its topic says so, and the others are written', async () => {
    const store = await openBoth({ when: { type: 'order' } }, { when: { type: 'payment' }, unmatched: 'dead-letter' });
    const outcome = await store.write([order(1), { value: { type: 'refund' } }, payment(2), { value: '[1]' }]);
    expect(await found(store)).toEqual({ orders: [1], payments: [2], letters: ['1 unmatched', '3 unmatched'] });
    expect(outcome).toMatchObject({ deadLetters: new Map([['unmatched', 2]]), tables: { unmatched: 0 } });
  });

  test('moves the offset alone, in a transaction with nothing else as well', async () => {
    const store = await openBoth({ when: { type: 'order' } }, { when: { type: 'payment' } });
    expect(await store.write([{ value: { type: 'refund' } }, { value: {} }])).toMatchObject({
      kind: 'committed',
      tables: { operations: [], unmatched: 2 },
    });
    await store.write([order(1)]);
    expect(await found(store)).toEqual({ orders: [1], payments: [], letters: [] });
    expect(await store.run('SELECT next_offset::int AS next FROM ?.offsets')).toEqual([{ next: 3 }]);
  });
});

/** A consumer with tables by type, and a topic that goes to nothing else. */
async function started(more: object) {
  const [topic, schema] = [await createTopic(), randomName('schema')];
  await query(`CREATE SCHEMA ${schema}; ${DDL.replaceAll('?', schema)}`);
  const tables = ['orders', 'payments'].map((name) => ({
    ...{ topic, table: `${schema}.${name}`, key: 'id', when: { type: name.slice(0, -1) }, ...more },
  }));
  const consumer = await startConsumer({ topics: [], schema, settings: { tables, deadLetters: { maxRatio: 1 } } });
  return { topic, schema, consumer };
}

const values = [order(1), { value: { type: 'refund', secret: 1 } }, payment(2), { value: { type: 'fee' } }];
const messages = values.map(({ value }) => ({ value: JSON.stringify(value) }));

test('a scrape counts what no table takes, by topic, and the fields that no table knows whichever takes the record', async () => {
  const { topic, consumer } = await started({});
  await produce(topic, messages);
  const line = async (name: string) =>
    (await (await consumer.get(consumer.endpoint.prometheusPath)).text())
      .split('\n')
      .find((each) => each.startsWith(`${name}{`) && each.includes(`topic="${topic}"`));
  await until('the count', async () => (await line('consumer_records_unmatched_total'))?.endsWith(' 2') || undefined);
  expect(await line('consumer_unmapped_fields_total')).toMatch(/ 1$/);
});

test('a letter that no table takes stays a letter when it is replayed, until a table takes it', async () => {
  const { topic, schema, consumer } = await started({ unmatched: 'dead-letter' });
  await produce(topic, messages);
  const letters = () =>
    query<{ at: number; reason: string }>(
      `SELECT "offset"::int AS at, reason, target FROM ${schema}.dead_letters ORDER BY 1`,
    );
  await until('the letters', async () => ((await letters().catch(() => [])).length === 2 ? true : undefined));
  consumer.kill('SIGTERM');
  await consumer.exited;
  const replay = () => runCommand(['dead-letters', 'replay', '--config', consumer.configFile], {});
  expect(await replay()).toMatchObject({ code: 1 });
  expect(await letters()).toEqual([1, 3].map((at) => ({ at, reason: 'unmatched', target: null })));
  await query(
    `UPDATE ${schema}.dead_letters SET value = '{"type":"order","id":9,"total":1}'::bytea WHERE "offset" = 1`,
  );
  expect(await replay()).toMatchObject({ code: 1 });
  expect((await letters()).map(({ at }) => at)).toEqual([3]);
  expect(await query(`SELECT id FROM ${schema}.orders ORDER BY id`)).toEqual([{ id: 1 }, { id: 9 }]);
});
