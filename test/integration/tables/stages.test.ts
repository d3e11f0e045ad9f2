import { describe, expect, test } from '@jest/globals';
import { escapeIdentifier } from 'pg';
import { EXIT_CODE } from '../../../app/exit-code.ts';
import { type CheckedMapping, readMappings } from '../../../app/tables/resolve-mapping.ts';
import { query } from '../stack/database.ts';
import { createTopic, produce } from '../stack/kafka-client.ts';
import { POSTGRES_MAJOR } from '../stack/postgres-version.ts';
import { randomName } from '../stack/random-name.ts';
import { startConsumer } from '../stack/start-consumer.ts';
import { until } from '../stack/until.ts';
import { connect } from '../store/open-store.ts';
import { type Entry, keyedEntry, openShop } from './shop.ts';

const { real, told, resolve } = openShop();

async function mappingOf(entry: Entry, role: 'owner' | 'writer' = 'owner') {
  const { mappings, problems } = await resolve([entry], role);
  const [mapping] = mappings;
  if (mapping === undefined) {
    throw new Error(JSON.stringify(problems));
  }
  return mapping;
}

const stageOf = ({ stage }: CheckedMapping) => JSON.parse(told(JSON.stringify(stage)));

const CUSTOMERS = keyedEntry('shop.customers', ['tenant', 'id']);

const DEFAULTS = POSTGRES_MAJOR >= 16;

describe('the stage of a table', () => {
  test('is not there where rows are appended', async () => {
    expect(await mappingOf({ table: 'shop.customers' })).toMatchObject({ key: null, stage: null });
    expect(await mappingOf({ table: 'shop.guarded' })).toMatchObject({ key: null, stage: null });
  });

  test('has the types of the columns, their collations and their defaults, and takes NULL for each', async () => {
    const named = { name: { from: 'n' }, price: { from: 'p' }, cost: { from: 'c' } };
    const { key, columns, stage, unwritten } = await mappingOf({ ...CUSTOMERS, columns: named });
    const any = { collation: null, default: null };
    const text = { type: 'text', collation: 'pg_catalog."default"', default: null };
    expect(key).toEqual(CUSTOMERS.key);
    expect(JSON.parse(told(JSON.stringify(stage?.columns)))).toEqual([
      { ...text, name: 'tenant', collation: 'shop.any_case' },
      { ...any, name: 'id', type: 'bigint' },
      { ...text, name: 'name', default: DEFAULTS ? "'none'::text" : null },
      { ...text, name: 'email' },
      { ...any, name: 'price', type: 'numeric(10,2)', default: DEFAULTS ? '1.5' : null },
      { ...any, name: 'moods', type: 'shop.mood[]' },
      { ...text, name: 'present' },
      { ...any, name: 'cost', type: 'shop.money', default: DEFAULTS ? '0' : null },
    ]);
    expect(columns.filter(({ isNotNull }) => isNotNull).map(({ name }) => name)).toEqual([
      'tenant',
      'id',
      'name',
      'price',
    ]);
    expect(columns.filter(({ hasDefault }) => hasDefault).map(({ name }) => name)).toEqual(
      DEFAULTS ? ['name', 'price', 'cost'] : [],
    );
    expect(unwritten.map(({ name, gets }) => `${name} ${gets}`)).toEqual(['line identity', 'lower_name generated']);
    expect(stage).toMatchObject({ equality: {}, overridesIdentity: true, mayDropRows: false });
  });

  test('leaves an identity to PostgreSQL unless columns names it, which then has to have a value', async () => {
    const entry = keyedEntry('shop.customers', ['tenant', 'id'], { columns: { line: { from: 'line' } } });
    const { columns } = await mappingOf(entry);
    expect(columns.find(({ name }) => name === 'line')).toMatchObject({ isNotNull: true, hasDefault: false });
  });

  test('says where a row trigger may drop rows', async () => {
    await query(real('CREATE UNIQUE INDEX ON shop.measures (n)'));
    expect(stageOf(await mappingOf(keyedEntry('shop.measures', ['n'])))).toMatchObject({ mayDropRows: true });
  });

  test('is there for rows that are appended under row-level security', async () => {
    expect(await mappingOf({ table: 'shop.guarded' }, 'writer')).toMatchObject({
      key: null,
      stage: { columns: [{ name: 'id', type: 'integer', default: null }], equality: {}, overridesIdentity: false },
    });
  });

  test('is described alike whatever search_path shows, in a form that any session understands', async () => {
    const entry = { topics: ['t'], schema: real('shop'), table: 'customers', fields: 'same' as const, columns: {} };
    const stages: unknown[] = [];
    for (const path of ['pg_catalog', real('shop, public')]) {
      const client = await connect();
      await client.query(`SET search_path TO ${path}`);
      const [mapping] = (await readMappings(client, [{ ...entry, key: CUSTOMERS.key ?? null }], '')).mappings;
      stages.push(mapping?.stage);
      await createStage(client, mapping);
    }
    expect(stages[0]).toEqual(stages[1]);
    const other = await connect();
    await other.query('SET search_path TO pg_catalog');
    await createStage(other, await mappingOf(CUSTOMERS));
  });
});

type Session = Awaited<ReturnType<typeof connect>>;

/** A stage with a row of a delete, which has no value but those of the key. */
async function createStage(client: Session, mapping: CheckedMapping | undefined) {
  const columns = (mapping?.stage?.columns ?? []).map(({ name, type, collation, default: expression }) =>
    [
      escapeIdentifier(name),
      type,
      ...(collation === null ? [] : [`COLLATE ${collation}`]),
      ...(expression === null ? [] : [`DEFAULT ${expression}`]),
    ].join(' '),
  );
  await client.query(`CREATE TEMPORARY TABLE stage (${columns.join(', ')})`);
  const nulls = columns.map(() => 'NULL').join(', ');
  await client.query(`INSERT INTO stage VALUES (${nulls})`);
}

describe('the equality of a key', () => {
  test('is that of its type where it is not one of pg_catalog', async () => {
    await query(
      real('CREATE EXTENSION citext SCHEMA shop; CREATE TABLE shop.mails ("At" shop.citext, n int, UNIQUE (n, "At"))'),
    );
    const { stage } = await mappingOf(keyedEntry('shop.mails', ['At', 'n']));
    expect(JSON.parse(told(JSON.stringify(stage?.equality)))).toEqual({ At: 'OPERATOR(shop.=)' });
  });
});

test('the privileges that are told are those that the statements of a key need', async () => {
  const table = real('shop.twice');
  await query(real('ALTER TABLE shop.twice DROP CONSTRAINT twice_id_key'));
  const { problems } = await resolve([keyedEntry('shop.twice', ['id'])], 'writer');
  await query(problems.map(({ allowed }) => allowed).join('; '));
  const mapping = await mappingOf(keyedEntry('shop.twice', ['id']), 'writer');
  const client = await connect();
  await client.query(real('SET ROLE shop_writer'));
  await createStage(client, mapping);
  await client.query(`
    INSERT INTO ${table} AS t (id, note) VALUES (1, 'a') ON CONFLICT (id) DO UPDATE SET note = excluded.note
      WHERE record_image_ne(ROW(t.note), ROW(excluded.note));
    DELETE FROM ${table} AS t USING (SELECT DISTINCT id FROM stage) AS s WHERE t.id = s.id`);
  expect(await query(`SELECT * FROM ${table}`)).toEqual([{ id: 1, note: 'a' }]);
});

test('a unique index of the key that is gone ends the consumer, and the records stay ahead of the stored offset', async () => {
  const [topic, schema] = [await createTopic(), randomName('schema')];
  await query(`CREATE SCHEMA ${schema}; CREATE TABLE ${schema}.customers (id int PRIMARY KEY)`);
  const tables = [{ topic, table: `${schema}.customers`, key: 'id' }];
  await produce(topic, [{ value: '{"id":1}' }]);
  const consumer = await startConsumer({ topics: [], schema, settings: { tables } });
  await until('a row', async () => (await query(`SELECT FROM ${schema}.customers`)).at(0));
  await query(`ALTER TABLE ${schema}.customers DROP CONSTRAINT customers_pkey`);
  await produce(topic, [{ value: '{"id":2}' }]);
  expect(await consumer.exited).toMatchObject({ code: EXIT_CODE.configuration });
  expect(consumer.logs.all.join('\n')).toMatch(/TABLES_DO_NOT_FIT.*tables\[0\]\.key has no unique index/);
  expect(await query(`SELECT id FROM ${schema}.customers`)).toEqual([{ id: 1 }]);
  expect(await query(`SELECT next_offset::int AS next FROM ${schema}.offsets`)).toEqual([{ next: 1 }]);
  expect(await query(`SELECT FROM ${schema}.dead_letters`)).toEqual([]);
});
