import { describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { query } from '../stack/database.ts';
import { createTopic, produce } from '../stack/kafka-client.ts';
import { longTest } from '../stack/long-test.ts';
import { startPrivateKafka } from '../stack/private-servers.ts';
import { sharedDatabaseUrl } from '../stack/shared-stack.ts';
import { type StartedConsumer, startConsumer } from '../stack/start-consumer.ts';
import { awaitEachOnce } from '../stack/stored-rows.ts';
import { createNamedTopic } from '../stack/topic-changes.ts';
import { until } from '../stack/until.ts';

const POISON = Buffer.from([0x7b, 0xff, 0x00, 0x22]);
const HEADERS = { zebra: 'z', '1': ['first', 'second'], binary: Buffer.from([0, 255]) };

interface Letter {
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: readonly { readonly key: string; readonly value: unknown }[];
}

/** What is in a topic of dead letters, by reading it with a consumer of its own, for which each of them is one again. */
async function lettersIn(topic: string, count: number, broker?: string): Promise<readonly Letter[]> {
  const brokers = broker === undefined ? {} : { brokers: [broker] };
  const { schema } = await startConsumer({ topics: [topic], ...brokers, settings: { deadLetters: { maxRatio: 1 } } });
  await awaitEachOnce({ schema, topic, records: count });
  return query<pg.QueryResultRow & Letter>(
    `SELECT key, value, headers FROM ${schema}.dead_letters ORDER BY partition, "offset"`,
  );
}

const nextOffset = async ({ schema }: StartedConsumer, topic: string) => {
  const [row] = await query<{ next_offset: string }>(`SELECT next_offset FROM ${schema}.offsets WHERE topic = $1`, [
    topic,
  ]);
  return row?.next_offset;
};

const awaitOffset = (consumer: StartedConsumer, topic: string, offset: string, timeout?: number) =>
  until(
    `${topic} to stand at ${offset}`,
    async () => ((await nextOffset(consumer, topic)) === offset ? true : undefined),
    timeout,
  );

const awaitLog = (consumer: StartedConsumer, text: string) =>
  until(`"${text}" in the log`, async () => consumer.logs.all.find((line) => line.includes(text)));

const rows = async (consumer: StartedConsumer, table: string) =>
  (await query<{ count: number }>(`SELECT count(*)::int AS count FROM ${consumer.schema}.${table}`))[0]?.count;

describe('a dead letter that goes to a topic', () => {
  test('has key, value and headers of its record byte for byte, and tells where it came from', async () => {
    const [topic, letters] = [await createTopic({ partitions: 2 }), await createTopic({ partitions: 2 })];
    const timestamp = 1_770_000_000_123;
    await produce(topic, [
      { value: '{}', partition: 1 },
      { key: Buffer.from([0xff]), value: POISON, headers: HEADERS, partition: 1, timestamp },
    ]);
    const settings = { deadLetters: { to: 'both', topic: letters } };
    const consumer = await startConsumer({ topics: [topic], settings });
    await awaitEachOnce({ schema: consumer.schema, topic, records: 2 });
    const [letter] = await lettersIn(letters, 1);
    expect(letter).toEqual({
      key: Buffer.from([0xff]),
      value: POISON,
      headers: [
        { key: '1', value: 'first' },
        { key: '1', value: 'second' },
        { key: 'zebra', value: 'z' },
        { key: 'binary', value: { base64: 'AP8=' } },
        { key: 'dead-letter.topic', value: topic },
        { key: 'dead-letter.partition', value: '1' },
        { key: 'dead-letter.offset', value: '1' },
        { key: 'dead-letter.timestamp', value: String(timestamp) },
        { key: 'dead-letter.group', value: consumer.groupId },
        { key: 'dead-letter.reason', value: 'key_not_text' },
        { key: 'dead-letter.error', value: 'its key is not UTF-8 text without NUL' },
      ],
    });
    expect(await rows(consumer, 'dead_letters')).toBe(1);
  });

  test('is in no table when the topic alone was asked for, and the offset moves all the same', async () => {
    const topic = await createTopic();
    await createNamedTopic(`${topic}.dead-letters`, { partitions: 2 });
    const many = Array.from({ length: 1_000 }, (_, index) => ({ value: `{${index}${'x'.repeat(1_500)}` }));
    await produce(topic, many.slice(0, 500));
    await produce(topic, [...many.slice(500), { value: '{}' }]);
    const settings = { deadLetters: { to: 'topic', maxRatio: 1 } };
    const consumer = await startConsumer({ topics: [topic], settings });
    await awaitOffset(consumer, topic, '1001');
    expect(await rows(consumer, 'dead_letters')).toBe(0);
    expect(await rows(consumer, 'records')).toBe(1);
    const letters = await lettersIn(`${topic}.dead-letters`, 1_000);
    expect(letters.map(({ value }) => String(value))).toEqual(many.map(({ value }) => value));
  });
});

test('a topic that does not exist is named at the start, holds up the partition, and loses nothing once it is created', async () => {
  const topic = await createTopic();
  // The poison first: a transaction that failed is tried again with fewer records, and those before it would be written.
  await produce(topic, [{ value: '{poison' }, { value: '{}' }]);
  const consumer = await startConsumer({ topics: [topic], settings: { deadLetters: { to: 'topic' } } });
  await awaitLog(consumer, 'topics for dead letters do not exist');
  await awaitLog(consumer, `Kafka did not take 1 dead letters for ${topic}.dead-letters`);
  expect(await nextOffset(consumer, topic)).toBe('0');
  expect(await rows(consumer, 'records')).toBe(0);
  await createNamedTopic(`${topic}.dead-letters`, { partitions: 2 });
  await awaitOffset(consumer, topic, '2');
  expect(await lettersIn(`${topic}.dead-letters`, 1)).toMatchObject([{ value: Buffer.from('{poison') }]);
});

longTest('brokers that go away before they took the letter cost the transaction, not the letter', async () => {
  const kafka = await startPrivateKafka();
  const { broker } = kafka;
  const [topic, letters] = [await createTopic({ broker }), await createTopic({ broker })];
  const consumer = await startConsumer({
    topics: [topic],
    brokers: [broker],
    settings: { deadLetters: { to: 'both', topic: letters }, kafka: { sessionTimeout: '6s' } },
  });
  await until('the first position', () => nextOffset(consumer, topic));
  const blocker = new pg.Client({ connectionString: sharedDatabaseUrl() });
  await blocker.connect();
  await blocker.query(`BEGIN; LOCK TABLE ${consumer.schema}.dead_letters`);
  await produce(topic, [{ value: '{poison' }], { broker });
  await until('the transaction to wait for the lock', async () => {
    const waiting = await query(
      `SELECT 1 FROM pg_locks WHERE relation = '${consumer.schema}.dead_letters'::regclass AND NOT granted`,
    );
    return waiting.length > 0 ? true : undefined;
  });
  await kafka.stop();
  await blocker.end();
  await awaitLog(consumer, `Kafka did not take 1 dead letters for ${letters}`);
  expect(await nextOffset(consumer, topic)).toBe('0');
  expect(await rows(consumer, 'dead_letters')).toBe(0);
  await kafka.start();
  await awaitOffset(consumer, topic, '1', 60_000);
  expect(await rows(consumer, 'dead_letters')).toBe(1);
  expect(await lettersIn(letters, 1, broker)).toMatchObject([{ value: Buffer.from('{poison') }]);
});

test('a letter that the topic can never take stops the consumer with what to do, and is not lost', async () => {
  const [topic, letters] = [await createTopic(), await createTopic({ config: { 'max.message.bytes': '10000' } })];
  await produce(topic, [{ value: `{${'x'.repeat(20_000)}` }]);
  const consumer = await startConsumer({ topics: [topic], settings: { deadLetters: { to: 'topic', topic: letters } } });
  expect(await consumer.exited).toMatchObject({ code: 1 });
  const line = JSON.parse(consumer.logs.all.find((entry) => entry.includes('"fatal"')) ?? '{}');
  expect(line).toMatchObject({ code: 'DEAD_LETTER_TOPIC_REFUSED', msg: expect.stringContaining('max.message.bytes') });
  expect(await nextOffset(consumer, topic)).toBe('0');
});
