import { expect, test } from '@jest/globals';
import { query } from '../stack/database.ts';
import { createTopic, kafkaClient, produce } from '../stack/kafka-client.ts';
import { longTest } from '../stack/long-test.ts';
import { randomName } from '../stack/random-name.ts';
import { startConsumer } from '../stack/start-consumer.ts';
import { awaitEachOnce } from '../stack/stored-rows.ts';
import { until } from '../stack/until.ts';

const orders = (count: number) => Array.from({ length: count }, (_, id) => ({ value: `{"id":${id}}` }));

const nextOffset = async (schema: string): Promise<string | undefined> => {
  const [row] = await query<{ next_offset: string }>(`SELECT next_offset FROM ${schema}.offsets`).catch(() => []);
  return row?.next_offset;
};

/** A consumer has read 5 records; of the next 20 the first 10 were deleted before it comes back. */
async function aGap() {
  const topic = await createTopic();
  await produce(topic, orders(5));
  const first = await startConsumer({ topics: [topic] });
  const { schema, groupId } = first;
  await awaitEachOnce({ schema, topic, records: 5 });
  first.kill('SIGTERM');
  await first.exited;
  await produce(topic, orders(20));
  const admin = kafkaClient().admin();
  await admin.connect();
  await admin.fetchTopicOffsets(topic);
  await admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: '15' }] });
  await admin.disconnect();
  return { topic, schema, groupId };
}

test('records that were deleted before they were read stop the consumer, which says which they are', async () => {
  const { topic, schema, groupId } = await aGap();
  const second = await startConsumer({ topics: [topic], schema, groupId });
  expect(await second.exited).toMatchObject({ code: 1 });
  const fatal = second.logs.all.find((line) => line.includes('"fatal"'));
  expect(fatal).toContain('OFFSETS_GONE');
  expect(fatal).toContain('10 offsets (5 to 14)');
  expect(await nextOffset(schema)).toBe('5');
  expect(await query(`SELECT count(*)::int AS rows FROM ${schema}.records`)).toEqual([{ rows: 5 }]);
});

test('with consumer.onGap: skip the gap is recorded and the rest is read', async () => {
  const { topic, schema, groupId } = await aGap();
  await startConsumer({ topics: [topic], schema, groupId, settings: { consumer: { onGap: 'skip' } } });
  await awaitEachOnce({ schema, topic, records: 15 });
  const gaps = await query(`SELECT group_id, topic, partition, from_offset, next_offset FROM ${schema}.gaps`);
  expect(gaps).toEqual([{ group_id: groupId, topic, partition: 0, from_offset: '5', next_offset: '15' }]);
});

test('topics that only tables names are read, and their topics for dead letters are looked for', async () => {
  const [own, shared] = [await createTopic(), await createTopic()];
  const schema = randomName('schema');
  await query(`CREATE SCHEMA ${schema}`);
  await query(`CREATE TABLE ${schema}.bills (id integer)`);
  const consumer = await startConsumer({
    topics: [shared],
    schema,
    settings: { deadLetters: { to: 'both' } },
    env: { TABLES_0_TOPIC: `${own},${shared}`, TABLES_0_TABLE: `${schema}.bills` },
  });
  await produce(own, orders(3));
  const told = await until('the log to name missing topics', async () =>
    consumer.logs.all.find((line) => line.includes('topics for dead letters do not exist')),
  );
  expect(JSON.parse(told)).toMatchObject({ topics: [`${shared}.dead-letters`, `${own}.dead-letters`] });
  const listening = consumer.logs.all.find((line) => line.includes('"listening"')) ?? '';
  expect(JSON.parse(listening)).toMatchObject({ topics: [shared, own] });
  const read = `SELECT next_offset FROM ${schema}.offsets WHERE topic = $1 AND next_offset = 3`;
  await until('the records of the topic to be stored', async () => (await query(read, [own]))[0]);
});

test('an aborted transaction is never written, and the stored offset moves over it', async () => {
  const topic = await createTopic();
  const producer = kafkaClient().producer({
    transactionalId: randomName('tx'),
    idempotent: true,
    maxInFlightRequests: 1,
  });
  await producer.connect();
  const aborted = await producer.transaction();
  await aborted.send({ topic, messages: orders(50) });
  await aborted.abort();
  const committed = await producer.transaction();
  await committed.send({ topic, messages: orders(3) });
  await committed.commit();
  const trailing = await producer.transaction();
  await trailing.send({ topic, messages: orders(10) });
  await trailing.abort();
  await producer.disconnect();

  const { schema } = await startConsumer({ topics: [topic] });
  await until('the offset behind the last abort marker', async () =>
    (await nextOffset(schema)) === '66' ? true : undefined,
  );
  expect(await query(`SELECT "offset" FROM ${schema}.records ORDER BY "offset"`)).toEqual([
    { offset: '51' },
    { offset: '52' },
    { offset: '53' },
  ]);
});

test('a record of an open transaction is waited for and does not hide what comes before it', async () => {
  const topic = await createTopic();
  await produce(topic, orders(2));
  const producer = kafkaClient().producer({
    transactionalId: randomName('tx'),
    idempotent: true,
    maxInFlightRequests: 1,
  });
  await producer.connect();
  const open = await producer.transaction();
  await open.send({ topic, messages: orders(1) });
  const { schema } = await startConsumer({ topics: [topic] });
  await awaitEachOnce({ schema, topic, records: 2 });
  await open.commit();
  await producer.disconnect();
  await awaitEachOnce({ schema, topic, records: 3 });
});

longTest('consumers that come and go share the partitions, and every record is there once', async () => {
  const PARTITIONS = 6;
  const ROUNDS = 12;
  const topic = await createTopic({ partitions: PARTITIONS });
  const [groupId, schema] = [randomName('group'), randomName('schema')];
  const settings = { kafka: { sessionTimeout: '6s' }, consumer: { maxBatchRecords: 200 } };
  const start = () => startConsumer({ topics: [topic], groupId, schema, settings });
  const steady = await start();
  for (let round = 0; round < ROUNDS; round += 1) {
    await produce(
      topic,
      Array.from({ length: 1_200 }, (_, id) => ({ partition: id % PARTITIONS, value: `{"id":${id}}` })),
    );
    if (round % 4 === 0) {
      const guest = await start();
      await guest.waitForHealth();
      await produce(topic, [{ partition: 0, value: '{}' }]);
      guest.kill(round === 4 ? 'SIGKILL' : 'SIGTERM');
    }
  }
  await awaitEachOnce({ schema, topic, records: ROUNDS * 1_200 + 3, timeout: 60_000 });
  steady.kill('SIGTERM');
  expect(await steady.exited).toMatchObject({ code: 0 });
});
