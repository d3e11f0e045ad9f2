import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Producer } from 'kafkajs';
import { query, withDatabase } from './database.ts';
import { createTopic, kafkaClient, produce } from './kafka-client.ts';
import { someCases } from './long-test.ts';
import { POSTGRES_MAJOR } from './postgres-version.ts';
import { startPrivateKafka, startPrivatePostgres } from './private-servers.ts';
import { until } from './until.ts';

describe('the shared stack', () => {
  test('stores records in a topic with the partitions that were asked for', async () => {
    const topic = await createTopic({ partitions: 3 });
    const acknowledged = await produce(topic, [
      { partition: 0, value: 'a' },
      { partition: 2, value: 'b' },
    ]);
    expect(acknowledged.map(({ partition, baseOffset }) => [partition, baseOffset])).toEqual(
      expect.arrayContaining([
        [0, '0'],
        [2, '0'],
      ]),
    );
  });

  test(`runs PostgreSQL ${POSTGRES_MAJOR} with UTF-8 and its durability on`, async () => {
    const [settings] = await query<Record<string, string>>(
      `SELECT current_setting('server_version') AS version, current_setting('server_encoding') AS encoding,
              current_setting('fsync') AS fsync, current_setting('synchronous_commit') AS commit`,
    );
    expect(settings).toMatchObject({ encoding: 'UTF8', fsync: 'on', commit: 'on' });
    expect(Number.parseInt(settings?.['version'] ?? '', 10)).toBe(POSTGRES_MAJOR);
  });

  test('removes the schema of a test when the test is over', async () => {
    const used = await withDatabase(async ({ client, schema }) => {
      await client.query(`CREATE SCHEMA ${schema}`);
      return schema;
    });
    expect(await query('SELECT 1 FROM pg_namespace WHERE nspname = $1', [used])).toEqual([]);
  });
});

describe('a private PostgreSQL', () => {
  test.each(['fast', 'immediate'] as const)('keeps port and rows over a stop (%s) and a start', async (mode) => {
    const postgres = await startPrivatePostgres();
    const url = postgres.urlWithPassword;
    await query('CREATE TABLE kept AS SELECT 42 AS answer', [], url);
    await postgres.stop(mode);
    await expect(query('SELECT 1', [], url)).rejects.toThrow('ECONNREFUSED');
    await postgres.start();
    expect(await query('SELECT answer FROM kept', [], url)).toEqual([{ answer: 42 }]);
  });

  test('lets nobody in without the password', async () => {
    const { url } = await startPrivatePostgres();
    await expect(query('SELECT 1', [], url)).rejects.toThrow(/password/);
  });
});

describe('a private Kafka', () => {
  let producer: Producer | undefined;
  afterAll(() => producer?.disconnect());
  let kafka: Awaited<ReturnType<typeof startPrivateKafka>>;
  beforeAll(async () => {
    kafka = await startPrivateKafka();
  });

  test.each(someCases(1, ['crash', 'stop'] as const))('keeps port and records over a %s and a start', async (way) => {
    const topic = await createTopic({ broker: kafka.broker });
    await produce(topic, [{ value: 'kept' }], { broker: kafka.broker });
    await kafka[way]();
    await kafka.start();
    const admin = kafkaClient({ broker: kafka.broker }).admin();
    await admin.connect();
    // The leader of a partition may not know for a moment that it is.
    const offsets = await until('the offsets', () => admin.fetchTopicOffsets(topic));
    await admin.disconnect();
    expect(offsets).toMatchObject([{ partition: 0, high: '1' }]);
  });

  test('refuses to make a topic by accident', async () => {
    producer = kafkaClient({ broker: kafka.broker }).producer({ retry: { retries: 0 } });
    await producer.connect();
    await expect(producer.send({ topic: 'no_such_topic', messages: [{ value: 'x' }] })).rejects.toThrow(
      /does not host this topic-partition/,
    );
  });
});
