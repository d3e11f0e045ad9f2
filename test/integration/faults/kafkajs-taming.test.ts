import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { CompressionTypes, type PartitionAssigner, PartitionAssigners } from 'kafkajs';
import { query } from '../stack/database.ts';
import { createTopic, kafkaClient, produce } from '../stack/kafka-client.ts';
import { IS_LONG_RUN, longTest } from '../stack/long-test.ts';
import { randomName } from '../stack/random-name.ts';
import { sharedBroker } from '../stack/shared-stack.ts';
import { startConsumer } from '../stack/start-consumer.ts';
import { awaitPosition } from '../stack/stored-position.ts';
import { awaitEachOnce } from '../stack/stored-rows.ts';
import { until } from '../stack/until.ts';

const COUNT_WAKE_UPS = join(import.meta.dirname, '../stack/count-wake-ups.ts');

const wakeUpsOf = async (kind: 'shipped' | 'tamed') => {
  const args = ['--import', 'tsx', COUNT_WAKE_UPS, kind, sharedBroker()];
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 60_000 });
  return Number(stdout);
};

/** More wake-ups in a second than anything but the 1 ms timer makes: a bare client looks for overdue requests some twenty times. */
const OF_THE_TIMER = 100;

/** kafkajs's assigner under a name that the consumer does not offer to its group. */
const otherAssigner: PartitionAssigner = (config) => {
  const assigner = PartitionAssigners.roundRobin(config);
  return {
    ...assigner,
    name: 'Other',
    protocol: (subscription) => ({ ...assigner.protocol(subscription), name: 'Other' }),
  };
};

describe('an idle connection', () => {
  test('wakes up over and over with kafkajs as shipped, which is why it is patched', async () => {
    // A process that does not get the processor wakes up less often than its timer says: one undisturbed second tells.
    const wakeUps = await until('a second with the wake-ups of the 1 ms timer', async () => {
      const counted = await wakeUpsOf('shipped');
      return counted > OF_THE_TIMER ? counted : undefined;
    });
    expect(wakeUps).toBeGreaterThan(OF_THE_TIMER);
  });

  test('wakes up about once a second with the patches', async () => {
    expect(await wakeUpsOf('tamed')).toBeLessThan(5);
  });
});

test('a client that stops for good, here in a group of another protocol, ends the process with exit code 1', async () => {
  const topic = await createTopic();
  await produce(topic, [{ value: '1' }]);
  const groupId = randomName('group');
  const other = kafkaClient().consumer({ groupId, partitionAssigners: [otherAssigner] });
  await other.connect();
  await other.subscribe({ topics: [topic] });
  await other.run({ eachMessage: async () => undefined });
  const consumer = await startConsumer({ topics: [topic], groupId });
  expect(await consumer.exited).toMatchObject({ code: 1 });
  const fatal = consumer.logs.all.filter((line) => line.includes('"fatal"'));
  expect(fatal).toEqual([expect.stringContaining('KAFKA_CLIENT_STOPPED')]);
  expect(fatal[0]).toContain('protocol');
  await other.disconnect();
});

test('an aborted transaction that is longer than a fetch does not stop what follows it', async () => {
  const topic = await createTopic();
  const settings = { transactionalId: randomName('tx'), idempotent: true, maxInFlightRequests: 1 };
  const producer = kafkaClient().producer(settings);
  await producer.connect();
  const aborted = await producer.transaction();
  for (let request = 0; request < 6; request += 1) {
    await aborted.send({ topic, messages: [{ value: `"${'x'.repeat(700_000)}"` }] });
  }
  await aborted.abort();
  const committed = await producer.transaction();
  await committed.send({ topic, messages: [{ value: '"kept"' }] });
  await committed.commit();
  await producer.disconnect();
  const { schema } = await startConsumer({ topics: [topic] });
  // Six aborted records, the marker of the abort, the record, and the marker of its commit.
  await awaitPosition({ schema, offset: 9 });
  const rows = await query(`SELECT "offset"::int AS place, value FROM ${schema}.records`);
  expect(rows).toEqual([{ place: 7, value: 'kept' }]);
});

/** In `test:long` as many as a producer may put into 16 MB. */
const SMALL_RECORDS = IS_LONG_RUN ? 200_000 : 50_000;

test('a batch of tens of thousands of small records is written, each once', async () => {
  const topic = await createTopic({ config: { 'max.message.bytes': '16000000' } });
  const records = SMALL_RECORDS;
  const producer = kafkaClient().producer();
  await producer.connect();
  const messages = Array.from({ length: records }, () => ({ value: '7' }));
  // kafkajs copies the messages before for each one that it gives a partition, which would take minutes.
  Object.assign(messages, { reduce: () => ({ 0: messages }) });
  await producer.send({ topic, compression: CompressionTypes.GZIP, messages });
  await producer.disconnect();
  const { schema } = await startConsumer({ topics: [topic] });
  await awaitPosition({ schema, offset: records });
  await awaitEachOnce({ schema, topic, records });
});

longTest('a member that leaves commits no offset of a partition that it had lost', async () => {
  const topic = await createTopic({ partitions: 2 });
  const toBoth = [0, 1].map((partition) => ({ partition, value: '{}' }));
  await produce(topic, toBoth);
  const first = await startConsumer({ topics: [topic] });
  const { schema, groupId } = first;
  const admin = kafkaClient().admin();
  await admin.connect();
  const committed = async () => {
    const [offsets] = await admin.fetchOffsets({ groupId, topics: [topic] });
    return offsets?.partitions.map(({ offset }) => offset).join();
  };
  const awaitCommitted = (offsets: string) =>
    until(`the offsets ${offsets} at Kafka`, async () => ((await committed()) === offsets ? true : undefined));
  await awaitCommitted('1,1');
  const second = await startConsumer({ topics: [topic], schema, groupId });
  await second.waitForHealth();
  await produce(topic, toBoth);
  await awaitEachOnce({ schema, topic, records: 4 });
  await awaitCommitted('2,2');
  second.kill('SIGSTOP');
  first.kill('SIGTERM');
  expect(await first.exited).toMatchObject({ code: 0 });
  expect(await committed()).toBe('2,2');
  await admin.disconnect();
});
