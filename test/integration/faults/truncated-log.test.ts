import { cp, readdir, readFile, rename, rm, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { METRICS } from '../../../contract/metrics.ts';
import type { LocalKafka } from '../../../dev/stack/local-kafka.ts';
import { TemplatedShop } from '../kafka/templated-shop.ts';
import { query } from '../stack/database.ts';
import { createTopic, produce } from '../stack/kafka-client.ts';
import { longTest } from '../stack/long-test.ts';
import { startPrivateKafka } from '../stack/private-servers.ts';
import { runCommand } from '../stack/run-command.ts';
import { type StartedConsumer, startConsumer } from '../stack/start-consumer.ts';
import { awaitPosition } from '../stack/stored-position.ts';
import { testRun } from '../stack/test-run.ts';
import { awaitWaits, values } from '../stack/told-health.ts';

let kafka: LocalKafka;

beforeAll(async () => {
  kafka = await startPrivateKafka();
});

/** Produces batches of one record each. */
async function produceBatches(topic: string, count: number, value: string): Promise<void> {
  for (let nth = 0; nth < count; nth += 1) {
    await produce(topic, [{ value: JSON.stringify(value) }], { broker: kafka.broker });
  }
}

/** A topic with ten records, and a consumer that has read them. */
async function startedWithOldRecords() {
  const topic = await createTopic({ broker: kafka.broker });
  await produceBatches(topic, 10, 'old');
  const consumer = await startConsumer({ topics: [topic], brokers: [kafka.broker] });
  await awaitPosition({ schema: consumer.schema, offset: 10 });
  return { topic, consumer };
}

/** Cuts the log off at an offset, while Kafka is stopped, as if this replica had never had the records from there on. */
async function cutOff(topic: string, offset: bigint): Promise<void> {
  const { path } = await testRun();
  const files = await readdir(path, { recursive: true });
  const [segment = '', ...indexes] = files
    .filter((file) => new RegExp(`${topic}-0/0+\\.(log|index|timeindex)$`).test(file))
    .toSorted((one, other) => Number(other.endsWith('.log')) - Number(one.endsWith('.log')))
    .map((file) => join(path, file));
  const bytes = await readFile(segment);
  let end = 0;
  while (bytes.readBigInt64BE(end) < offset) end += 12 + bytes.readInt32BE(end + 8);
  await truncate(segment, end);
  for (const index of indexes) await rm(index);
}

/** Another leader without the records from offset 5 on, and ten others in their place. */
async function truncatedAtFive(topic: string): Promise<void> {
  await kafka.stop();
  await cutOff(topic, 5n);
  await kafka.start();
  await produceBatches(topic, 10, 'new');
}

async function expectTruncated(consumer: StartedConsumer, topic: string): Promise<void> {
  expect(await consumer.exited).toMatchObject({ code: 1 });
  const fatal = consumer.logs.all.filter((line) => line.includes('"fatal"'));
  expect(fatal).toEqual([expect.stringMatching(`LOG_TRUNCATED.*${topic}/0: .*at offset 5,`)]);
  expect(await valuesOf(consumer)).toEqual(Array(10).fill('old'));
  await awaitPosition({ schema: consumer.schema, offset: 10 });
}

async function valuesOf({ schema }: StartedConsumer): Promise<readonly unknown[]> {
  const rows = await query<{ value: unknown }>(`SELECT value FROM ${schema}.records ORDER BY "offset"`);
  return rows.map(({ value }) => value);
}

longTest(
  'a consumer that was stopped stops at a log that parts from what it read, and goes on where it is told to',
  async () => {
    const { topic, consumer } = await startedWithOldRecords();
    const { groupId, schema } = consumer;
    consumer.kill('SIGTERM');
    expect(await consumer.exited).toMatchObject({ code: 0 });
    await truncatedAtFive(topic);
    const again = () => startConsumer({ topics: [topic], brokers: [kafka.broker], groupId, schema });
    await expectTruncated(await again(), topic);
    await query(`UPDATE ${schema}.offsets SET leader_epoch = NULL`);
    const kept = await again();
    await awaitPosition({ schema, offset: 15 });
    expect(await valuesOf(kept)).toEqual([...Array(10).fill('old'), ...Array(5).fill('new')]);
  },
);

test('a running consumer stops as well, and reads the log again from where it was set back to', async () => {
  const { topic, consumer } = await startedWithOldRecords();
  const { groupId, schema } = consumer;
  await truncatedAtFive(topic);
  await expectTruncated(consumer, topic);
  await query(`DELETE FROM ${schema}.records WHERE "offset" >= 5`);
  await query(`UPDATE ${schema}.offsets SET next_offset = 5`);
  const again = await startConsumer({ topics: [topic], brokers: [kafka.broker], groupId, schema });
  await awaitPosition({ schema, offset: 15 });
  expect(await valuesOf(again)).toEqual([...Array(5).fill('old'), ...Array(10).fill('new')]);
});

const id = (nth: number): number => 2 * (nth + 1);
const OLD_IDS = Array.from({ length: 10 }, (_, nth) => id(nth));
const NEW_IDS = Array.from({ length: 10 }, (_, nth) => id(10 + nth));

/** What to do about a topic whose log was truncated at offset 5, and the ids that are in its table then. */
const WAYS_ON = [
  {
    name: 'is accepted',
    register: test,
    ids: [...OLD_IDS, ...NEW_IDS.slice(5)],
    goOn: async ({ configFile }: StartedConsumer, shop: TemplatedShop) => {
      const place = { env: { CONFIG_FILE: configFile } };
      expect(await runCommand(['offsets', 'accept-topic', shop.topic('items')], place)).toMatchObject({ code: 0 });
    },
  },
  {
    name: 'is read again from where it parts',
    register: longTest,
    ids: [...OLD_IDS.slice(0, 5), ...NEW_IDS],
    goOn: async ({ schema }: StartedConsumer, shop: TemplatedShop) => {
      await query(`DELETE FROM ${shop.schema}.items WHERE id > ${id(4)}`);
      const where = 'WHERE topic = $1 AND partition = 0';
      await query(`UPDATE ${schema}.offsets SET next_offset = 5 ${where}`, [shop.topic('items')]);
    },
  },
];

for (const { name, register, ids, goOn } of WAYS_ON) {
  register(`a topic of a template waits alone with a log that parts from what was read, until it ${name}`, async () => {
    const shop = new TemplatedShop({ broker: kafka.broker });
    await shop.add('items', 'orders');
    for (const each of OLD_IDS) await shop.produce('items', each);
    await shop.produce('orders', 1);
    const consumer = await shop.start({ brokers: [kafka.broker] });
    await Promise.all([shop.awaitIds('items', ...OLD_IDS), shop.awaitIds('orders', 1)]);
    await kafka.stop();
    await cutOff(shop.topic('items'), 5n);
    await kafka.start();
    for (const each of NEW_IDS) await shop.produce('items', each);
    await awaitWaits(consumer, { [shop.topic('items')]: 'LOG_TRUNCATED' });
    expect(await values(consumer, METRICS.topicsWaiting, shop.topic('items'))).toEqual([1]);
    await shop.produce('orders', 2);
    await Promise.all([shop.awaitIds('orders', 1, 2), shop.awaitIds('items', ...OLD_IDS)]);
    await goOn(consumer, shop);
    await shop.awaitIds('items', ...ids);
    await awaitWaits(consumer, {});
    expect(await query(`SELECT FROM ${consumer.schema}.dead_letters`)).toEqual([]);
  });
}

longTest('a leader change that loses nothing is read over, with the epoch of each leader', async () => {
  const { topic, consumer } = await startedWithOldRecords();
  const epochs = async () =>
    (await query<{ epoch: number }>(`SELECT leader_epoch AS epoch FROM ${consumer.schema}.offsets`))[0];
  const before = await epochs();
  await kafka.stop();
  await kafka.start();
  await produceBatches(topic, 3, 'old');
  await awaitPosition({ schema: consumer.schema, offset: 13 });
  expect((await epochs())?.epoch).toBeGreaterThan(before?.epoch ?? Number.NaN);
});

/** The folder in which the private Kafka of this test file keeps all that it has. */
async function dataFolder(): Promise<string> {
  const { path } = await testRun();
  const [kafkaFolder = ''] = (await readdir(path)).filter((name) => name.startsWith('kafka-'));
  return join(path, kafkaFolder, 'data');
}

/** Each start of Kafka is another leader epoch. */
async function restart(): Promise<void> {
  await kafka.stop();
  await kafka.start();
}

longTest(
  'Kafka that was restored from an older state, with leader epochs before the stored one, is not read on',
  async () => {
    const topic = await createTopic({ broker: kafka.broker });
    await produceBatches(topic, 5, 'old');
    await kafka.stop();
    const [data, backup] = [await dataFolder(), `${await dataFolder()}.backup`];
    await cp(data, backup, { recursive: true });
    await kafka.start();
    await restart();
    await produceBatches(topic, 5, 'old');
    const { schema, groupId, ...first } = await startConsumer({ topics: [topic], brokers: [kafka.broker] });
    await awaitPosition({ schema, offset: 10 });
    first.kill('SIGTERM');
    expect(await first.exited).toMatchObject({ code: 0 });
    await kafka.stop();
    await rm(data, { recursive: true });
    await rename(backup, data);
    await kafka.start();
    await produceBatches(topic, 10, 'new');
    const again = () => startConsumer({ topics: [topic], brokers: [kafka.broker], groupId, schema });
    const refused = await again();
    expect(await refused.exited).toMatchObject({ code: 1 });
    const fatal = refused.logs.all.filter((line) => line.includes('"fatal"'));
    expect(fatal).toEqual([
      expect.stringMatching(`LOG_TRUNCATED.*${topic}/0: .*up to offset 10 under the leader epoch`),
    ]);
    expect(await valuesOf(refused)).toEqual(Array(10).fill('old'));
    await query(`UPDATE ${schema}.offsets SET leader_epoch = NULL`);
    const kept = await again();
    await awaitPosition({ schema, offset: 15 });
    expect(await valuesOf(kept)).toEqual([...Array(10).fill('old'), ...Array(5).fill('new')]);
  },
);
