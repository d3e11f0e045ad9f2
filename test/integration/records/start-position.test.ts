import { expect, test } from '@jest/globals';
import { query } from '../stack/database.ts';
import { createTopic, kafkaClient, produce } from '../stack/kafka-client.ts';
import { randomName } from '../stack/random-name.ts';
import { type StartedConsumer, startConsumer } from '../stack/start-consumer.ts';
import { awaitEachOnce } from '../stack/stored-rows.ts';
import { growTopic } from '../stack/topic-changes.ts';
import { until } from '../stack/until.ts';

const numbered = (...values: number[]) => values.map((value) => ({ value: String(value) }));

async function valuesIn(consumer: StartedConsumer): Promise<unknown[]> {
  const rows = await query<{ value: unknown }>(
    `SELECT value FROM ${consumer.schema}.records ORDER BY partition, "offset"`,
  );
  return rows.map(({ value }) => value);
}

const positionsIn = ({ schema }: { schema: string }) =>
  query<{ partition: number; next_offset: string }>(
    `SELECT partition, next_offset FROM ${schema}.offsets ORDER BY partition`,
  );

async function commitToKafka(groupId: string, topic: string, offset: number): Promise<void> {
  const admin = kafkaClient().admin();
  await admin.connect();
  await admin.setOffsets({ groupId, topic, partitions: [{ partition: 0, offset: String(offset) }] });
  await admin.disconnect();
}

test("without a stored position everything is read from the log's start, whatever was committed to Kafka", async () => {
  const topic = await createTopic();
  await produce(topic, numbered(1, 2, 3));
  const groupId = randomName('group');
  await commitToKafka(groupId, topic, 2);
  const consumer = await startConsumer({ topics: [topic], groupId });
  await awaitEachOnce({ schema: consumer.schema, topic, records: 3 });
  expect(await valuesIn(consumer)).toEqual([1, 2, 3]);
});

test("startFrom: committed goes on from Kafka's offset", async () => {
  const topic = await createTopic();
  await produce(topic, numbered(1, 2, 3));
  const groupId = randomName('group');
  await commitToKafka(groupId, topic, 2);
  const consumer = await startConsumer({
    topics: [topic],
    groupId,
    settings: { consumer: { startFrom: 'committed' } },
  });
  await awaitEachOnce({ schema: consumer.schema, topic, records: 1 });
  expect(await valuesIn(consumer)).toEqual([3]);
});

test('startFrom: latest takes what comes after the start, and its position is stored before the first record', async () => {
  const topic = await createTopic();
  await produce(topic, numbered(1, 2));
  const consumer = await startConsumer({ topics: [topic], settings: { consumer: { startFrom: 'latest' } } });
  await consumer.waitForHealth();
  expect(await positionsIn(consumer)).toEqual([{ partition: 0, next_offset: '2' }]);
  await produce(topic, numbered(3));
  await awaitEachOnce({ schema: consumer.schema, topic, records: 1 });
  expect(await valuesIn(consumer)).toEqual([3]);
});

test('a partition added later is read from its beginning, although startFrom is latest', async () => {
  const topic = await createTopic();
  await produce(topic, numbered(1));
  const settings = { consumer: { startFrom: 'latest' } };
  const before = await startConsumer({ topics: [topic], settings });
  await before.waitForHealth();
  before.kill('SIGTERM');
  await before.exited;

  await growTopic(topic, 2);
  await produce(topic, [{ partition: 1, value: '7' }]);
  const { schema, groupId } = before;
  const after = await startConsumer({ topics: [topic], schema, groupId, settings });
  await awaitEachOnce({ schema, topic, records: 1 });
  expect(await valuesIn(after)).toEqual([7]);
});

test('a stored position wins over startFrom and over Kafka', async () => {
  const topic = await createTopic();
  await produce(topic, numbered(1, 2));
  const first = await startConsumer({ topics: [topic] });
  const { schema, groupId } = first;
  await awaitEachOnce({ schema, topic, records: 2 });
  first.kill('SIGTERM');
  await first.exited;
  await commitToKafka(groupId, topic, 0);
  await produce(topic, numbered(3));
  const second = await startConsumer({
    topics: [topic],
    schema,
    groupId,
    settings: { consumer: { startFrom: 'committed' } },
  });
  await awaitEachOnce({ schema, topic, records: 3 });
  expect(await valuesIn(second)).toEqual([1, 2, 3]);
});

test('two consumers that start at once agree on one set of first positions and one schema', async () => {
  const topic = await createTopic({ partitions: 4 });
  await produce(
    topic,
    [0, 1, 2, 3].map((partition) => ({ partition, value: '1' })),
  );
  const [groupId, schema] = [randomName('group'), randomName('schema')];
  const settings = { consumer: { startFrom: 'latest' } };
  const both = await Promise.all([1, 2].map(() => startConsumer({ topics: [topic], groupId, schema, settings })));
  await Promise.all(both.map((consumer) => consumer.waitForHealth()));
  expect((await positionsIn({ schema })).map(({ next_offset }) => next_offset)).toEqual(['1', '1', '1', '1']);
});

test("Kafka's committed offset follows what PostgreSQL holds, for tools that look there", async () => {
  const topic = await createTopic();
  await produce(topic, numbered(1, 2, 3));
  const consumer = await startConsumer({ topics: [topic] });
  await awaitEachOnce({ schema: consumer.schema, topic, records: 3 });
  consumer.kill('SIGTERM');
  await consumer.exited;
  const admin = kafkaClient().admin();
  await admin.connect();
  const committed = await until('the committed offset', async () => {
    const [offsets] = await admin.fetchOffsets({ groupId: consumer.groupId, topics: [topic] });
    return offsets?.partitions[0]?.offset === '3' ? true : undefined;
  });
  await admin.disconnect();
  expect(committed).toBe(true);
});
