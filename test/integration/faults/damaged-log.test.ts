import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import type { LocalKafka } from '../../../dev/stack/local-kafka.ts';
import { compressedMessages, oldMessage } from '../../app/kafka/fetch/record-sets.ts';
import { query } from '../stack/database.ts';
import { createTopic, produce } from '../stack/kafka-client.ts';
import { flipBit, SEGMENT } from '../stack/log-segment.ts';
import { longTest } from '../stack/long-test.ts';
import { startPrivateKafka } from '../stack/private-servers.ts';
import { runbookCommand } from '../stack/runbook.ts';
import { type StartedConsumer, startConsumer } from '../stack/start-consumer.ts';
import { awaitEachOnce } from '../stack/stored-rows.ts';
import { testRun } from '../stack/test-run.ts';
import { until } from '../stack/until.ts';

/** The file in which the private Kafka of this test file keeps partition 0 of the topic. */
async function segmentOf(topic: string): Promise<string> {
  const { path } = await testRun();
  const paths = await readdir(path, { recursive: true });
  const found = paths.find((file) => file.endsWith(join(`${topic}-0`, SEGMENT)));
  if (found === undefined) {
    throw new Error(`${topic} has no segment below ${path}`);
  }
  return join(path, found);
}

const TIMESTAMP = Date.parse('2016-05-24T00:00:00Z');

/** Puts messages of the formats v0 and v1, the last two of them compressed, in front of the only batch of a log. */
async function putOldMessagesBefore(segment: string): Promise<void> {
  const batch = await readFile(segment);
  batch.writeBigInt64BE(4n, 0);
  const message = (value: string) => ({ version: 1, key: 'k', value, timestamp: TIMESTAMP }) as const;
  const compressed = compressedMessages(3, 1, [
    [0, message('2')],
    [1, message('3')],
  ]);
  const old = [oldMessage(0, { version: 0, value: '0' }), oldMessage(1, message('1')), compressed];
  await writeFile(segment, Buffer.concat([...old, batch]));
}

let kafka: LocalKafka;
let damaged: string;
let old: string;

/** The logs are changed in one stop of Kafka, which takes a while. */
beforeAll(async () => {
  kafka = await startPrivateKafka();
  const at = { broker: kafka.broker };
  damaged = await createTopic({ ...at, partitions: 2 });
  old = await createTopic(at);
  for (const value of ['{"n":"first"}', '{"n":"second"}', '{"n":"third"}']) {
    await produce(damaged, [{ partition: 0, value }], at);
  }
  await produce(old, [{ value: '"batch"' }], at);
  await kafka.stop();
  await flipBit(await segmentOf(damaged), 'second');
  await putOldMessagesBefore(await segmentOf(old));
  await kafka.start();
});

const healthOf = async ({ get, endpoint }: StartedConsumer) =>
  (await (await get(`${endpoint.healthPath}/consumer`)).json()) as {
    readonly status: string;
    readonly details: Readonly<Record<string, unknown>>;
  };

const nextOffsets = ({ schema }: StartedConsumer) =>
  query<{ partition: number; next: number }>(
    `SELECT partition, next_offset::int AS next FROM ${schema}.offsets ORDER BY partition`,
  );

/** The samples of the gauge of partitions that stand before a batch that cannot be read. */
async function unreadablePartitions({ get, endpoint }: StartedConsumer): Promise<readonly string[]> {
  const text = await (await get(endpoint.prometheusPath)).text();
  return [...text.matchAll(/^consumer_unreadable_partitions\{.*\} (\d+)$/gm)].map(([, value = '']) => value);
}

test('messages that a broker before 0.11 stored are read, compressed ones and batches behind them too', async () => {
  const { schema } = await startConsumer({ topics: [old], brokers: [kafka.broker] });
  await awaitEachOnce({ schema, topic: old, records: 5 });
  const rows = await query<{ place: number; key: string | null; value: unknown; timestamp: Date | null }>(
    `SELECT "offset"::int AS place, key, value, timestamp FROM ${schema}.records ORDER BY "offset"`,
  );
  expect(rows.map(({ place, key, value }) => [place, key, value])).toEqual([
    [0, null, 0],
    [1, 'k', 1],
    [2, 'k', 2],
    [3, 'k', 3],
    [4, null, 'batch'],
  ]);
  const stamp = new Date(TIMESTAMP);
  expect(rows.slice(0, 4).map(({ timestamp }) => timestamp)).toEqual([null, stamp, stamp, stamp]);
});

longTest('a batch that the disk damaged is a gap where such batches are skipped', async () => {
  const topic = damaged;
  const settings = { consumer: { onBrokenBatch: 'skip' } };
  const { schema } = await startConsumer({ topics: [topic], brokers: [kafka.broker], settings });
  await awaitEachOnce({ schema, topic, records: 2 });
  const rows = await query(`SELECT value ->> 'n' AS n FROM ${schema}.records ORDER BY "offset"`);
  expect(rows).toEqual([{ n: 'first' }, { n: 'third' }]);
  const gaps = await query(`SELECT from_offset::int AS from, next_offset::int AS next FROM ${schema}.gaps`);
  expect(gaps).toEqual([{ from: 1, next: 2 }]);
});

test('a batch that the disk damaged stops its own partition alone, is named, and is written once it is whole', async () => {
  const topic = damaged;
  const settings = { consumer: { stallTimeout: '2s' } };
  const consumer = await startConsumer({ topics: [topic], brokers: [kafka.broker], settings });
  const line = await consumer.logs.waitFor(/"code":"CORRUPT_BATCH"/, 60_000);
  expect(JSON.parse(line)).toMatchObject({ topic, partition: 0, offset: '1' });
  const reason = expect.stringContaining('CRC-32C');
  expect((await healthOf(consumer)).details['unreadable']).toEqual([
    { topic, partition: 0, offset: '1', code: 'CORRUPT_BATCH', codec: 'none', reason },
  ]);
  expect(await runbookCommand('PartitionUnreadable', { consumer })).toMatch(new RegExp(`CORRUPT_BATCH.*${topic}/0`));
  await produce(topic, [{ partition: 1, value: '{"n":"other"}' }], { broker: kafka.broker });
  await awaitEachOnce({ schema: consumer.schema, topic, records: 2 });
  expect(await nextOffsets(consumer)).toEqual([
    { partition: 0, next: 1 },
    { partition: 1, next: 1 },
  ]);
  expect(await unreadablePartitions(consumer)).toEqual(['1']);
  await until('the time of a stall', async () => ('stalled' in (await healthOf(consumer)).details ? true : undefined));
  await until('UP', async () => ((await healthOf(consumer)).status === 'UP' ? true : undefined));
  await kafka.stop();
  await flipBit(await segmentOf(topic), 'second');
  await kafka.start();
  await awaitEachOnce({ schema: consumer.schema, topic, records: 4 });
  expect(await unreadablePartitions(consumer)).toEqual(['0']);
  expect((await healthOf(consumer)).details).not.toHaveProperty('unreadable');
  expect(consumer.logs.all.filter((text) => text.includes('CORRUPT_BATCH'))).toHaveLength(1);
});
