import { describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { readMappings } from '../../../app/tables/mapping/read-mappings.ts';
import { describeProblem } from '../../../settings/schema/problem.ts';
import { query } from '../stack/database.ts';
import { randomName } from '../stack/random-name.ts';
import { sharedDatabaseUrl } from '../stack/shared-stack.ts';
import { type Entry, keyedEntry, openShop } from './shop.ts';

const { asShop, resolve } = openShop();

const CUSTOMERS = 'shop.customers';

const OF_OWNER: readonly (readonly [name: string, entry: Entry])[] = [
  ['a column of the key that is mistyped', keyedEntry(CUSTOMERS, ['tenannt', 'id'])],
  ['a column of the key that is unlike any other', keyedEntry(CUSTOMERS, ['zzzzzzzz'])],
  ['a generated column in the key', keyedEntry(CUSTOMERS, ['id', 'lower_name'])],
  ['a key of a table without a unique index', keyedEntry('shop.keyless', ['id'])],
  ['a key of some of the columns of a unique index', keyedEntry(CUSTOMERS, ['id'])],
  ['a key of more columns than a unique index has', keyedEntry('shop.moody', ['id', 'mood'])],
  ['a key whose unique index is deferrable', keyedEntry(CUSTOMERS, ['email'])],
  ['a key whose unique index is partial', keyedEntry(CUSTOMERS, ['name'])],
  ['a key whose unique index has another collation', keyedEntry('shop.collated', ['Id'])],
  ['a key whose unique index has another operator class', keyedEntry('shop.patterned', ['id'])],
  ['a key whose unique index is not valid', keyedEntry('shop.parted', ['region', 'id'])],
  ['a key with a deferrable constraint beside its primary key', keyedEntry('shop.twice', ['id'])],
  ['a key with a unique index of another collation beside its own', keyedEntry('shop.collated', ['note'])],
  ['a key without the column that the table is partitioned by', keyedEntry('shop.parted', ['id'])],
  ['a key of a table with rules', keyedEntry('shop.ruled', ['id'])],
  ['a key of a table that is not there', keyedEntry('shop.custmers', ['id'])],
  ['a key of a view', keyedEntry('shop.open_orders', ['id'])],
  [
    'an identity ALWAYS that is to be replaced',
    keyedEntry(CUSTOMERS, ['email'], { columns: { id: { from: 'no' }, email: { from: '$key' } } }),
  ],
  ['the primary key of a table without a unique index', keyedEntry('shop.keyless', null)],
  ['the primary key of a table with a unique index that may be one', keyedEntry('shop.near', null)],
  ['the primary key of a table whose unique indexes may be none', keyedEntry('shop.collated', null)],
  ['a primary key that is deferrable', keyedEntry('shop.late', null)],
  ['a primary key with a column that is left out', keyedEntry('shop.moody', null, { columns: { id: false } })],
  ['the primary key of a table that is not there', keyedEntry('shop.custmers', null)],
  ['a version that is mistyped', keyedEntry('shop.orders', ['id'], { version: 'created_t' })],
  ['a version that is unlike any column', keyedEntry('shop.orders', ['id'], { version: 'zzzzzzzz' })],
  ['a version that is generated', keyedEntry('shop.orders', ['id'], { version: 'gross' })],
  ['a version of a type without an order', keyedEntry('shop.unordered', ['id'], { version: 'raw' })],
  ['a version whose elements have no order', keyedEntry('shop.unordered', ['id'], { version: 'places' })],
  ['a version whose attributes have no order', keyedEntry('shop.unordered', ['id'], { version: 'spot' })],
  ['a version of a domain without an order', keyedEntry('shop.unordered', ['id'], { version: 'corner' })],
  ['a version that is an identity ALWAYS', keyedEntry('shop.unordered', ['id'], { version: 'counted' })],
  ['a key and a version that are mistyped', keyedEntry('shop.orders', ['idd'], { version: 'created_t' })],
  [
    'several mistakes in one entry',
    keyedEntry('shop.orders', ['id', 'total'], {
      columns: { gross: { from: 'g' }, nte: false, note: { from: 'n', as: 'hex' } },
    }),
  ],
];

const OF_WRITER: readonly (readonly [name: string, entry: Entry])[] = [
  ['a table with INSERT alone', keyedEntry(CUSTOMERS, ['tenant', 'id'], { columns: { moods: false } })],
  [
    'a table with INSERT alone whose rows are deleted and not replaced',
    keyedEntry(CUSTOMERS, ['tenant', 'id'], { columns: { moods: false }, existing: 'keep' }),
  ],
  ['a table with privileges on some columns', keyedEntry('shop.twice', ['id'])],
  ['a primary key, with INSERT alone', keyedEntry(CUSTOMERS, null, { columns: { moods: false } })],
  [
    'a table with INSERT alone whose rows stay',
    keyedEntry('shop.twice', ['id'], { existing: 'keep', delete: 'never' }),
  ],
  ['a type without USAGE', keyedEntry('shop.moody', ['id'])],
];

const problemsOf = async (entry: Entry, role: 'owner' | 'writer') => {
  const { mappings, problems } = await resolve([entry], role);
  expect(mappings).toEqual([]);
  return asShop(problems.map(describeProblem).join('\n'));
};

describe('what is reported of', () => {
  test.each(OF_OWNER)('%s', async (_, entry) => {
    expect(await problemsOf(entry, 'owner')).toMatchSnapshot();
  });

  test.each(OF_WRITER)('%s, as a role that may do little', async (_, entry) => {
    expect(await problemsOf(entry, 'writer')).toMatchSnapshot();
  });
});

test('a database where the role may make no temporary table is reported with the GRANT, and only where one is needed', async () => {
  const [database, role] = [randomName('database'), randomName('role')];
  await query(`CREATE DATABASE ${database}`);
  const url = new URL(sharedDatabaseUrl());
  url.pathname = `/${database}`;
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  try {
    await client.query(`
      CREATE ROLE ${role}; REVOKE TEMPORARY ON DATABASE ${database} FROM PUBLIC;
      CREATE TABLE public.keyed (id integer PRIMARY KEY); CREATE TABLE public.guarded (id integer);
      ALTER TABLE public.guarded ENABLE ROW LEVEL SECURITY; CREATE TABLE public.plain (id integer);
      GRANT SELECT, INSERT, UPDATE, DELETE ON public.keyed, public.guarded, public.plain TO ${role}; SET ROLE ${role}`);
    const entries = ['keyed', 'guarded', 'plain'].map((table) => ({
      ...{ topics: ['t'], schema: 'public', table, fields: 'same' as const, columns: {} },
      key: keyedEntry('', ['id']).key ?? null,
    }));
    const tables = entries.map((entry) => (entry.table === 'keyed' ? entry : { ...entry, key: null }));
    const { mappings, problems } = await readMappings(client, tables, 'own');
    expect(mappings.map(({ table }) => table)).toEqual(['plain']);
    const allowed = `\n  allowed: GRANT TEMPORARY ON DATABASE ${database} TO ${role}`;
    const may = `and the role ${role} may make none${allowed}`;
    expect(problems.map(describeProblem)).toEqual([
      `tables[0].key needs a temporary table, ${may}`,
      `tables[1].table needs a temporary table, as the table has row-level security, ${may}`,
    ]);
    await client.query(`RESET ROLE; GRANT TEMPORARY ON DATABASE ${database} TO ${role}; SET ROLE ${role}`);
    expect((await readMappings(client, tables, 'own')).problems).toEqual([]);
  } finally {
    await client.end();
    await query(`DROP DATABASE ${database}`);
    await query(`DROP ROLE ${role}`);
  }
});
