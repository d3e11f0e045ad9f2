import { describe, expect, test } from '@jest/globals';
import { aRequest } from '../store/open-store.ts';
import { openTables } from './open-tables.ts';

const TWO = { orders: 'id int, name text', 'odd"; -- (name)': 'id int, name text' };
const [, ODD] = Object.keys(TWO) as [string, string];

const COMMITTED = { kind: 'committed', deadLetters: new Map() };

const good = (id: number) => JSON.stringify({ id, name: `name ${id}` });
const appended = (table: string, records: number) => (records === 0 ? [] : [{ table, operation: 'append', records }]);

const all = [0, 1, 2, 3, 4];

test('one transaction writes records and two tables, and moves the offset', async () => {
  const { sink, topic, schema, stored, run } = await openTables({ tables: TWO });
  const outcome = await sink.write(aRequest(topic, 0n, all.map(good)));
  const operations = Object.keys(TWO).flatMap((table) => appended(`${schema}.${table}`, 5));
  expect(outcome).toMatchObject({ ...COMMITTED, rows: new Map([['copy', 5]]), tables: { operations } });
  expect(await stored()).toEqual({ orders: all, [ODD]: all, records: all, letters: [], offset: 5 });
  const transactions = `SELECT xmin::text FROM ?.records UNION SELECT xmin::text FROM ?.orders
    UNION SELECT xmin::text FROM ?."${ODD.replaceAll('"', '""')}" UNION SELECT xmin::text FROM ?.offsets WHERE partition = 0`;
  expect(await run(transactions)).toHaveLength(1);
});

test('a topic that is not in kafka.topics goes to its tables alone', async () => {
  const { sink, topic, stored } = await openTables({ tables: TWO, inRecords: false });
  await sink.write(aRequest(topic, 0n, all.map(good)));
  expect(await stored()).toEqual({ orders: all, [ODD]: all, records: [], letters: [], offset: 5 });
});

test('a record without a row for a table is in the others, and one without any moves the offset alone', async () => {
  const { sink, topic, schema, stored } = await openTables({ tables: TWO, inRecords: false });
  await sink.write(aRequest(topic, 0n, ['{}', good(1), '{}', good(3)]));
  expect(await stored()).toEqual({ orders: [1, 3], [ODD]: [1, 3], records: [], letters: [], offset: 4 });
  const outcome = await sink.write(aRequest(topic, 4n, ['{}', '{}']));
  const operations = Object.keys(TWO).map((table) => ({ table: `${schema}.${table}`, operation: 'skip', records: 2 }));
  expect(outcome).toMatchObject({ ...COMMITTED, rows: new Map([['copy', 2]]), tables: { operations } });
  expect(await stored()).toMatchObject({ orders: [1, 3], letters: [], offset: 6 });
});

/** What refuses a row in each of the tables, with the values that it refuses. */
const POISON = [
  ['the first table', 'orders', 'CHECK (id < 100)', { reason: 'constraint_violated', target_column: 'id' }],
  ['the last table', ODD, 'CHECK (id < 100)', { reason: 'constraint_violated', target_column: 'id' }],
] as const;

describe('a record that one table refuses is a row in none, and the others are in all', () => {
  describe.each(POISON)('of %s', (_, table, check, letter) => {
    test.each([
      ['the first', [0]],
      ['one in the middle', [2]],
      ['the last', [4]],
      ['two', [1, 3]],
      ['the first three', [0, 1, 2]],
      ['each', all],
    ])('when it is %s', async (_name, bad) => {
      const { sink, topic, schema, stored, letters } = await openTables({
        tables: { ...TWO, [table]: `id int ${check}, name text` },
      });
      const values = all.map((id) => (bad.includes(id) ? JSON.stringify({ id: 100 + id, name: 'x' }) : good(id)));
      const outcome = await sink.write(aRequest(topic, 0n, values));
      const rows = all.filter((id) => !bad.includes(id));
      expect(outcome).toMatchObject({
        deadLetters: new Map([[letter.reason, bad.length]]),
        rows: new Map([['copy', rows.length]]),
        tables: {
          operations: Object.keys(TWO).flatMap((each) => appended(`${schema}.${each}`, rows.length)),
          deadLetters: [
            { table: `${schema}.${table}`, column: letter.target_column, reason: letter.reason, records: bad.length },
          ],
        },
      });
      expect(await stored()).toEqual({ orders: rows, [ODD]: rows, records: rows, letters: bad, offset: 5 });
      const target = `${schema}.${table}`;
      expect(await letters()).toMatchObject(bad.map((offset) => ({ offset, ...letter, target })));
    });
  });

  test('when records without a row come before it', async () => {
    const tables = { orders: 'id int, name text', [ODD]: 'id date, name text' };
    const { sink, topic, schema, run, letters } = await openTables({ tables, inRecords: false });
    const values = ['{}', '{"id":"2024-01-01"}', '{}', '{}', '{"id":7}', '{}', '{"id":8}'];
    await sink.write(aRequest(topic, 0n, values));
    expect(await run('SELECT id FROM ?.orders')).toEqual([]);
    const ofOrders = { reason: 'value_does_not_fit', target: `${schema}.orders`, target_column: 'id' };
    const ofOdd = { ...ofOrders, target: `${schema}.${ODD}` };
    expect(await letters()).toMatchObject([
      { offset: 1, ...ofOrders },
      { offset: 4, ...ofOdd },
      { offset: 6, ...ofOdd },
    ]);
  });

  test('when records and both tables refuse one each, and one has no JSON', async () => {
    const tables = { orders: 'id int CHECK (id <> 1), name text', [ODD]: 'id int CHECK (id <> 3), name text' };
    const sql = 'ALTER TABLE ?.records ADD CHECK (value <> \'{"id":2,"name":"name 2"}\')';
    const { sink, topic, schema, stored, letters } = await openTables({ tables, sql });
    await sink.write(aRequest(topic, 0n, [...all.map(good), '{poison']));
    expect(await stored()).toEqual({
      orders: [0, 4],
      [ODD]: [0, 4],
      records: [0, 4],
      letters: [1, 2, 3, 5],
      offset: 6,
    });
    expect(await letters()).toMatchObject([
      { reason: 'constraint_violated', target: `${schema}.orders`, target_column: 'id' },
      { reason: 'rejected_by_database', target: null, target_column: null },
      { reason: 'constraint_violated', target: `${schema}.${ODD}`, target_column: 'id' },
      { reason: 'invalid_json', target: null, target_column: null },
    ]);
  });
});
