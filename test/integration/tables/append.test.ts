import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { EXIT_CODE } from '../../../contract/exit-code.ts';
import { query } from '../stack/database.ts';
import { createTopic, produce } from '../stack/kafka-client.ts';
import { someCases } from '../stack/long-test.ts';
import { POSTGRES_MAJOR } from '../stack/postgres-version.ts';
import { randomName } from '../stack/random-name.ts';
import { databaseEnvironment, runCommand } from '../stack/run-command.ts';
import { sharedDatabaseUrl } from '../stack/shared-stack.ts';
import { startConsumer } from '../stack/start-consumer.ts';
import { startSteadyLoad } from '../stack/steady-load.ts';
import { until } from '../stack/until.ts';

/** Before PostgreSQL 16 a column with a default is left to it, unless `columns` names it. */
const TAKES_DEFAULTS = POSTGRES_MAJOR >= 16;

const KINDS = `CREATE TYPE ?.state AS ENUM ('open', 'paid');
  CREATE TABLE ?."Orders" (
    id bigint NOT NULL, customer_name text, amount numeric(12,2), state ?.state DEFAULT 'open', tags text[],
    created_at timestamptz, payload jsonb, tenant text, source text, place bigint, seen timestamptz DEFAULT now())`;

const COLUMNS = {
  customer_name: 'customer.name',
  created_at: { from: 'createdAt', as: 'epoch-millis' },
  payload: '$value',
  tenant: '$header.tenant',
  source: '$topic',
  place: '$offset',
  seen: false,
};

type Run = (sql: string) => Promise<readonly unknown[]>;

/** A schema with tables, in which a ? is replaced by the schema. */
async function aSchema(statements: string): Promise<{ schema: string; run: Run }> {
  const schema = randomName('schema');
  const run = (sql: string) => query(sql.replaceAll('?', schema));
  await run('CREATE SCHEMA ?');
  await run(statements);
  return { schema, run };
}

const awaitRows = (run: Run, sql: string, rows: number) =>
  until(`${rows} rows of ${sql}`, async () => {
    const found = await run(sql);
    return found.length >= rows ? found : undefined;
  });

test('a record is a row of a mapped table, each column with what it takes', async () => {
  const topic = await createTopic();
  const { schema, run } = await aSchema(KINDS);
  const tables = [{ topic, table: `${schema}.Orders`, columns: COLUMNS }];
  const value =
    '{"id":9007199254740993,"customer":{"name":"Zoë\\t\\\\"},"amount":1.005e2,"tags":["a","b c"],"createdAt":1700000000123,"more":1}';
  await produce(topic, [{ value, headers: { tenant: 'acme' } }, { value: '{"id":"2","state":"paid","amount":null}' }]);
  await startConsumer({ topics: [], schema, settings: { tables } });
  const columns = 'id, customer_name, amount, state, tags, created_at, tenant, source, place, seen IS NOT NULL AS seen';
  const rows = await awaitRows(run, `SELECT ${columns}, payload->>'more' AS more FROM ?."Orders" ORDER BY place`, 2);
  const first = {
    id: '9007199254740993',
    customer_name: 'Zoë\t\\',
    amount: '100.50',
    state: 'open',
    tags: ['a', 'b c'],
  };
  const empty = { customer_name: null, amount: null, tags: null, created_at: null, tenant: null, more: null };
  expect(rows).toEqual([
    {
      ...first,
      created_at: new Date(1_700_000_000_123),
      tenant: 'acme',
      source: topic,
      place: '0',
      seen: true,
      more: '1',
    },
    { ...empty, id: '2', state: TAKES_DEFAULTS ? 'paid' : 'open', source: topic, place: '1', seen: true },
  ]);
  expect(await run('SELECT FROM ?.records')).toEqual([]);
});

test('a record is in all of its tables or is one dead letter, which names table and column and quotes nothing', async () => {
  const topic = await createTopic();
  const { schema, run } = await aSchema(
    'CREATE TABLE ?.numbers (id int NOT NULL, amount int CHECK (amount < 100)); CREATE TABLE ?.texts (id int, name varchar(5))',
  );
  const tables = ['numbers', 'texts'].map((table) => ({ topic, table: `${schema}.${table}` }));
  const values = [
    '{"id":0,"name":"right","amount":1}',
    '{"id":1,"name":"hunter2","amount":1}',
    '{"id":2,"name":"right","amount":"hunter2"}',
    '{"id":3,"name":"right","amount":1000}',
    '{"name":"right","amount":1}',
    '{"id":5,',
    '["hunter2"]',
    null,
    '{"id":8,"name":"\\u0000","amount":1}',
    '{"id":9,"name":"right","amount":2}',
  ];
  await produce(
    topic,
    values.map((value) => ({ value })),
  );
  const settings = { tables, deadLetters: { maxRatio: 1 } };
  const consumer = await startConsumer({ topics: [topic], schema, settings });
  await awaitRows(run, 'SELECT FROM ?.dead_letters', 8);
  const letters = await run(
    'SELECT "offset"::int AS at, reason, target, target_column AS column FROM ?.dead_letters ORDER BY "offset"',
  );
  const [numbers, texts] = [`${schema}.numbers`, `${schema}.texts`];
  expect(letters).toEqual([
    { at: 1, reason: 'value_does_not_fit', target: texts, column: 'name' },
    { at: 2, reason: 'value_does_not_fit', target: numbers, column: 'amount' },
    { at: 3, reason: 'constraint_violated', target: numbers, column: 'amount' },
    { at: 4, reason: 'missing_value', target: numbers, column: 'id' },
    { at: 5, reason: 'invalid_json', target: numbers, column: null },
    { at: 6, reason: 'value_does_not_fit', target: numbers, column: null },
    { at: 7, reason: 'no_value', target: numbers, column: null },
    { at: 8, reason: 'nul_character', target: texts, column: 'name' },
  ]);
  for (const table of ['numbers', 'texts']) {
    expect(await run(`SELECT id FROM ?.${table} ORDER BY id`)).toEqual([{ id: 0 }, { id: 9 }]);
  }
  expect(await run('SELECT "offset"::int AS at FROM ?.records ORDER BY "offset"')).toEqual([{ at: 0 }, { at: 9 }]);
  expect(await run("SELECT FROM ?.dead_letters WHERE error LIKE '%hunter2%'")).toEqual([]);
  expect(consumer.logs.all.join('\n')).not.toContain('hunter2');
});

test('a table that is altered under load loses no record and makes no dead letter', async () => {
  const topic = await createTopic({ partitions: 3 });
  const { schema, run } = await aSchema('CREATE TABLE ?.orders (id int, pad text)');
  const tables = [{ topic, table: `${schema}.orders`, columns: { id: '$offset' } }];
  const consumer = await startConsumer({ topics: [], schema, settings: { tables } });
  const load = await startSteadyLoad(topic, { partitions: 3 });
  for (const ddl of [
    'ALTER TABLE ?.orders ADD more int',
    'ALTER TABLE ?.orders ALTER id TYPE bigint',
    'ALTER TABLE ?.orders DROP pad',
    'ALTER TABLE ?.orders RENAME TO before; CREATE TABLE ?.orders (LIKE ?.before); INSERT INTO ?.orders SELECT * FROM ?.before',
  ]) {
    await load.more(500);
    await run(`BEGIN; ${ddl}; COMMIT`);
  }
  await load.more(500);
  const produced = await load.stop();
  await awaitRows(run, 'SELECT FROM ?.orders', produced);
  expect(await run('SELECT count(*)::int AS rows FROM ?.orders')).toEqual([{ rows: produced }]);
  expect(await run('SELECT FROM ?.dead_letters')).toEqual([]);
  await run('ALTER TABLE ?.orders DROP id');
  await produce(topic, [{ value: '{"id":1}' }]);
  expect(await consumer.exited).toMatchObject({ code: EXIT_CODE.configuration });
  expect(consumer.logs.all.join('\n')).toMatch(/TABLES_DO_NOT_FIT.*columns\.id is no column of the table/);
});

const OF_INDEX =
  'BEGIN; CREATE UNIQUE INDEX other ON ?.orders (place, part); ALTER TABLE ?.orders DROP CONSTRAINT orders_pkey; COMMIT';
const OF_PRIMARY_KEY =
  'ALTER TABLE ?.orders DROP CONSTRAINT orders_pkey, ADD CONSTRAINT other PRIMARY KEY (more, place, part)';

test.each(
  someCases(1, [
    { key: 'primary', altered: OF_PRIMARY_KEY, gone: 'ALTER TABLE ?.orders DROP CONSTRAINT other' },
    { key: ['part', 'place'], altered: OF_INDEX, gone: 'DROP INDEX ?.other' },
  ]),
)('a table by key $key that is altered under load loses no record and makes no dead letter', async (given) => {
  const topic = await createTopic({ partitions: 3 });
  const { schema, run } = await aSchema(
    'CREATE TABLE ?.orders (place int, part int, more int, pad text, note text, PRIMARY KEY (part, place)); CREATE INDEX by_place ON ?.orders (place)',
  );
  const columns = { place: '$offset', part: '$partition', more: '$partition' };
  const tables = [{ topic, table: `${schema}.orders`, columns, key: given.key }];
  const consumer = await startConsumer({ topics: [], schema, settings: { tables } });
  const load = await startSteadyLoad(topic, { partitions: 3 });
  for (const ddl of [
    "ALTER TABLE ?.orders ADD another int DEFAULT 7, ALTER note SET DEFAULT 'none'",
    'ALTER TABLE ?.orders ALTER place TYPE bigint',
    'ALTER TABLE ?.orders DROP pad',
    'ALTER TABLE ?.orders RENAME note TO comment',
    'VACUUM FULL ?.orders',
    'DROP INDEX ?.by_place',
    given.altered,
  ]) {
    await load.more(500);
    await run(ddl);
  }
  await load.more(500);
  const produced = await load.stop();
  await awaitRows(run, 'SELECT FROM ?.orders', produced);
  expect(await run('SELECT count(*)::int AS rows, count(DISTINCT (part, place))::int AS keys FROM ?.orders')).toEqual([
    { rows: produced, keys: produced },
  ]);
  expect(await run('SELECT FROM ?.dead_letters')).toEqual([]);
  await run(given.gone);
  await produce(topic, [{ value: '{"id":1}' }]);
  expect(await consumer.exited).toMatchObject({ code: EXIT_CODE.configuration });
  expect(consumer.logs.all.join('\n')).toMatch(/TABLES_DO_NOT_FIT.*tables\[0\]\.key/);
  expect(await run('SELECT FROM ?.dead_letters')).toEqual([]);
});

test('tables that do not fit end the consumer before it reads, with all problems at once', async () => {
  const topic = await createTopic();
  await produce(topic, [{ value: '{}' }]);
  const { schema, run } = await aSchema('CREATE TABLE ?.orders (id int)');
  const tables = [
    { topic, table: `${schema}.orders`, columns: { amount: 'amount' } },
    { topic, table: `${schema}.ordres` },
  ];
  const consumer = await startConsumer({ topics: [], schema, settings: { tables } });
  expect(await consumer.exited).toMatchObject({ code: EXIT_CODE.configuration });
  expect(consumer.logs.all.join('\n')).toMatch(/TABLES_DO_NOT_FIT.*2 problems.*columns\.amount.*tables\[1\]\.table/);
  expect(await run('SELECT FROM ?.offsets')).toEqual([]);
});

test.each([
  [
    'first lines',
    0,
    { topic: 'orders', table: 'public.orders' },
    'orders (id bigint NOT NULL, amount numeric(12,2), created_at timestamptz)',
  ],
  [
    'key',
    2,
    { topic: 'customers', table: 'public.customers', key: 'id' },
    'customers (id bigint PRIMARY KEY, name text)',
  ],
])('the %s of docs/tables.md print what is written there', async (_, place, entry, table) => {
  const page = readFileSync('docs/tables.md', 'utf8');
  const blocks = [...page.matchAll(/```(?:yaml|text)\n(.*?)```/gs)].map(([, block]) => block ?? '');
  const [settings = '', printed = ''] = blocks.slice(place);
  const { schema } = await aSchema(`CREATE TABLE ?.${table}`);
  expect(parse(settings)).toEqual({ tables: [entry] });
  // Schemas of other tests may hold offsets of a topic with the page's name.
  const topic = randomName('topic');
  const { stdout, stderr } = await runCommand(['tables', 'check'], {
    env: databaseEnvironment(sharedDatabaseUrl(), randomName('schema')),
    files: { 'application.yml': settings.replace('public.', `${schema}.`).replace(entry.topic, topic) },
  });
  const shown = stdout.replace(`${schema}.`, 'public.').replace(topic, entry.topic);
  expect({ stdout: shown, stderr }).toEqual({ stdout: printed, stderr: '' });
});
