import { describe, expect, test } from '@jest/globals';
import { escapeIdentifier } from 'pg';
import { readMappings } from '../../../app/tables/mapping/read-mappings.ts';
import type { CheckedMapping } from '../../../app/tables/mapping/resolve-mapping.ts';
import { Stage } from '../../../app/tables/table/stage.ts';
import { EXIT_CODE } from '../../../contract/exit-code.ts';
import { query } from '../stack/database.ts';
import { createTopic, produce } from '../stack/kafka-client.ts';
import { POSTGRES_MAJOR } from '../stack/postgres-version.ts';
import { randomName } from '../stack/random-name.ts';
import { startConsumer } from '../stack/start-consumer.ts';
import { until } from '../stack/until.ts';
import { connect } from '../store/open-store.ts';
import { type Entry, keyedEntry, openShop } from './shop.ts';

const { real, asShop, resolve } = openShop();

async function mappingOf(entry: Entry, role: 'owner' | 'writer' = 'owner') {
  const { mappings, problems } = await resolve([entry], role);
  const [mapping] = mappings;
  if (mapping === undefined) {
    throw new Error(JSON.stringify(problems));
  }
  return mapping;
}

const stageOf = ({ stage }: CheckedMapping) => JSON.parse(asShop(JSON.stringify(stage)));

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
    expect(JSON.parse(asShop(JSON.stringify(stage?.columns)))).toEqual([
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

  test('takes a single row, too, where triggers may drop rows or the table refers to another one', async () => {
    await query(real('CREATE TABLE shop.shops (id int PRIMARY KEY); CREATE TABLE shop.users (LIKE shop.shops)'));
    await query(real('ALTER TABLE shop.users ADD PRIMARY KEY (id)'));
    const ofFewRows = async (table: string, key: string) => {
      const mapping = await mappingOf(keyedEntry(table, [key]));
      return mapping.stage && new Stage(mapping, mapping.stage).ofFewRows;
    };
    expect(await ofFewRows('shop.measures', 'n')).toBeNull();
    expect(asShop(String(await ofFewRows('shop.users', 'id')))).toMatch(
      /^INSERT INTO "shop"."users" AS t \("id"\) VALUES/,
    );
    await query(real('ALTER TABLE shop.users ADD FOREIGN KEY (id) REFERENCES shop.shops'));
    expect(await ofFewRows('shop.users', 'id')).toBeNull();
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
    // A database has an extension once, and other tests of the same one have citext and hstore in public.
    await query(
      real('CREATE EXTENSION ltree SCHEMA shop; CREATE TABLE shop.mails ("At" shop.ltree, n int, UNIQUE (n, "At"))'),
    );
    const { stage } = await mappingOf(keyedEntry('shop.mails', ['At', 'n']));
    expect(JSON.parse(asShop(JSON.stringify(stage?.equality)))).toEqual({ At: 'OPERATOR(shop.=)' });
  });
});

describe('the privileges that are reported', () => {
  const table = 'shop.granted_by_word';
  const keyed = (more: Parameters<typeof keyedEntry>[2] = {}) => keyedEntry(table, ['id'], more);

  /** Makes the table anew, grants what the check says, and takes rows through the stage as the role. */
  async function takeRows(entry: Entry, before = '', revoked = '') {
    await query(
      real(`DROP TABLE IF EXISTS ${table}; CREATE TABLE ${table} (id integer PRIMARY KEY, note text, more text);
        INSERT INTO ${table} VALUES (1, 'a'), (2, 'b'), (3, 'c'); GRANT INSERT (id, note) ON ${table} TO shop_writer; ${before}`),
    );
    const { problems } = await resolve([entry], 'writer');
    const grants = problems.map(({ allowed }) => allowed);
    await query(grants.join('; '));
    const mapping = await mappingOf(entry, 'writer');
    await query(real(revoked));
    const stage = mapping.stage && new Stage(mapping, mapping.stage);
    const client = await connect();
    const deletes = entry.key ? entry.key.delete !== 'never' : false;
    const rows = `(1, 'other', 1, 'u'), (4, 'd', 2, 'u')${deletes ? ", (2, NULL, 3, 'd')" : ''}`;
    await client.query(real('SET ROLE shop_writer; BEGIN'));
    await client.query(
      `${stage?.creation.map(({ sql }) => sql).join('; ')}; INSERT INTO ${stage?.name} VALUES ${rows}; ${stage?.statements({ hasDeletes: deletes, kept: new Set() }).join('; ')}; COMMIT`,
    );
    const found = await query<{ row: string }>(
      real(`SELECT id || coalesce(note, '') AS row FROM ${table} ORDER BY id`),
    );
    return { grants: grants.map(asShop), rows: found.map(({ row }) => row) };
  }

  const NO_MORE = { columns: { more: false } } as const;

  test.each([
    [{}, 'GRANT SELECT, UPDATE, DELETE', ['1other', '3c', '4d']],
    [{ delete: 'never' }, 'GRANT SELECT, UPDATE', ['1other', '2b', '3c', '4d']],
    [{ existing: 'keep' }, 'GRANT SELECT, DELETE', ['1a', '3c', '4d']],
    [{ existing: 'keep', delete: 'never' }, 'GRANT SELECT', ['1a', '2b', '3c', '4d']],
  ] as const)('with %j are those that the statements need', async (more, grant, rows) => {
    const entry = keyed({ ...NO_MORE, ...more });
    const grants = [`${grant} ON ${table} TO shop_writer`];
    expect(await takeRows(entry)).toEqual({ grants, rows });
    const trigger = `CREATE TRIGGER keep_all BEFORE INSERT ON ${table} FOR EACH ROW EXECUTE FUNCTION shop.keep()`;
    expect(await takeRows(entry, trigger)).toEqual({ grants, rows });
  });

  test.each(['SELECT', 'UPDATE', 'DELETE'])('are all needed: without %s PostgreSQL refuses', async (privilege) => {
    const taken = takeRows(keyed(NO_MORE), '', `REVOKE ${privilege} ON ${table} FROM shop_writer`);
    await expect(taken).rejects.toMatchObject({ code: '42501' });
  });

  test('of rows that are appended under row-level security are those of a table without it', async () => {
    const policy = `ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY; CREATE POLICY p ON ${table} FOR INSERT WITH CHECK (id <> 3);
      DELETE FROM ${table}`;
    expect(await takeRows({ table, ...NO_MORE }, policy)).toEqual({ grants: [], rows: ['1other', '4d'] });
  });
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

test('a primary key that is altered is the key from then on, and one that is gone ends the consumer', async () => {
  const [topic, schema] = [await createTopic(), randomName('schema')];
  const customers = `${schema}.customers`;
  await query(
    `CREATE SCHEMA ${schema}; CREATE TABLE ${customers} (tenant text NOT NULL, id int PRIMARY KEY, name text)`,
  );
  const consumer = await startConsumer({
    topics: [],
    schema,
    settings: { tables: [{ topic, table: customers, key: 'primary', envelope: 'debezium' }] },
  });
  let next = 0;
  const write = async (op: 'c' | 'd', tenant: string, name?: string) => {
    const after = op === 'd' ? null : { tenant, id: 1, name };
    await produce(topic, [{ key: JSON.stringify({ tenant, id: 1 }), value: JSON.stringify({ op, after }) }]);
    next += 1;
    await until(`offset ${next}`, async () =>
      (await query(`SELECT FROM ${schema}.offsets WHERE next_offset = ${next}`)).at(0),
    );
  };
  const names = async () => (await query(`SELECT name FROM ${customers} ORDER BY name`)).map(({ name }) => name);
  await write('c', 'a', 'first');
  await write('c', 'b', 'second');
  expect(await names()).toEqual(['second']);
  await query(`ALTER TABLE ${customers} DROP CONSTRAINT customers_pkey, ADD PRIMARY KEY (tenant, id)`);
  await write('c', 'a', 'third');
  expect(await names()).toEqual(['second', 'third']);
  await write('d', 'b');
  expect(await names()).toEqual(['third']);
  await query(`ALTER TABLE ${customers} DROP CONSTRAINT customers_pkey`);
  await produce(topic, [{ key: '{"tenant":"a","id":1}', value: '{"op":"d","after":null}' }]);
  expect(await consumer.exited).toMatchObject({ code: EXIT_CODE.configuration });
  expect(consumer.logs.all.join('\n')).toMatch(/TABLES_DO_NOT_FIT.*tables\[0\]\.key asks for the primary key/);
  expect(await names()).toEqual(['third']);
  expect(await query(`SELECT next_offset::int AS next FROM ${schema}.offsets`)).toEqual([{ next }]);
  expect(await query(`SELECT FROM ${schema}.dead_letters`)).toEqual([]);
});
