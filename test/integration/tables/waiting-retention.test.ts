import { expect, test } from '@jest/globals';
import { METRICS } from '../../../contract/metrics.ts';
import { createTopicWithLeaders } from '../../../dev/stack/topic.ts';
import { query } from '../stack/database.ts';
import { kafkaClient, produce, type TestRecord } from '../stack/kafka-client.ts';
import { randomName } from '../stack/random-name.ts';
import { startConsumer } from '../stack/start-consumer.ts';
import { root, values } from '../stack/told-health.ts';
import { until } from '../stack/until.ts';

const DAY = 86_400_000;
const record = (timestamp: number, partition: number): TestRecord => ({
  ...{ key: 'a', value: '{"id":1}' },
  ...{ partition, timestamp },
});

/** Topics of three partitions by one rule, whose tables do not exist, and a consumer of them. */
async function startWithoutTables(
  topics: Readonly<Record<string, Readonly<Record<string, string>>>>,
  records: TestRecord[],
) {
  const [source, schema] = [randomName('source'), randomName('replica')];
  const topicOf = (table: string) => `${source}.${schema}.${table}`;
  const admin = kafkaClient().admin();
  await admin.connect();
  for (const [table, config] of Object.entries(topics)) {
    const configEntries = Object.entries(config).map(([name, value]) => ({ name, value }));
    await createTopicWithLeaders(admin, { topic: topicOf(table), numPartitions: 3, configEntries });
    await produce(topicOf(table), records);
  }
  await admin.disconnect();
  await query(`CREATE SCHEMA ${schema}`);
  const settings = { tables: [{ topic: `${source}.{schema}.{table}`, table: '{schema}.{table}' }] };
  const consumer = await startConsumer({ topics: [], settings });
  const left = (table: string) => values(consumer, METRICS.topicWaitingRetention, topicOf(table));
  const details = async () => {
    const waiting = (await root(consumer)).components['consumer']?.details?.['waitingTopics'];
    return (waiting ?? []) as readonly { readonly topic: string; readonly keptUntil?: string }[];
  };
  return { schema, topicOf, left, details };
}

test('of a topic that waits, metric and health have the time until retention.ms takes its oldest unread record', async () => {
  const now = Date.now();
  const week = { 'retention.ms': String(7 * DAY) };
  const topics = {
    compacted: { ...week, 'cleanup.policy': 'compact' },
    kept: { 'retention.ms': '-1' },
    bills: week,
  };
  const oldest = now - 6 * DAY;
  const parts = await startWithoutTables(topics, [record(now - 2 * DAY, 0), record(oldest, 1), record(now, 1)]);
  const { schema, topicOf, left, details } = parts;
  const [seconds = 0] = await until('the time that is left', async () => {
    const found = await left('bills');
    return found.length > 0 ? found : undefined;
  });
  expect(seconds).toBeLessThanOrEqual(DAY / 1_000);
  expect(seconds).toBeGreaterThan((oldest + 7 * DAY - Date.now()) / 1_000 - 60);
  expect(await details()).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ topic: topicOf('bills'), keptUntil: new Date(oldest + 7 * DAY).toISOString() }),
    ]),
  );

  await query(`CREATE TABLE ${schema}.bills (id int)`);
  await until('the topic to go on', async () => ((await left('bills')).length === 0 ? true : undefined));
  const others = (await details()).map(({ topic, keptUntil }) => [topic, keptUntil]).sort();
  expect(others).toEqual([
    [topicOf('compacted'), undefined],
    [topicOf('kept'), undefined],
  ]);
  expect([await left('kept'), await left('compacted')]).toEqual([[], []]);
});
