import { describe, expect, test } from '@jest/globals';
import { OutageError } from '../../../app/stream/ports/stream-errors.ts';
import { query } from '../stack/database.ts';
import { startPgBouncer } from '../stack/pgbouncer.ts';
import { randomName } from '../stack/random-name.ts';
import { connect } from '../store/open-store.ts';
import { type KeyedRecord, keyedRequest, openKeyed } from './open-keyed.ts';

const put = (id: number, more: object = {}) => ({ value: { id, ...more } });

/** Values of columns that some take and others refuse. */
const TYPES: Readonly<Record<string, readonly unknown[]>> = {
  text: ['', '\t\n\r\\', '\\N', '\\D', '\\.', 'ä😀', '\u000b', "'; DROP TABLE x; --", '\u0000', '\ufeffx'],
  'varchar(3)': ['abc', 'abc  ', 'abcd', 'äöü'],
  'char(3)': ['a', 'abc ', 'abcd'],
  'numeric(6,2)': ['1.005', 1.995, 'NaN', 12345, 'x', 'Infinity'],
  'numeric(6,2)[]': ['{1.005,2}', [1.995, null], '{12345}'],
  'varchar(2)[]': ['{ab,"c "}', '{abc}', ['a', 'bc']],
  'bit(3)': ['101', '10', '1011'],
  'varbit(3)': ['10', '1011'],
  'timestamp(0)': ['2024-02-29 23:59:59.5', '2024-02-30 00:00:00', '01/02/2024'],
  'timestamptz(3)': ['2024-01-01 10:00:00.0005', '2024-01-01 10:00:00+02'],
  'time(0)': ['10:00:00.5', '25:00'],
  date: ['2024-01-02', '02/03/2024', 'today'],
  interval: ['1', '1 year 2 months', 'P1Y', '5'],
  bytea: ['\\x00ff', '\\\\', 'abc', '\\x0'],
  jsonb: [{ a: ['\t', '\\'] }, '"\\u0000"', null],
  uuid: ['{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}', 'x'],
  boolean: [true, 'off', 'o'],
  regclass: ['pg_class', 'nowhere'],
  int4range: ['[1,3)', '[3,1)'],
  '?.few': ['{a}', '{a,b,c,d}'],
  '?.year': ['5'],
};

const cut = <Each>(all: readonly Each[], length: number): readonly (readonly Each[])[] =>
  Array.from({ length: Math.ceil(all.length / length) }, (_, nth) => all.slice(nth * length, (nth + 1) * length));

describe('a few rows of a transaction', () => {
  test('are what a stage makes of them, whatever their columns are', async () => {
    const columns = Object.keys(TYPES).map((type, nth) => `v${nth} ${type}`);
    const ddl = `CREATE DOMAIN ?.few AS text[] CHECK (cardinality(VALUE) < 4); CREATE DOMAIN ?.year AS interval year;
      CREATE TABLE ?.all (id int PRIMARY KEY, ${columns.join(', ')})`;
    const values = Object.values(TYPES).flatMap((each, nth) => each.map((value) => ({ [`v${nth}`]: value })));
    const records = values.map((value, id) => put(id, value));
    const outcome = async (batches: readonly (readonly KeyedRecord[])[]) => {
      const { write, run, letters } = await openKeyed({ ddl, tables: [{ table: '?.all', key: 'id' }] });
      for (const batch of batches) {
        await write(batch);
      }
      return { rows: await run('SELECT id, t::text FROM ?.all AS t ORDER BY id'), letters: await letters() };
    };
    const alone = await outcome(cut(records, 1));
    const byStage = await outcome([records]);
    expect(alone).toEqual(byStage);
    expect(await outcome(cut(records, 3))).toEqual(byStage);
    expect(alone.rows.length + alone.letters.length).toBe(records.length);
    expect(alone.letters.length).toBeGreaterThan(20);
  });

  test('of an interval year are in years, as COPY reads it', async () => {
    const ddl = 'CREATE TABLE ?.terms (id int PRIMARY KEY, term interval year)';
    const { write, run } = await openKeyed({ ddl, tables: [{ table: '?.terms', key: 'id' }] });
    await write([put(1, { term: '5' })]);
    expect(await run('SELECT term::text FROM ?.terms')).toEqual([{ term: '5 years' }]);
  });

  test('are read by our settings, whatever the session has', async () => {
    const ddl = 'CREATE TABLE ?.days (id int PRIMARY KEY, at timestamptz, span interval)';
    const database = randomName('database');
    await query(`CREATE DATABASE ${database}`);
    await query(
      `ALTER DATABASE ${database} SET IntervalStyle = 'sql_standard'; ALTER DATABASE ${database} SET TimeZone = 'Asia/Tokyo'`,
    );
    const { write, run } = await openKeyed({ ddl, tables: [{ table: '?.days', key: 'id' }], database });
    await write([put(1, { at: '2024-01-02 10:00:00', span: '-1 2:03:04' })]);
    expect(
      await run(
        `SELECT at = '2024-01-02 10:00:00+00' AS at, span = '-86400 s'::interval + '2:03:04' AS span FROM ?.days`,
      ),
    ).toEqual([{ at: true, span: true }]);
  });

  test.each([1, 2, 3, 4])(
    'replace the rows of their keys, or keep them, by the same rules: %d at once',
    async (many) => {
      const ddl = `CREATE TABLE ?.last (id int PRIMARY KEY, n int, own int DEFAULT 7);
      CREATE TABLE ?.first (LIKE ?.last INCLUDING ALL); CREATE TABLE ?.newest (LIKE ?.last INCLUDING ALL)`;
      const columns = { own: false };
      const tables = [
        { table: '?.last', key: 'id', columns },
        { table: '?.first', key: 'id', existing: 'keep', columns },
        { table: '?.newest', key: 'id', version: 'n', columns },
      ];
      const { write, run } = await openKeyed({ ddl, tables });
      const records = [put(1, { n: 2 }), put(1, { n: 3 }), put(2, { n: 0 }), put(1, { n: 1 })];
      for (const batch of cut(records, many)) {
        await write(batch);
      }
      const rowOf = (table: string) => `SELECT n, own, xmin::text AS by FROM ?.${table} WHERE id = 1`;
      const rows = ['last', 'first', 'newest'].map(rowOf).join(' UNION ALL ');
      const before = await run(rows);
      expect(before.map(({ n, own }) => [n, own])).toEqual([
        [1, 7],
        [2, 7],
        [3, 7],
      ]);
      await write([put(1, { n: 1 })]);
      // A row that is there byte for byte is not written again.
      expect(await run(rows)).toEqual(before);
    },
  );

  test('are dead letters for the column that refuses them, and rows in none of their tables', async () => {
    const ddl = `CREATE TABLE ?.log (id int, n int); CREATE TABLE ?.sums (id int PRIMARY KEY, n int CHECK (n < 100));
      CREATE TABLE ?.shops (id int PRIMARY KEY, n smallint)`;
    const tables = [{ table: '?.shops', key: 'id' }, { table: '?.log' }, { table: '?.sums', key: 'id' }];
    const { write, run, letters } = await openKeyed({ ddl, tables });
    await write([put(1, { n: 1 }), put(2, { n: 1000 }), put(3, { n: 100_000 })]);
    const all = ['log', 'sums', 'shops'].map((table) => `SELECT '${table}' AS "table", id, n FROM ?.${table}`);
    expect(await run(all.join(' UNION ALL '))).toEqual(
      ['log', 'sums', 'shops'].map((table) => ({ table, id: 1, n: 1 })),
    );
    expect(await letters()).toEqual([
      { at: 1, reason: 'constraint_violated', column: 'n' },
      { at: 2, reason: 'value_does_not_fit', column: 'n' },
    ]);
  });

  test('are in none of their tables when one that takes rows by COPY refuses them behind', async () => {
    const ddl = `CREATE TABLE ?.shops (id int PRIMARY KEY, n int); CREATE TABLE ?.log (id int, n int CHECK (n < 100))`;
    const tables = [{ table: '?.shops', key: 'id' }, { table: '?.log' }];
    const { write, run, letters } = await openKeyed({ ddl, tables });
    await write([put(1, { n: 1000 })]);
    await write([put(2, { n: 1 })]);
    expect(await run('SELECT id FROM ?.shops UNION ALL SELECT id FROM ?.log')).toEqual([{ id: 2 }, { id: 2 }]);
    expect(await letters()).toEqual([{ at: 0, reason: 'constraint_violated', column: 'n' }]);
  });

  test('are written together where they refer to each other: the child may come first', async () => {
    const ddl = 'CREATE TABLE ?.nodes (id int PRIMARY KEY, parent int REFERENCES ?.nodes)';
    const tables = [{ table: '?.nodes', key: 'id' }];
    const { sink, topic, run, letters } = await openKeyed({ ddl, tables, partitions: 2 });
    const writes = [put(2, { parent: 1 }), put(1, { parent: null })].map((record, partition) =>
      sink.write(keyedRequest(topic, 0n, [record], partition)),
    );
    const outcomes = await Promise.all(writes);
    expect(outcomes.map(({ kind }) => kind)).toEqual(['committed', 'committed']);
    expect(await run('SELECT id, parent FROM ?.nodes ORDER BY id')).toEqual([
      { id: 1, parent: null },
      { id: 2, parent: 1 },
    ]);
    expect(await letters()).toEqual([]);
  });

  test('are not written when the offset is not the expected one', async () => {
    const ddl = 'CREATE TABLE ?.sums (id int PRIMARY KEY)';
    const { write, run, sink, topic } = await openKeyed({ ddl, tables: [{ table: '?.sums', key: 'id' }] });
    await write([put(1)]);
    expect(await sink.write(keyedRequest(topic, 0n, [put(2), put(3)]))).toEqual({ kind: 'fenced' });
    expect(await run('SELECT id FROM ?.sums')).toEqual([{ id: 1 }]);
  });

  test.each([
    ['was altered', 'ALTER TABLE ?.sums ALTER n SET NOT NULL'],
    [
      'has a trigger by now that drops rows',
      `CREATE FUNCTION ?.drop() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
       CREATE TRIGGER gone BEFORE INSERT ON ?.sums FOR EACH ROW EXECUTE FUNCTION ?.drop()`,
    ],
  ])('stay ahead of the stored offset when their table %s', async (_, ddl) => {
    const tables = [{ table: '?.sums', key: 'id' }];
    const { write, run, letters } = await openKeyed({ ddl: 'CREATE TABLE ?.sums (id int PRIMARY KEY, n int)', tables });
    await write([put(1, { n: 1 })]);
    await run(ddl);
    await expect(write([put(2, { n: 2 }), put(3, { n: 3 })])).rejects.toThrow('was altered');
    expect(await run('SELECT id FROM ?.sums')).toEqual([{ id: 1 }]);
    expect(await run('SELECT next_offset::int AS at FROM ?.offsets')).toEqual([{ at: 1 }]);
    expect(await letters()).toEqual([]);
  });
});

test('rows are read by the type that a column has now, whatever statement the session has kept', async () => {
  const ddl = 'CREATE TABLE ?.sums (id int PRIMARY KEY, code int)';
  const { write, run } = await openKeyed({ ddl, tables: [{ table: '?.sums', key: 'id' }] });
  await write([put(1, { code: '007' })]);
  await run('ALTER TABLE ?.sums ALTER code TYPE text');
  await expect(write([put(2, { code: '007' })])).rejects.toThrow('was altered');
  for (const id of [2, 3]) {
    await write([put(id, { code: '007' })]);
  }
  expect(await run('SELECT id, code FROM ?.sums ORDER BY id')).toEqual([
    { id: 1, code: '7' },
    { id: 2, code: '007' },
    { id: 3, code: '007' },
  ]);
});

test('partitions that were written together are so where the session lacks what another one has kept', async () => {
  const ddl = 'CREATE TABLE ?.sums (id int PRIMARY KEY, n int)';
  const settings = { database: { poolSize: 1 } };
  const tables = [{ table: '?.sums', key: 'id' }];
  const { write, run, pool } = await openKeyed({ ddl, tables, settings, partitions: 2 });
  for (const n of [1, 2]) {
    await Promise.all([write([put(1, { n })], 0), write([put(2, { n })], 1)]);
    expect(await run('SELECT n, count(DISTINCT xmin::text)::int AS by FROM ?.sums GROUP BY n')).toEqual([{ n, by: 1 }]);
    await pool.withClient((client) => client.query('DEALLOCATE ALL'));
  }
});

test('a row that a trigger drops, which the consumer knows of, ends it: the record is nowhere', async () => {
  const ddl = `CREATE TABLE ?.sums (id int PRIMARY KEY, n int);
    CREATE FUNCTION ?.drop() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
    CREATE TRIGGER gone BEFORE INSERT ON ?.sums FOR EACH ROW EXECUTE FUNCTION ?.drop()`;
  const { write, run } = await openKeyed({ ddl, tables: [{ table: '?.sums', key: 'id' }] });
  await expect(write([put(1)])).rejects.toMatchObject({ code: 'ROWS_DROPPED' });
  expect(await run('SELECT next_offset::int AS at FROM ?.offsets')).toEqual([{ at: 0 }]);
});

test.each(['first', 'second', 'third'])('the table that holds up rows is named: the %s of three', async (held) => {
  const all = ['first', 'second', 'third'];
  const ddl = all.map((table) => `CREATE TABLE ?.${table} (id int PRIMARY KEY, n int)`).join(';');
  const tables = all.map((table) => ({ table: `?.${table}`, key: 'id' }));
  const settings = { database: { statementTimeout: '1s' } };
  const { write, run, schema } = await openKeyed({ ddl, tables, settings });
  await write([put(1, { n: 1 }), put(2, { n: 1 })]);
  const other = await connect();
  for (const lock of [
    `UPDATE ${schema}.${held} SET n = 7 WHERE id = 2`,
    `LOCK TABLE ${schema}.${held} IN EXCLUSIVE MODE`,
  ]) {
    await other.query(`BEGIN; ${lock}`);
    const error = await write([put(1, { n: 2 }), put(2, { n: 2 })]).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(OutageError);
    expect(error).toMatchObject({ table: `${schema}.${held}`, isLockWait: true });
    await other.query('ROLLBACK');
  }
  expect(await run(`SELECT DISTINCT n FROM ?.${held}`)).toEqual([{ n: 1 }]);
});

test('rows of tables that get two each go through PgBouncer, which lends two sessions for transactions', async () => {
  const all = Array.from({ length: 12 }, (_, nth) => `t${nth}`);
  const ddl = all.map((table) => `CREATE TABLE ?.${table} (id int PRIMARY KEY, n int CHECK (n < 9))`).join(';');
  const tables = [...all.map((table) => ({ table: `?.${table}`, key: 'id' })), { table: '?.log' }];
  const settings = { default_pool_size: 2, ignore_startup_parameters: 'options' };
  const { url } = await startPgBouncer({ mode: 'transaction', settings });
  const partitions = 8;
  const made = `${ddl}; CREATE TABLE ?.log (id int, n int)`;
  const { write, run, letters } = await openKeyed({ ddl: made, tables, partitions, url });
  for (const n of [1, 2, 9, 3]) {
    await Promise.all(
      Array.from({ length: partitions }, (_, partition) =>
        write([put(2 * partition, { n }), put(2 * partition + 1, { n })], partition),
      ),
    );
  }
  const rows = all.map((table) => `SELECT n, count(*)::int AS rows FROM ?.${table} GROUP BY n`).join(' UNION ');
  expect(await run(rows)).toEqual([{ n: 3, rows: 2 * partitions }]);
  expect(await run('SELECT count(*)::int AS rows FROM ?.log')).toEqual([{ rows: 6 * partitions }]);
  expect(await letters()).toHaveLength(2 * partitions);
});
