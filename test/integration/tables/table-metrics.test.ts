import { isDeepStrictEqual } from 'node:util';
import { expect, test } from '@jest/globals';
import { query, withDatabase } from '../stack/database.ts';
import { createTopic, produce } from '../stack/kafka-client.ts';
import { randomName } from '../stack/random-name.ts';
import { runCommand } from '../stack/run-command.ts';
import { type StartedConsumer, startConsumer } from '../stack/start-consumer.ts';
import { until } from '../stack/until.ts';

/** Tables in a new schema, in whose statements a ? is replaced by its name, and a consumer that writes to them. */
async function started(statements: string, names: readonly string[], others: Record<string, object> = {}) {
  const [topic, schema] = [await createTopic({ partitions: 3 }), randomName('schema')];
  await query(`CREATE SCHEMA ${schema}; ${statements.replaceAll('?', schema)}`);
  const tables = names.map((table) => ({ topic, table: `${schema}.${table}` }));
  const consumer = await startConsumer({
    topics: [],
    schema,
    settings: { tables, deadLetters: { maxRatio: 1 }, ...others },
  });
  return { topic, schema, consumer };
}

/** Values of a family by their labels, without those that all series have. */
async function scraped({ get, endpoint }: StartedConsumer, name: string): Promise<Record<string, number>> {
  const lines = (await (await get(endpoint.prometheusPath)).text()).split('\n');
  const series = lines.filter((line) => line.startsWith(`${name}{`));
  return Object.fromEntries(
    series.map((line) => {
      const [, labels = '', value = ''] = /\{(.*)\} (\S+)$/.exec(line) ?? [];
      return [labels.replace(/application="[^"]*",?/, '').replace(/,$/, ''), Number(value)];
    }),
  );
}

const nonZero = (series: Record<string, number>) =>
  Object.fromEntries(Object.entries(series).filter(([, value]) => value > 0));

const listed = ({ configFile }: StartedConsumer) => runCommand(['dead-letters', 'list', '--config', configFile], {});

const offsetIn = (schema: string, offset: number) =>
  until(`the offsets to be ${offset} together`, async () => {
    const [stored] = await query<{ sum: number }>(`SELECT sum(next_offset)::int FROM ${schema}.offsets`);
    return stored?.sum === offset ? true : undefined;
  });

test('a scrape has the records of each table, and the fields that no table takes; the log has their names once', async () => {
  const { topic, schema, consumer } = await started(
    'CREATE TABLE ?.numbers (id int NOT NULL, amount int CHECK (amount < 100)); CREATE TABLE ?.texts (id int, name varchar(5))',
    ['numbers', 'texts'],
  );
  const values = [
    '{"id":0,"name":"right","amount":1,"secret":"hunter2"}',
    '{"id":1,"name":"right","amount":1,"secret":"hunter2","\\u001b[31m":{"inner":"hunter2"}}',
    '{"name":"right","amount":1,"secret":"hunter2"}',
    '{"id":3,"name":"right","amount":1}',
  ];
  await produce(
    topic,
    values.map((value) => ({ value })),
  );
  await offsetIn(schema, values.length);
  const counted = Object.fromEntries(
    ['numbers', 'texts'].flatMap((table) =>
      Object.entries({ append: 3, delete: 0, skip: 0, upsert: 0 }).map(([operation, records]) => [
        `operation="${operation}",table="${schema}.${table}"`,
        records,
      ]),
    ),
  );
  const total = { [`topic="${topic}"`]: 3 };
  // Partitions are written and counted one by one.
  await until('the counts', async () => {
    const rows = await scraped(consumer, 'consumer_table_records_total');
    const letters = nonZero(await scraped(consumer, 'consumer_table_dead_letters_total'));
    return isDeepStrictEqual(rows, counted) && Object.keys(letters).length === 1 ? true : undefined;
  });
  expect(await scraped(consumer, 'consumer_unmapped_fields_total')).toEqual(total);
  expect(await scraped(consumer, 'consumer_table_records_total')).toEqual(counted);
  expect(nonZero(await scraped(consumer, 'consumer_table_dead_letters_total'))).toEqual({
    [`column="id",reason="missing_value",table="${schema}.numbers"`]: 1,
  });
  const lines = consumer.logs.all.filter((line) => line.includes('no table of the topic takes'));
  const named = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(named.map(({ level, topic: of, tables, field }) => ({ level, of, tables, field }))).toEqual(
    ['secret', '\\u{001b}[31m'].map((field) => {
      return { level: 'info', of: topic, tables: [`${schema}.numbers`, `${schema}.texts`], field };
    }),
  );
  expect(consumer.logs.all.join('\n')).not.toContain('hunter2');
});

test('dead letters are counted by the table and column that refused them, in the Actuator and by dead-letters list', async () => {
  const { topic, schema, consumer } = await started(
    'CREATE TABLE ?.numbers (id int NOT NULL, amount int CHECK (amount < 100), UNIQUE (id, amount)); CREATE TABLE ?.texts (id int, name varchar(5))',
    ['numbers', 'texts'],
  );
  const values = ['{"id":1,"amount":1000}', '{"id":2,"amount":1000}', '{"id":3,"name":"hunter2"}', '{"id":"x"}', '[]'];
  const rows = ['{"id":5,"amount":1}', '{"id":5,"amount":1}'];
  await produce(
    topic,
    [...values, ...rows].map((value) => ({ value })),
  );
  await offsetIn(schema, values.length + rows.length);
  const table = `table="${schema}.numbers"`;
  const expected = {
    [`column="amount",reason="constraint_violated",${table}`]: 2,
    [`column="name",reason="value_does_not_fit",table="${schema}.texts"`]: 1,
    [`column="id",reason="value_does_not_fit",${table}`]: 1,
    [`column="",reason="value_does_not_fit",${table}`]: 1,
    [`column="id, amount",reason="constraint_violated",${table}`]: 1,
  };
  const name = 'consumer_table_dead_letters_total';
  await until('the counts', async () =>
    isDeepStrictEqual(nonZero(await scraped(consumer, name)), expected) ? true : undefined,
  );
  expect(nonZero(await scraped(consumer, name))).toEqual(expected);
  const read = await consumer.get(`${consumer.endpoint.metricsPath}/${name}?tag=column:amount`);
  expect(await read.json()).toMatchObject({ measurements: [{ statistic: 'COUNT', value: 2 }] });
  const { stderr, stdout } = await listed(consumer);
  expect(stderr).toBe(
    '6 dead letters: 3 constraint_violated, 3 value_does_not_fit\nby table and column: ' +
      [
        '2 SCHEMA.numbers.amount',
        '1 SCHEMA.numbers.id',
        '1 SCHEMA.numbers.id, amount',
        '1 SCHEMA.numbers',
        '1 SCHEMA.texts.name\n',
      ]
        .join(', ')
        .replaceAll('SCHEMA', schema),
  );
  expect(stdout).toMatch(new RegExp(`constraint_violated +${schema}\\.numbers\\.amount `));
  expect(stdout + stderr).not.toContain('hunter2');
});

test('tables and columns beyond the ten with most letters are reported to exist', async () => {
  const columns = Array.from({ length: 12 }, (_, nth) => `c${nth}`);
  const { topic, schema, consumer } = await started(
    `CREATE TABLE ?.wide (${columns.map((name) => `${name} int`).join(', ')})`,
    ['wide'],
  );
  await produce(
    topic,
    columns.map((name) => ({ value: JSON.stringify({ [name]: 'hunter2' }) })),
  );
  await offsetIn(schema, columns.length);
  const { stderr } = await listed(consumer);
  const first = columns.toSorted().slice(0, 10);
  const shown = first.map((name) => `1 ${schema}.wide.${name}`).join(', ');
  expect(stderr).toBe(`12 dead letters: 12 value_does_not_fit\nby table and column: ${shown}, and others\n`);
});

test('records of writes that failed, and are tried again, count when they are committed, and once', async () => {
  const database = { statementTimeout: '500ms' };
  const { topic, schema, consumer } = await started('CREATE TABLE ?.orders (id int)', ['orders'], { database });
  await consumer.waitForHealth();
  const failures = async () => (await scraped(consumer, 'consumer_transactions_total'))['outcome="failed"'] ?? 0;
  const records = Array.from({ length: 30 }, (_, id) => ({ value: `{"id":${id},"more":1}`, partition: id % 3 }));
  await withDatabase(async ({ client }) => {
    await client.query(`BEGIN; LOCK TABLE ${schema}.orders IN ACCESS EXCLUSIVE MODE`);
    await produce(topic, records);
    await until('writes to have failed', async () => ((await failures()) >= 3 ? true : undefined));
    expect(nonZero(await scraped(consumer, 'consumer_table_records_total'))).toEqual({});
    expect(nonZero(await scraped(consumer, 'consumer_unmapped_fields_total'))).toEqual({});
    await client.query('ROLLBACK');
  });
  await offsetIn(schema, records.length);
  const appended = `operation="append",table="${schema}.orders"`;
  await until('the count to be there', async () =>
    ((await scraped(consumer, 'consumer_table_records_total'))[appended] ?? 0) >= records.length ? true : undefined,
  );
  expect(nonZero(await scraped(consumer, 'consumer_table_records_total'))).toEqual({ [appended]: records.length });
  expect(nonZero(await scraped(consumer, 'consumer_unmapped_fields_total'))).toEqual({ [`topic="${topic}"`]: 30 });
});
