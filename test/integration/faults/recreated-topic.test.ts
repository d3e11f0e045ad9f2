import { expect, test } from '@jest/globals';
import { query, withDatabase } from '../stack/database.ts';
import { type AtBroker, createTopic, kafkaClient, produce } from '../stack/kafka-client.ts';
import { longTest } from '../stack/long-test.ts';
import { KAFKA_2_1, startOldBroker } from '../stack/old-broker.ts';
import { randomName } from '../stack/random-name.ts';
import { type ConsumerUnderTest, type StartedConsumer, startConsumer } from '../stack/start-consumer.ts';
import { awaitEachOnce } from '../stack/stored-rows.ts';
import { recreateTopic } from '../stack/topic-changes.ts';
import { until } from '../stack/until.ts';

const PARTITIONS = 2;

/** Records for each partition. */
const toAll = (count: number, value: string) =>
  Array.from({ length: PARTITIONS * count }, (_, nth) => ({
    partition: nth % PARTITIONS,
    value: JSON.stringify(value),
  }));

/** Deletes a topic, and makes another one of its name that is longer. */
async function swap(topic: string, at: AtBroker = {}): Promise<void> {
  await recreateTopic(topic, { ...at, partitions: PARTITIONS });
  await produce(topic, toAll(50, 'new'), at);
}

interface StoredOffset {
  readonly partition: number;
  readonly next: number;
  readonly id: string | null;
}

const storedOffsets = (schema: string, topic: string) =>
  query<StoredOffset>(
    `SELECT partition, next_offset::int AS next, topic_id AS id FROM ${schema}.offsets WHERE topic = $1 ORDER BY partition`,
    [topic],
  );

/** A topic with ten records in each partition, and a consumer that has read them. */
async function startedWithOldRecords(options: Partial<ConsumerUnderTest> = {}) {
  const [broker] = options.brokers ?? [];
  const topic = await createTopic({ ...(broker === undefined ? {} : { broker }), partitions: PARTITIONS });
  await produce(topic, toAll(10, 'old'), broker === undefined ? {} : { broker });
  const consumer = await startConsumer({ topics: [topic], ...options });
  await awaitEachOnce({ schema: consumer.schema, topic, records: 10 * PARTITIONS });
  return { topic, consumer };
}

async function stopped(consumer: StartedConsumer): Promise<void> {
  consumer.kill('SIGTERM');
  expect(await consumer.exited).toMatchObject({ code: 0 });
}

const fatalLines = (consumer: StartedConsumer) => consumer.logs.all.filter((line) => line.includes('"fatal"'));

/** The consumer ends, and its offsets still count in the old topic; so nothing of the new one is skipped. */
async function expectRecreated(consumer: StartedConsumer, topic: string, next: number): Promise<void> {
  expect(await consumer.exited).toMatchObject({ code: 1 });
  const [line = '', ...others] = fatalLines(consumer);
  expect(others).toEqual([]);
  const { code, msg } = JSON.parse(line) as { readonly code: string; readonly msg: string };
  expect(code).toBe('TOPIC_RECREATED');
  const stored = await storedOffsets(consumer.schema, topic);
  const [, storedId, newId] = /the id (\S{22}),.* the id (\S{22}):/.exec(msg) ?? [];
  expect(msg).toContain(`${topic}: offset ${next} of partition `);
  expect(msg).toContain(`offsets accept-topic ${topic}`);
  expect(msg).toContain(`offsets begin-again ${topic}`);
  expect(newId).not.toBe(storedId);
  expect(stored).toEqual([0, 1].map((partition) => ({ partition, next, id: storedId })));
  expect(await newRows(consumer.schema)).toEqual([]);
  await awaitEachOnce({ schema: consumer.schema, topic, records: next * PARTITIONS });
}

const newRows = (schema: string) => query(`SELECT topic, "offset" FROM ${schema}.records WHERE value = '"new"'`);

test('a consumer that was stopped reads nothing of a topic that was created again, and says so', async () => {
  const { topic, consumer } = await startedWithOldRecords();
  await stopped(consumer);
  await swap(topic);
  const { groupId, schema } = consumer;
  await expectRecreated(await startConsumer({ topics: [topic], groupId, schema }), topic, 10);
});

test('a running consumer reads nothing of a topic that was created again', async () => {
  const { topic, consumer } = await startedWithOldRecords();
  consumer.kill('SIGSTOP');
  await swap(topic);
  consumer.kill('SIGCONT');
  await expectRecreated(consumer, topic, 10);
});

/** Locks `records`, produces records whose write waits for it, and swaps the topic before the lock is given back. */
async function swapInAWrite(topic: string, { schema }: StartedConsumer, value: string): Promise<void> {
  await withDatabase(async ({ client }) => {
    await client.query(`BEGIN; LOCK TABLE ${schema}.records IN ACCESS EXCLUSIVE MODE`);
    await produce(topic, toAll(5, value));
    await until('a write that waits', async () => {
      const waiting = await client.query(
        `SELECT 1 FROM pg_locks JOIN pg_class ON pg_class.oid = relation
          WHERE NOT granted AND relname = 'records' AND relnamespace = $1::regnamespace`,
        [schema],
      );
      return waiting.rows.length > 0 ? true : undefined;
    });
    await swap(topic);
    await client.query('COMMIT');
  });
}

test('nor of one that was created again between two of its fetches, while its queues were full', async () => {
  const settings = { consumer: { maxQueuedBytes: 65_536 } };
  const { topic, consumer } = await startedWithOldRecords({ settings });
  await swapInAWrite(topic, consumer, 'x'.repeat(15_000));
  await expectRecreated(consumer, topic, 15);
});

test('what was fetched of the old topic is written at its own offsets, and nothing of the new one', async () => {
  const { topic, consumer } = await startedWithOldRecords();
  await swapInAWrite(topic, consumer, 'old');
  expect(await consumer.exited).toMatchObject({ code: 1 });
  expect(fatalLines(consumer)).toEqual([expect.stringContaining('TOPIC_RECREATED')]);
  expect(await newRows(consumer.schema)).toEqual([]);
  const stored = await storedOffsets(consumer.schema, topic);
  await awaitEachOnce({ schema: consumer.schema, topic, records: stored.reduce((sum, { next }) => sum + next, 0) });
});

longTest('of two topics one is created again: it is named, and no record of the other is missed', async () => {
  const kept = await createTopic({ partitions: PARTITIONS });
  const { topic, consumer } = await startedWithOldRecords();
  await stopped(consumer);
  const { groupId, schema } = consumer;
  const both = await startConsumer({ topics: [kept, topic], groupId, schema });
  await produce(kept, toAll(5, 'kept'));
  await awaitEachOnce({ schema, topic: kept, records: 5 * PARTITIONS });
  both.kill('SIGSTOP');
  await swap(topic);
  await produce(kept, toAll(5, 'kept'));
  both.kill('SIGCONT');
  await expectRecreated(both, topic, 10);
  const after = await startConsumer({ topics: [kept], groupId, schema });
  await awaitEachOnce({ schema, topic: kept, records: 10 * PARTITIONS });
  await after.waitForHealth();
});

longTest('a member that joins afterwards is not given the new topic either', async () => {
  const { topic, consumer } = await startedWithOldRecords();
  const { groupId, schema } = consumer;
  consumer.kill('SIGSTOP');
  await swap(topic);
  const second = await startConsumer({ topics: [topic], groupId, schema });
  consumer.kill('SIGCONT');
  await expectRecreated(consumer, topic, 10);
  await expectRecreated(second, topic, 10);
});

longTest('an id that is not stored is taken from Kafka, for a partition without traffic too', async () => {
  const { topic, consumer } = await startedWithOldRecords();
  const { groupId, schema } = consumer;
  const before = await storedOffsets(schema, topic);
  await stopped(consumer);
  await query(`UPDATE ${schema}.offsets SET topic_id = NULL`);
  const again = await startConsumer({ topics: [topic], groupId, schema });
  await until('the ids', async () => ((await storedOffsets(schema, topic)).every(({ id }) => id) ? true : undefined));
  expect(await storedOffsets(schema, topic)).toEqual(before);
  await again.waitForHealth();
  await swap(topic);
  await expectRecreated(again, topic, 10);
});

test('aborted records are left out of what is fetched by id', async () => {
  const { topic, consumer } = await startedWithOldRecords();
  const settings = { transactionalId: randomName('tx'), idempotent: true, maxInFlightRequests: 1 };
  const producer = kafkaClient().producer(settings);
  await producer.connect();
  for (const ending of ['abort', 'commit', 'abort'] as const) {
    const transaction = await producer.transaction();
    await transaction.send({ topic, messages: toAll(3, ending) });
    await transaction[ending]();
  }
  await producer.disconnect();
  const end = 10 + 3 * (3 + 1);
  await until('the end', async () =>
    (await storedOffsets(consumer.schema, topic)).every(({ next }) => next === end) ? true : undefined,
  );
  const values = await query(
    `SELECT value, count(*)::int FROM ${consumer.schema}.records GROUP BY value ORDER BY value`,
  );
  expect(values).toEqual([
    { value: 'commit', count: 3 * PARTITIONS },
    { value: 'old', count: 10 * PARTITIONS },
  ]);
});

const FETCH = 1;
const CONSUMER_GROUP_HEARTBEAT = 68;

/** A broker whose newest Fetch is `offered`, of which `used` is used. */
async function checksAtAssignment(offered: number, used: number): Promise<void> {
  const { kafka, broker, fetchVersions } = await startOldBroker(new Map([[FETCH, offered]]));
  const { topic, consumer } = await startedWithOldRecords({ brokers: [broker] });
  expect([...fetchVersions]).toContain(used);
  expect(Math.max(...fetchVersions)).toBe(used);
  expect(consumer.logs.all.filter((line) => line.includes('fetches topics by name'))).toHaveLength(1);
  await stopped(consumer);
  await swap(topic, { broker });
  const { groupId, schema } = consumer;
  await expectRecreated(await startConsumer({ topics: [topic], brokers: [broker], groupId, schema }), topic, 10);
  await kafka.stop();
}

const CHECKED = 'a topic is checked at assignment, and it is said once what remains';

test(`with Fetch 12, for which there is 11, ${CHECKED}`, () => checksAtAssignment(12, 11));

longTest(`with Fetch 11 ${CHECKED}`, () => checksAtAssignment(11, 11));

test('a broker that tells no ids, here one like Kafka 2.1, is read by name, and a stored id stays as it is', async () => {
  // Kafka 2.1 does not have the heartbeats of KIP-848, and those before 4.0 had none but version 0.
  const { kafka, broker, fetchVersions } = await startOldBroker(new Map([...KAFKA_2_1, [CONSUMER_GROUP_HEARTBEAT, 0]]));
  const settings = { kafka: { groupProtocol: 'consumer' } };
  const { topic, consumer } = await startedWithOldRecords({ brokers: [broker], settings });
  const { groupId, schema } = consumer;
  expect(consumer.logs.all.filter((line) => line.includes('joined by the protocol classic'))).toHaveLength(1);
  expect(Math.max(...fetchVersions)).toBe(KAFKA_2_1.get(FETCH));
  expect((await storedOffsets(schema, topic)).map(({ id }) => id)).toEqual([null, null]);
  await stopped(consumer);
  await query(`UPDATE ${schema}.offsets SET topic_id = 'ORkDSGWzSGqfvNN4ktnfyQ'`);
  await startConsumer({ topics: [topic], brokers: [broker], groupId, schema });
  await produce(topic, toAll(1, 'old'), { broker });
  await awaitEachOnce({ schema, topic, records: 11 * PARTITIONS });
  expect((await storedOffsets(schema, topic)).map(({ id }) => id)).toEqual(Array(2).fill('ORkDSGWzSGqfvNN4ktnfyQ'));
  await kafka.stop();
});
