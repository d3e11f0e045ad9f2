import { expect, test } from '@jest/globals';
import { query } from '../stack/database.ts';
import { groupMembers } from '../stack/group-membership.ts';
import { createTopic, kafkaClient, produce } from '../stack/kafka-client.ts';
import { longTest } from '../stack/long-test.ts';
import { randomName } from '../stack/random-name.ts';
import { type StartedConsumer, startConsumer } from '../stack/start-consumer.ts';
import { awaitEachOnce } from '../stack/stored-rows.ts';
import { until } from '../stack/until.ts';

const STARTED_AT_ONCE = 20;

const orders = (partitions: number) =>
  Array.from({ length: partitions * 5 }, (_, id) => ({ partition: id % partitions, value: `{"id":${id}}` }));

/** Metadata of all offsets that a group has committed. */
async function metadataOf(groupId: string): Promise<readonly (string | null)[]> {
  const admin = kafkaClient().admin();
  await admin.connect();
  try {
    const topics = await admin.fetchOffsets({ groupId });
    return topics.flatMap(({ partitions }) => partitions.map(({ metadata }) => metadata));
  } finally {
    await admin.disconnect();
  }
}

async function deleteGroup(groupId: string): Promise<void> {
  const admin = kafkaClient().admin();
  await admin.connect();
  try {
    await admin.deleteGroups([groupId]);
  } finally {
    await admin.disconnect();
  }
}

const databaseName = async (): Promise<string> => {
  const [row] = await query<{ name: string }>('SELECT current_database() AS name');
  return row?.name ?? '';
};

const identifier = async (): Promise<string> => {
  const [row] = await query<{ id: string }>('SELECT system_identifier::text AS id FROM pg_control_system()');
  return row?.id ?? '';
};

const rowsOf = async (schema: string): Promise<number> => {
  const [found] = await query<{ table: string | null }>('SELECT to_regclass($1)::text AS table', [`${schema}.records`]);
  const [row] = found?.table
    ? await query<{ rows: number }>(`SELECT count(*)::int AS rows FROM ${schema}.records`)
    : [];
  return row?.rows ?? 0;
};

const stopped = async (consumer: StartedConsumer): Promise<void> => {
  consumer.kill('SIGTERM');
  expect(await consumer.exited).toMatchObject({ code: 0 });
};

test('a consumer of a group that writes into another schema ends with 78 before it joins, and names both', async () => {
  const topic = await createTopic({ partitions: 2 });
  const first = await startConsumer({ topics: [topic] });
  const { groupId, schema } = first;
  await produce(topic, orders(2));
  await awaitEachOnce({ schema, topic, records: 10 });
  const members = await groupMembers(groupId);

  const second = await startConsumer({ topics: [topic], groupId });
  expect(await second.exited).toMatchObject({ code: 78 });
  const told = (await second.logs.waitFor(/GROUP_WRITES_ELSEWHERE/)).replaceAll('\\"', '"');
  const server = `of database "${await databaseName()}" (system_identifier ${await identifier()})`;
  expect(told).toContain(
    `writes into schema "${schema}" ${server}, and this consumer into schema "${second.schema}" ${server}`,
  );
  expect(told).toContain(`--delete --group ${groupId}`);
  expect(await groupMembers(groupId)).toEqual(members);
  expect(await rowsOf(second.schema)).toBe(0);

  await produce(topic, orders(2));
  await awaitEachOnce({ schema, topic, records: 20 });
  await stopped(first);
  const after = await startConsumer({ topics: [topic], groupId });
  expect(await after.exited).toMatchObject({ code: 78 });
  await deleteGroup(groupId);
  const moved = await startConsumer({ topics: [topic], groupId });
  await awaitEachOnce({ schema: moved.schema, topic, records: 20 });
  await stopped(moved);
});

longTest(
  'of many consumers of a new group that start at once, each with a schema of its own, one writes and the others end with 78',
  async () => {
    const topic = await createTopic({ partitions: 6 });
    await produce(topic, orders(6));
    const groupId = randomName('group');
    const consumers = await Promise.all(
      Array.from({ length: STARTED_AT_ONCE }, () => startConsumer({ topics: [topic], groupId })),
    );
    const ended = new Map<StartedConsumer, number | null>();
    for (const consumer of consumers) {
      void consumer.exited.then(({ code }) => ended.set(consumer, code));
    }
    await until('all but one to end', async () => (ended.size === STARTED_AT_ONCE - 1 ? true : undefined), 120_000);
    expect([...ended.values()]).toEqual(Array.from({ length: STARTED_AT_ONCE - 1 }, () => 78));
    const [writer] = consumers.filter((consumer) => !ended.has(consumer));
    await awaitEachOnce({ schema: writer?.schema ?? '', topic, records: 30 });
    const rows = await Promise.all(consumers.map(({ schema }) => rowsOf(schema)));
    expect(rows.filter((count) => count > 0)).toEqual([30]);
    await stopped(writer as StartedConsumer);
  },
  180_000,
);

test('the schema, the database and the server stand in the metadata of each offset that the group commits', async () => {
  const topic = await createTopic({ partitions: 2 });
  await produce(topic, orders(2));
  const consumer = await startConsumer({ topics: [topic] });
  const { schema, groupId } = consumer;
  await awaitEachOnce({ schema, topic, records: 10 });
  await stopped(consumer);
  const claim = { schema, database: await databaseName(), systemIdentifier: await identifier() };
  const found = await metadataOf(groupId);
  expect(found.map((text) => JSON.parse(text ?? ''))).toEqual([
    { 'stream-consumer': claim },
    { 'stream-consumer': claim },
  ]);
});

test('what another program committed for the group is no claim: its offsets stay, and the consumer starts at them', async () => {
  const topic = await createTopic();
  await produce(topic, orders(1));
  const groupId = randomName('group');
  const admin = kafkaClient().admin();
  await admin.connect();
  await admin.setOffsets({
    groupId,
    topic,
    partitions: [{ partition: 0, offset: '3', metadata: '{"stream-consumer":7}' }] as never,
  });
  await admin.disconnect();
  const settings = { consumer: { startFrom: 'committed' } };
  const consumer = await startConsumer({ topics: [topic], groupId, settings });
  await awaitEachOnce({ schema: consumer.schema, topic, records: 2 });
  await stopped(consumer);
});

test('where nothing was committed the claim says nothing of a position', async () => {
  const topic = await createTopic();
  await produce(topic, orders(1));
  const settings = { consumer: { startFrom: 'committed' } };
  const consumer = await startConsumer({ topics: [topic], settings });
  await awaitEachOnce({ schema: consumer.schema, topic, records: 5 });
  await stopped(consumer);
});
