import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Client, PoolClient, QueryResult } from 'pg';
import { CopyQuery } from '../../../app/store/copy/binary-copy.ts';
import { joinedGuards } from '../../../app/store/tables/table-guard.ts';
import { guardOf } from '../../../app/tables/mapping/fingerprint-guard.ts';
import { readMappings } from '../../../app/tables/mapping/read-mappings.ts';
import { query } from '../stack/database.ts';
import { randomName } from '../stack/random-name.ts';
import { until } from '../stack/until.ts';
import { connect } from '../store/open-store.ts';

const schema = randomName('schema');
const role = `${schema}_writer`;
const NO_ROWS = [{ format: 'binary', rows: [] }] as const;

beforeAll(() => query(`CREATE SCHEMA ${schema}`));
afterAll(() => query(`DROP SCHEMA ${schema} CASCADE`));

/** A table of these columns, its mapping, and a way to send a COPY behind the guard of the mapping. */
async function guarded({
  columns = 'id int, total numeric(10,2) DEFAULT 7, note text',
  suffix = '',
  as = '',
  key = '',
} = {}) {
  const table = randomName('table');
  const client = await connect();
  const inSchema = (sql: string) => query(`SET search_path TO ${schema}; ${sql.replaceAll('?', table)}`);
  await inSchema(`CREATE TABLE ? (${columns}) ${suffix}`);
  await inSchema(as === '' ? 'SELECT' : `GRANT ${as} ON ? TO ${role}`);
  await client.query(as === '' ? 'SELECT' : `SET ROLE ${role}`);
  const settings = {
    ...{ topics: ['t'], schema, table, fields: 'same' as const, columns: {} },
    key: key === '' ? null : { columns: [key], existing: 'replace' as const, delete: 'tombstones' as const },
  };
  const [mapping] = (await readMappings(client, [settings], 'another')).mappings;
  if (mapping === undefined) {
    throw new Error('the mapping of this test is wrong');
  }
  return { table, client, mapping, inSchema, isAsKnown: () => isAsKnown(client, mapping, table) };
}

type GuardedMapping = Parameters<typeof guardOf>[0];

/** The guard of a transaction with rows of these tables. */
function stepsOf(...mappings: readonly GuardedMapping[]) {
  const { ofTables, comparisons } = joinedGuards(mappings.map(guardOf));
  return [...ofTables.flat(), ...comparisons];
}

/** Whether the rows would have been sent. */
async function isAsKnown(client: Client, mapping: GuardedMapping, table: string) {
  const steps = stepsOf(mapping);
  const copying = `COPY ${schema}.${table} (id) FROM STDIN (FORMAT binary)`;
  const isSame = (completed: readonly string[]) =>
    steps.every(({ tag }, nth) => completed.at(nth - steps.length) === tag);
  const copy = new CopyQuery(['BEGIN', ...steps.map(({ sql }) => sql), copying].join('; '), NO_ROWS, isSame);
  try {
    await client.query(copy).tags;
    return !copy.isDeclined;
  } finally {
    await client.query('ROLLBACK');
  }
}

const NOTICED = [
  ['a column is added', 'ALTER TABLE ? ADD more int'],
  ['a column is dropped', 'ALTER TABLE ? DROP note'],
  ['a column is renamed', 'ALTER TABLE ? RENAME note TO notes'],
  ['a column is replaced by another of its name', 'ALTER TABLE ? DROP note, ADD note varchar(10)'],
  ['a type is altered', 'ALTER TABLE ? ALTER id TYPE bigint'],
  ['only the modifier of a type is altered', 'ALTER TABLE ? ALTER total TYPE numeric(12,2)'],
  ['NOT NULL is set', 'ALTER TABLE ? ALTER note SET NOT NULL'],
  ['a default is dropped', 'ALTER TABLE ? ALTER total DROP DEFAULT'],
  ['a default is set', "ALTER TABLE ? ALTER note SET DEFAULT ''"],
  ['an identity is added', 'ALTER TABLE ? ALTER id SET NOT NULL, ALTER id ADD GENERATED ALWAYS AS IDENTITY'],
  [
    'the table is swapped by RENAME',
    'CREATE TABLE ?_new (LIKE ? INCLUDING ALL); ALTER TABLE ? RENAME TO ?_old; ALTER TABLE ?_new RENAME TO ?',
  ],
  ['the table is made anew', 'DROP TABLE ?; CREATE TABLE ? (id int, total numeric(10,2) DEFAULT 7, note text)'],
  ['a crash would empty the table from now on', 'ALTER TABLE ? SET UNLOGGED'],
  ['row-level security is enabled', 'ALTER TABLE ? ENABLE ROW LEVEL SECURITY'],
] as const;

describe('no row is sent', () => {
  test.each(NOTICED)('when %s', async (_, ddl) => {
    const { inSchema, isAsKnown } = await guarded();
    expect(await isAsKnown()).toBe(true);
    await inSchema(ddl);
    expect(await isAsKnown()).toBe(false);
  });

  test.each([
    ['the default of a column is another', 'ALTER TABLE ? ALTER total SET DEFAULT 8'],
    ['the unique index of the key is dropped', 'DROP INDEX ?_ids'],
    ['a constraint over the key is added', 'ALTER TABLE ? ADD UNIQUE (id) DEFERRABLE'],
    ['a rule is made', 'CREATE RULE nowhere AS ON DELETE TO ? DO INSTEAD NOTHING'],
    ['row-level security is enabled', 'ALTER TABLE ? ENABLE ROW LEVEL SECURITY'],
    ['a column is added', 'ALTER TABLE ? ADD more int'],
  ])('into the stage of a table with a key when %s', async (_, ddl) => {
    const indexed = 'id int, total numeric(10,2) DEFAULT 7, note text); CREATE UNIQUE INDEX ?_ids ON ? (id';
    const { inSchema, isAsKnown } = await guarded({ columns: indexed, key: 'id' });
    expect(await isAsKnown()).toBe(true);
    await inSchema('CREATE INDEX ON ? (note)');
    expect(await isAsKnown()).toBe(true);
    await inSchema(ddl);
    expect(await isAsKnown()).toBe(false);
  });

  test.each([0, 1, 2])('of any table of a transaction when one of three, the %ith, is altered', async (nth) => {
    const tables = [
      await guarded({ columns: 'id int PRIMARY KEY, note text', key: 'id' }),
      await guarded(),
      await guarded(),
    ];
    const steps = stepsOf(...tables.map(({ mapping }) => mapping));
    const [{ client } = await guarded()] = tables;
    const isAsKnown = async () => {
      const results: unknown = await client.query(['BEGIN', ...steps.map(({ sql }) => sql), 'ROLLBACK'].join('; '));
      const tags = (results as readonly QueryResult[]).map(({ command, rowCount }) => `${command} ${rowCount}`);
      return steps.every(({ tag }, at) => !tag.startsWith('SELECT') || tags[at + 1] === tag);
    };
    expect(await isAsKnown()).toBe(true);
    await tables[nth]?.inSchema('ALTER TABLE ? ALTER note SET NOT NULL');
    expect(await isAsKnown()).toBe(false);
  });

  test.each([
    ['is gone', 'DROP TABLE ?'],
    ['has another name', 'ALTER TABLE ? RENAME TO ?_old'],
  ])('and PostgreSQL says so, when the table %s', async (_, ddl) => {
    const { inSchema, isAsKnown } = await guarded();
    await inSchema(ddl);
    await expect(isAsKnown()).rejects.toMatchObject({ code: '42P01' });
  });

  test.each([
    ['altered', 'ALTER TABLE ? ALTER note SET NOT NULL'],
    ['swapped', 'ALTER TABLE ? RENAME TO ?_old; CREATE TABLE ? (LIKE ?_old INCLUDING ALL)'],
  ])('when the table is %s while the guard waits for its lock', async (_, ddl) => {
    const { table, isAsKnown } = await guarded();
    const other = await connect();
    await other.query(`SET search_path TO ${schema}; BEGIN; ${ddl.replaceAll('?', table)}`);
    const asked = isAsKnown();
    await until('a guard that waits', async () => {
      const waiting = await query(
        `SELECT FROM pg_locks WHERE NOT granted AND mode = 'RowExclusiveLock' AND relation::regclass::text ~ $1`,
        [table],
      );
      return waiting.length === 1 ? true : undefined;
    });
    await other.query('COMMIT');
    expect(await asked).toBe(false);
  });
});

describe('rows are sent', () => {
  test.each([
    ['a partition is attached', 'CREATE TABLE ?_1 (LIKE ?); ALTER TABLE ? ATTACH PARTITION ?_1 FOR VALUES IN (1)'],
    [
      'a partition is detached',
      'CREATE TABLE ?_1 PARTITION OF ? FOR VALUES IN (1); ALTER TABLE ? DETACH PARTITION ?_1',
    ],
  ])('as before when %s', async (_, ddl) => {
    const { inSchema, isAsKnown } = await guarded({ suffix: 'PARTITION BY LIST (id)' });
    await inSchema(ddl);
    expect(await isAsKnown()).toBe(true);
  });

  test.each([
    [
      'the table itself becomes a partition',
      'CREATE TABLE ?_all (LIKE ?) PARTITION BY LIST (id); ALTER TABLE ?_all ATTACH PARTITION ? DEFAULT',
    ],
    ['the table is written anew', 'VACUUM FULL ?'],
    ['a default is another', 'ALTER TABLE ? ALTER total SET DEFAULT 8'],
    ['a unique index is added', 'CREATE UNIQUE INDEX ON ? (id)'],
    ['an index and a comment are added', "CREATE INDEX ON ? (id); COMMENT ON COLUMN ?.id IS 'x'"],
  ])('as before when %s', async (_, ddl) => {
    const { client, table, isAsKnown } = await guarded();
    await client.query(`SET search_path TO ${schema}`);
    for (const statement of ddl.replaceAll('?', table).split('; ')) {
      await client.query(statement);
    }
    expect(await isAsKnown()).toBe(true);
  });
});

test('a column that is dropped while the catalog is read is no problem of the mapping', async () => {
  const table = randomName('table');
  await query(`CREATE TABLE ${schema}.${table} (id int, gone text)`);
  const [before, after] = [await connect(), await connect()];
  // Its queries see the column for good, while PostgreSQL's functions for privileges know that it was dropped.
  await before.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT FROM pg_class LIMIT 1');
  await query(`ALTER TABLE ${schema}.${table} DROP gone`);
  const settings = { topics: [], schema, table, key: null, fields: 'same', columns: {} } as const;
  expect((await readMappings(before, [settings], '')).problems).toHaveLength(1);
  const sessions = [before, after];
  const inTurn = { query: (text: string, values: unknown[]) => (sessions.shift() ?? after).query(text, values) };
  const { mappings, problems } = await readMappings(inTurn as Pick<PoolClient, 'query'>, [settings], '');
  expect(problems).toEqual([]);
  expect(mappings.map(({ columns }) => columns.map(({ name }) => name))).toEqual([['id']]);
});

describe('a role with INSERT', () => {
  beforeAll(() => query(`CREATE ROLE ${role}; GRANT USAGE ON SCHEMA ${schema} TO ${role}`));
  afterAll(() => query(`DROP OWNED BY ${role}; DROP ROLE ${role}`));

  test.each([['INSERT'], ['INSERT (id, total, note)']])('and no more: %s', async (as) => {
    const { table, client, inSchema, isAsKnown } = await guarded({ as });
    expect(await isAsKnown()).toBe(true);
    const other = await connect();
    await client.query('BEGIN');
    await other.query(`SET lock_timeout = '10ms'`);
    await inSchema("CREATE FUNCTION ?_f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''fired''; END'");
    await inSchema('CREATE TRIGGER each_statement BEFORE INSERT ON ? EXECUTE FUNCTION ?_f()');
    const [mapping] = (
      await readMappings(client, [{ topics: [], schema, table, key: null, fields: 'same', columns: {} }], '')
    ).mappings;
    await client.query(
      mapping === undefined
        ? ''
        : stepsOf(mapping)
            .map(({ sql }) => sql)
            .join('; '),
    );
    await expect(other.query(`ALTER TABLE ${schema}.${table} ADD more int`)).rejects.toMatchObject({ code: '55P03' });
    await client.query('ROLLBACK');
    await inSchema('ALTER TABLE ? ALTER note SET NOT NULL; ALTER TABLE ? DISABLE TRIGGER USER');
    expect(await isAsKnown()).toBe(false);
  });
});
