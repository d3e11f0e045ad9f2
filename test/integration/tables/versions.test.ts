import { describe, expect, test } from '@jest/globals';
import { query } from '../stack/database.ts';
import { createTopic, produce } from '../stack/kafka-client.ts';
import { randomName } from '../stack/random-name.ts';
import { runCommand } from '../stack/run-command.ts';
import { startConsumer } from '../stack/start-consumer.ts';
import { until } from '../stack/until.ts';
import { openKeyed } from './open-keyed.ts';

const ROWS = { table: '?.rows', key: 'id', version: 'version', delete: 'gone' };

const openRows = (type = 'int', more: Readonly<Record<string, unknown>> = {}, before = '') =>
  openKeyed({
    ddl: `${before} CREATE TABLE ?.rows (id int PRIMARY KEY, version ${type}, name text)`,
    tables: [{ ...ROWS, ...more }],
  });

const put = (version: unknown, name: string, id = 1) => ({ value: { id, version, name } });
const gone = (version?: unknown, id = 1) => ({ value: { id, version, gone: true } });
const tombstone = { key: '1', value: null };

const namesOf = async ({ run }: Pick<Awaited<ReturnType<typeof openRows>>, 'run'>) =>
  (await run('SELECT name FROM ?.rows ORDER BY id')).map(({ name }) => name);

describe('a record with a version', () => {
  test('replaces a row that is older or as old, and leaves one that is newer as it is', async () => {
    const store = await openRows();
    await store.write([put(2, 'a', 1), put(2, 'a', 2), put(2, 'a', 3)]);
    const versions = () => store.run('SELECT id, xmin::text FROM ?.rows ORDER BY id');
    const before = await versions();
    await store.write([put(3, 'newer', 1), put(2, 'equal', 2), put(1, 'older', 3)]);
    expect(await namesOf(store)).toEqual(['newer', 'equal', 'a']);
    expect((await versions()).at(2)).toEqual(before.at(2));
  });

  test('replaces a row without one', async () => {
    const store = await openRows();
    await store.run("INSERT INTO ?.rows VALUES (1, NULL, 'of another program')");
    await store.write([put(-1, 'a')]);
    expect(await namesOf(store)).toEqual(['a']);
  });

  test('is inserted behind any delete, however old it is', async () => {
    const store = await openRows();
    for (const deletion of [gone(5), tombstone]) {
      await store.write([put(5, 'a')]);
      await store.write([deletion]);
      await store.write([put(1, 'older')]);
      expect(await namesOf(store)).toEqual(['older']);
      await store.write([put(5, 'a'), deletion, put(2, 'older'), put(1, 'oldest')]);
      expect(await namesOf(store)).toEqual(['older']);
    }
  });

  test('deletes by a field unless the row is newer', async () => {
    const store = await openRows();
    await store.write([put(2, 'a', 1), put(2, 'b', 2), put(2, 'c', 3), gone(7, 4)]);
    await store.run("INSERT INTO ?.rows VALUES (5, NULL, 'e')");
    await store.write([gone(3, 1), gone(2, 2), gone(1, 3), gone(0, 5)]);
    expect(await namesOf(store)).toEqual(['c']);
    expect(await store.letters()).toEqual([]);
  });
});

test.each([
  ['a row', { id: 1, name: 'x' }],
  ['a row whose version is null', { id: 1, version: null, name: 'x' }],
  ['a delete by a field', { id: 1, gone: true }],
])('%s without a version is a dead letter, whatever default the column has', async (_, value) => {
  const store = await openRows('int DEFAULT 9');
  await store.write([put(1, 'a'), { value }, put(2, 'b', 2)]);
  expect(await store.letters()).toEqual([{ at: 1, reason: 'missing_value', column: 'version' }]);
  expect(await namesOf(store)).toEqual(['a', 'b']);
});

test('in a transaction with many records of a key, the outcome is that of one after the other', async () => {
  const store = await openRows();
  await store.write([put(3, 'a')]);
  await store.write([gone(2), put(4, 'b'), gone(3), put(3, 'c'), gone(4), put(1, 'd'), put(2, 'e'), put(1, 'f')]);
  expect(await namesOf(store)).toEqual(['e']);
  await store.write([tombstone, put(9, 'g'), gone(8), tombstone, gone(9), put(0, 'h'), gone(-1)]);
  expect(await namesOf(store)).toEqual(['h']);
});

test('in a transaction with equal versions of a key, the last one is left, with and without a row before', async () => {
  const store = await openRows();
  await store.write([put(1, 'a'), put(2, 'b'), put(2, 'c'), put(1, 'd')]);
  expect(await namesOf(store)).toEqual(['c']);
  await store.write([put(2, 'e'), put(2, 'f')]);
  expect(await namesOf(store)).toEqual(['f']);
  await store.write([tombstone, put(1, 'g'), put(1, 'h'), gone(0), put(1, 'i')]);
  expect(await namesOf(store)).toEqual(['i']);
});

test('in a transaction with deletes that have versions, a row without one is older than any', async () => {
  const store = await openRows();
  await store.run("INSERT INTO ?.rows VALUES (1, NULL, 'of another program'), (2, NULL, 'of another program')");
  await store.write([put(-1, 'a'), gone(-1), put(-3, 'b'), gone(-4), gone(-9, 2), put(-9, 'c', 2), gone(-10, 2)]);
  expect(await namesOf(store)).toEqual(['b', 'c']);
});

test('a column that records do not have goes with a row that is deleted, and stays in one that is replaced', async () => {
  const ddl = 'CREATE TABLE ?.rows (id int PRIMARY KEY, version int, name text, visits int NOT NULL DEFAULT 0)';
  const store = await openKeyed({ ddl, tables: [{ ...ROWS, columns: { visits: false } }] });
  await store.write([put(5, 'a', 1), put(5, 'a', 2), put(5, 'a', 3)]);
  await store.run('UPDATE ?.rows SET visits = 7');
  await store.write([gone(4, 1), put(6, 'b', 1), gone(5, 2), put(1, 'b', 2), put(4, 'b', 3), gone(4, 3)]);
  expect(await store.run('SELECT id, name, visits FROM ?.rows ORDER BY id')).toEqual([
    { id: 1, name: 'b', visits: 7 },
    { id: 2, name: 'b', visits: 0 },
    { id: 3, name: 'a', visits: 7 },
  ]);
});

const TYPES: readonly (readonly [type: string, values: readonly [unknown, unknown, unknown], before?: string])[] = [
  // Oldest first, as PostgreSQL orders them; as texts most of them are in another order.
  ['bigint', ['9', 10, '9007199254740993']],
  ['numeric(10,2)', ['9.5', '10', '10.01']],
  ['double precision', ['9', '10', 'NaN']],
  ['timestamptz', ['2026-01-01T00:00:00+02:00', '2026-01-01T00:00:00Z', 'infinity']],
  ['date', ['2025-12-31', '2026-01-01', '2026-01-02']],
  ['interval', ['9 days', '10 days', '1 mon']],
  ['text COLLATE "C"', ['B', 'a', 'b']],
  ['text COLLATE ?.numbers', ['v9', 'v10', 'v11'], `CREATE COLLATION ?.numbers (provider = icu, locale = 'und-u-kn');`],
  ['varchar(3) COLLATE "C"', ['B', 'a', 'b']],
  ['char(3) COLLATE "C"', ['B', 'a', 'b']],
  [
    'uuid',
    ['0190a000-0000-7000-8000-000000000000', '{0190A0000000700080000000000000ff}', '0190a001000070008000000000000000'],
  ],
  ['inet', ['9.0.0.1', '10.0.0.1', '10.0.0.2']],
  ['cidr', ['9.0.0.0/8', '10.0.0.0/8', '10.0.0.0/16']],
  ['pg_lsn', ['9/0', '10/0', '10/A']],
  ['bit varying', ['0', '01', '1']],
  ['bytea', ['AQ==', 'Ag==', 'Av8=']],
  ['jsonb', ['10', 9, 10]],
  ['int[]', [[1, 9], [1, 10], [2]]],
  ['int4range', ['[1,9)', '[1,10)', '[2,3)']],
  ['?.mood', ['new', 'good', 'bad'], `CREATE TYPE ?.mood AS ENUM ('new', 'good', 'bad');`],
  ['?.pair', ['(1,9)', '(1,10)', '(2,0)'], 'CREATE TYPE ?.pair AS (major int, minor int);'],
  ['?.counted', [9, 10, 11], 'CREATE DOMAIN ?.counted AS bigint NOT NULL CHECK (VALUE > 0);'],
];

describe('a version of the type', () => {
  test.each(TYPES)('%s is compared as PostgreSQL orders it', async (type, [oldest, older, newest], before = '') => {
    const store = await openRows(type, {}, before);
    await store.write([put(oldest, 'a')]);
    await store.write([put(newest, 'b')]);
    await store.write([put(older, 'c')]);
    expect(await namesOf(store)).toEqual(['b']);
    await store.write([put(newest, 'd'), put(oldest, 'e'), gone(oldest), put(older, 'f')]);
    expect(await namesOf(store)).toEqual(['d']);
    await store.write([
      gone(newest),
      put(older, 'g'),
      put(oldest, 'h'),
      put(older, 'i'),
      gone(oldest),
      put(oldest, 'j'),
    ]);
    expect(await store.letters()).toEqual([]);
    expect(await namesOf(store)).toEqual(['i']);
  });

  test('citext is compared without case, by the operators of its schema', async () => {
    // Other test files may make it at the same moment.
    await query('CREATE EXTENSION IF NOT EXISTS citext').catch(() => undefined);
    const [found] = await query<{ schema: string }>(
      "SELECT extnamespace::regnamespace::text AS schema FROM pg_extension WHERE extname = 'citext'",
    );
    const store = await openRows(`${found?.schema}.citext`);
    await store.write([put('b', 'a')]);
    await store.write([put('A', 'older'), gone('a'), put('B', 'equal')]);
    expect(await namesOf(store)).toEqual(['equal']);
  });
});

describe('beside a transaction that changes the row meanwhile', () => {
  test.each([
    ['a row', [put(2, 'ours')], ['theirs']],
    ['a delete', [gone(2)], ['theirs']],
    ['a delete and a row', [gone(2), put(1, 'ours')], ['theirs']],
    ['a row that is newer', [put(9, 'ours')], ['ours']],
  ])('%s is compared with what that has written', async (_, records, names) => {
    const store = await openRows();
    await store.write([put(1, 'a')]);
    const [session] = await store.run('SELECT pg_backend_pid() AS pid');
    await store.run("BEGIN; UPDATE ?.rows SET version = 5, name = 'theirs'");
    const written = store.write(records);
    await until('our transaction to wait', async () =>
      (await query('SELECT FROM pg_stat_activity WHERE $1 = ANY (pg_blocking_pids(pid))', [session?.['pid']])).at(0),
    );
    await store.run('COMMIT');
    expect(await written).toMatchObject({ kind: 'committed' });
    expect(await namesOf(store)).toEqual(names);
  });
});

test('a row trigger that may drop rows is no obstacle to a record that is older', async () => {
  const ddl = `CREATE TABLE ?.rows (id int PRIMARY KEY, version int, name text);
    CREATE FUNCTION ?.pass() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
    CREATE TRIGGER pass BEFORE INSERT ON ?.rows FOR EACH ROW EXECUTE FUNCTION ?.pass()`;
  const store = await openKeyed({ ddl, tables: [ROWS] });
  await store.write([put(5, 'a'), put(5, 'b', 2)]);
  await store.write([put(4, 'older'), put(6, 'newer', 2), put(5, 'between', 2), gone(1)]);
  expect(await namesOf(store)).toEqual(['a', 'newer']);
});

describe('a letter that is replayed', () => {
  /** A consumer that has made letters of what is too long, and is stopped; then the column takes it. */
  async function openLetters() {
    const [topic, schema] = [await createTopic(), randomName('schema')];
    const run = (sql: string) => query(sql.replaceAll('?', schema));
    await run('CREATE SCHEMA ?; CREATE TABLE ?.rows (id int PRIMARY KEY, version int, name varchar(5))');
    const tables = [{ topic, table: `${schema}.rows`, key: 'id', version: 'version', delete: 'gone' }];
    const values = [
      { id: 1, version: 1, name: 'too old' },
      { id: 2, version: 7, name: 'too new' },
      { id: 3, version: 1, name: 'alone...' },
      { id: 1, version: 5, name: 'now' },
      { id: 2, version: 5, name: 'now' },
      { id: 'four', version: 1, gone: true },
      { id: 'five', version: 9, gone: true },
      { id: 4, version: 5, name: 'now' },
      { id: 5, version: 5, name: 'now' },
      { id: 6, version: 5, name: 'now' },
    ];
    await produce(topic, [...values.map((value) => ({ value: JSON.stringify(value) })), { key: 'six', value: null }]);
    const consumer = await startConsumer({ topics: [], schema, settings: { tables, deadLetters: { maxRatio: 1 } } });
    await until('the letters', async () =>
      (await run('SELECT FROM ?.dead_letters').catch(() => [])).length === 6 ? true : undefined,
    );
    consumer.kill('SIGTERM');
    await consumer.exited;
    await run(`ALTER TABLE ?.rows ALTER name TYPE text;
      UPDATE ?.dead_letters SET value = convert_to(replace(replace(convert_from(value, 'UTF8'), '"four"', '4'), '"five"', '5'), 'UTF8'),
        key = CASE WHEN value IS NULL THEN '6'::bytea END`);
    const replay = (...more: string[]) =>
      runCommand(['dead-letters', 'replay', '--config', consumer.configFile, ...more], {});
    const rows = async () =>
      (await run('SELECT id, name FROM ?.rows ORDER BY id')).map((row) => Object.values(row).join(' '));
    return { run, replay, rows };
  }

  test('replaces and deletes what is not newer, and is done with either way; one without a version needs consent', async () => {
    const { run, replay, rows } = await openLetters();
    expect(await rows()).toEqual(['1 now', '2 now', '4 now', '5 now', '6 now']);
    expect(await replay()).toMatchObject({ code: 1, stderr: expect.stringContaining('5 moved, 1 present already') });
    expect(await rows()).toEqual(['1 now', '2 too new', '3 alone...', '4 now', '6 now']);
    expect(await run('SELECT "offset"::int AS at FROM ?.dead_letters')).toEqual([{ at: 10 }]);
    expect(await replay('--overwrite')).toMatchObject({ code: 0 });
    expect(await rows()).toEqual(['1 now', '2 too new', '3 alone...', '4 now']);
  });
});
