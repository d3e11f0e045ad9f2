import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { query } from '../stack/database.ts';
import { createTopic, produce } from '../stack/kafka-client.ts';
import { randomName } from '../stack/random-name.ts';
import { type StartedConsumer, startConsumer } from '../stack/start-consumer.ts';
import { until } from '../stack/until.ts';

const own = randomName('own');

beforeAll(async () => {
  await query(`CREATE SCHEMA ${own}`);
  await query(`CREATE TABLE ${own}.orders (id int)`);
});

afterAll(() => query(`DROP SCHEMA ${own} CASCADE`));

const values = ['{"id":1}', '{"id":2}', '{poison', '{"id":4}', '{"id":5}'].map((value) => ({ value }));

const start = (topic: string, schema: string, entry: object = {}, groupId = randomName('group')) =>
  startConsumer({
    topics: [],
    schema,
    groupId,
    settings: { tables: [{ topic, table: `${own}.orders`, ...entry }], deadLetters: { maxRatio: 1 } } as never,
  });

const countOf = async (table: string): Promise<number> =>
  (await query<{ rows: number }>(`SELECT count(*)::int AS rows FROM ${table}`))[0]?.rows ?? 0;

const counts = async (schema: string) => [await countOf(`${own}.orders`), await countOf(`${schema}.dead_letters`)];

const written = (schema: string, expected: readonly number[]) =>
  until(`${expected} rows and dead letters`, async () =>
    (await counts(schema)).every((count, nth) => count >= (expected[nth] ?? 0)) ? true : undefined,
  );

const stopped = async (consumer: StartedConsumer): Promise<void> => {
  consumer.kill('SIGTERM');
  expect(await consumer.exited).toMatchObject({ code: 0 });
};

test('a second group that fills the same table ends with 78 before it doubles a row or a dead letter, unless it consents; the first one goes on with a warning', async () => {
  const topic = await createTopic();
  await produce(topic, values);
  const first = await start(topic, randomName('schema'));
  const { schema } = first;
  await written(schema, [4, 1]);

  const second = await start(topic, schema);
  expect(await second.exited).toMatchObject({ code: 78 });
  const line = JSON.parse(second.logs.all.find((entry) => entry.includes('"fatal"')) ?? '{}');
  expect(line).toMatchObject({ code: 'GROUP_MEETS_ANOTHER' });
  for (const told of [first.groupId, second.groupId, `${own}.orders`, topic, 'tables[].sharedWithGroups: true']) {
    expect(line.msg).toContain(told);
  }
  expect(await counts(schema)).toEqual([4, 1]);
  expect(await query(`SELECT FROM ${schema}.offsets WHERE group_id = $1`, [second.groupId])).toEqual([]);

  const third = await start(topic, schema, { sharedWithGroups: true });
  await written(schema, [8, 2]);
  await Promise.all([stopped(first), stopped(third)]);
  expect(await counts(schema)).toEqual([8, 2]);

  // As in a schema that was upgraded: its tables are stored anew, and it goes on beside the other one.
  await query(`DELETE FROM ${schema}.filled_tables WHERE group_id = $1`, [first.groupId]);
  const again = await start(topic, schema, {}, first.groupId);
  const warning = JSON.parse(await again.logs.waitFor(/other groups fill these tables/));
  expect(warning).toMatchObject({
    level: 'warn',
    tables: [{ table: `${own}.orders`, topic, groupId: third.groupId }],
    msg: expect.stringContaining('tables[].sharedWithGroups: true'),
  });
  await again.waitForHealth();
  await stopped(again);
  expect(await query(`SELECT target FROM ${schema}.filled_tables WHERE group_id = $1`, [first.groupId])).toEqual([
    { target: `${own}.orders` },
  ]);
});
