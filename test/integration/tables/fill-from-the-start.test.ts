import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { query } from '../stack/database.ts';
import { createTopic, produce } from '../stack/kafka-client.ts';
import { randomName } from '../stack/random-name.ts';
import { type StartedConsumer, startConsumer } from '../stack/start-consumer.ts';
import { awaitEachOnce } from '../stack/stored-rows.ts';
import { until } from '../stack/until.ts';

/** The answers of docs/faq.md that need the servers, by their blocks. */
const PAGE = readFileSync('docs/faq.md', 'utf8');
const [FILLS = '', REPLICATES = ''] = [...PAGE.matchAll(/^```yaml\n# application\.yml\n([\s\S]*?)^```/gm)].map(
  ([, text = '']) => text,
);
const [, DELETE = ''] = /^```sql\n(DELETE [\s\S]*?)^```/m.exec(PAGE) ?? [];

const own = randomName('own');

beforeAll(() => query(`CREATE SCHEMA ${own}`));

afterAll(() => query(`DROP SCHEMA ${own} CASCADE`));

interface Settings {
  readonly kafka?: { readonly groupId: string };
  readonly database?: { readonly schema: string };
  readonly tables: readonly { readonly topic: string; readonly table: string }[];
}

/** Starts a consumer with the settings of a block, whose topic and table are those of this test. */
function startWith(text: string, topic: string, table: string): Promise<StartedConsumer> {
  const { kafka, database, tables } = parse(text) as Settings;
  return startConsumer({
    topics: [],
    ...(kafka === undefined ? {} : { groupId: randomName(kafka.groupId) }),
    ...(database === undefined ? {} : { schema: randomName(database.schema) }),
    settings: { tables: tables.map((entry) => ({ ...entry, topic, table })) as never },
  });
}

const idsOf = async (table: string): Promise<readonly number[]> =>
  (await query<{ id: number }>(`SELECT id::int FROM ${table} ORDER BY id`)).map(({ id }) => id);

const untilIds = (table: string, ids: readonly number[]) =>
  until(`${table} to have ${ids}`, async () => ((await idsOf(table)).join() === ids.join() ? true : undefined));

test('a second consumer fills a new table from the beginning of the topic, and the first one goes on', async () => {
  const topic = await createTopic();
  await produce(topic, [{ value: '{"id":1}' }, { value: '{"id":2}' }]);
  const first = await startConsumer({ topics: [topic] });
  await awaitEachOnce({ schema: first.schema, topic, records: 2 });

  const table = `${own}.orders_by_customer`;
  await query(`CREATE TABLE ${table} (id bigint)`);
  const second = await startWith(FILLS, topic, table);
  await untilIds(table, [1, 2]);
  await produce(topic, [{ value: '{"id":3}' }]);
  await untilIds(table, [1, 2, 3]);
  await awaitEachOnce({ schema: first.schema, topic, records: 3 });
  for (const consumer of [first, second]) {
    consumer.kill('SIGTERM');
    expect(await consumer.exited).toMatchObject({ code: 0 });
  }
});

test('after a new snapshot, rows whose last event is older than it are those that were deleted', async () => {
  const topic = await createTopic();
  const event = (op: string, id: number, at: string) => ({
    key: `{"id":${id}}`,
    value: JSON.stringify({ op, after: { id }, source: { ts_ms: Date.parse(at) } }),
  });
  const table = `${own}.orders`;
  await query(`CREATE TABLE ${table} (id bigint PRIMARY KEY, seen_at timestamptz)`);
  const consumer = await startWith(REPLICATES, topic, table);
  await produce(topic, [
    ...[1, 2, 3].map((id) => event('r', id, '2026-11-25T09:00:00Z')),
    event('u', 2, '2026-11-26T11:59:59Z'),
  ]);
  await untilIds(table, [1, 2, 3]);

  // The row 2 was deleted while no connector ran; the snapshot has the others, and the stream a new one.
  await produce(topic, [
    ...[1, 3].map((id) => event('r', id, '2026-11-26T12:00:01Z')),
    event('c', 4, '2026-11-26T12:00:02Z'),
  ]);
  await untilIds(table, [1, 2, 3, 4]);
  await query(DELETE.replace('public.orders', table));
  expect(await idsOf(table)).toEqual([1, 3, 4]);
  expect(consumer.logs.all.filter((line) => line.includes('"level":"error"'))).toEqual([]);
});
