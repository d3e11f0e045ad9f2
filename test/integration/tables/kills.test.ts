import { randomInt } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { endOffsets, SampleProducer } from '../../../dev/orders/sample-producer.ts';
import { CUSTOMERS, creationOf, entryOf } from '../../../dev/orders/sample-tables.ts';
import { customerChange } from '../../../dev/orders/table-records.ts';
import { compareCustomers } from '../../../dev/verdict/compare-rows.ts';
import { compareTables, loadExpected, unexpectedRows } from '../../../dev/verdict/compare-tables.ts';
import { awaitAccounted, PositionReader, sumOfNext } from '../../../dev/verdict/positions.ts';
import { query, withDatabase } from '../stack/database.ts';
import { createTopic, kafkaClient } from '../stack/kafka-client.ts';
import { longTest } from '../stack/long-test.ts';
import { randomName } from '../stack/random-name.ts';
import { sharedDatabaseUrl } from '../stack/shared-stack.ts';
import { startConsumer } from '../stack/start-consumer.ts';
import { until } from '../stack/until.ts';

const PARTITIONS = 3;
/** Changes that are produced before each kill; it comes after some of them. */
const CHANGES = 4_000;
/** Small transactions, so that a kill meets one, and a session that ends soon after it. */
const SETTINGS = { consumer: { maxBatchRecords: 50 }, kafka: { sessionTimeout: '6s' } };

const shop = randomName('shop');
const written = { schema: randomName('schema'), topic: '', group: randomName('group') };
const seed = randomInt(2 ** 32);
let positions: PositionReader;
let producer: SampleProducer;

beforeAll(async () => {
  written.topic = await createTopic({ partitions: PARTITIONS });
  const kafka = kafkaClient();
  producer = new SampleProducer({ kafka, topic: written.topic, partitions: PARTITIONS }, seed, customerChange);
  positions = new PositionReader(sharedDatabaseUrl(), kafka, written);
  await Promise.all([producer.connect(), positions.connect()]);
  await query(`CREATE SCHEMA ${shop}; ${creationOf(shop, CUSTOMERS)}`);
});
afterAll(async () => {
  await Promise.all([producer.disconnect(), positions.disconnect()]);
  await query(`DROP SCHEMA IF EXISTS ${shop}, ${written.schema} CASCADE`);
});

const start = () =>
  startConsumer({
    topics: [],
    schema: written.schema,
    groupId: written.group,
    settings: { ...SETTINGS, tables: [entryOf(shop, CUSTOMERS, written.topic)] },
  });

/** Lets a consumer apply some of the changes that are there, and kills it in the middle of the rest. */
async function startAndKill(): Promise<void> {
  await producer.send(CHANGES);
  const before = sumOfNext(await positions.read());
  const consumer = await start();
  const goal = before + BigInt(randomInt(1, CHANGES));
  await until('some changes', async () => (sumOfNext(await positions.read()) >= goal ? true : undefined));
  consumer.kill('SIGKILL');
  await consumer.exited;
}

/** What the tables are after kills and an end in order. */
async function findingsAfterKills(kills: number) {
  for (let kill = 0; kill < kills; kill += 1) {
    await startAndKill();
  }
  const last = await start();
  await awaitAccounted(
    endOffsets(producer.records()),
    () => positions.read(),
    () => true,
  );
  last.kill('SIGTERM');
  expect(await last.exited).toMatchObject({ code: 0 });
  return withDatabase(async ({ client }) => {
    const broken = [...producer.records()].filter(({ reason }) => reason !== undefined);
    expect(broken.length).toBeGreaterThan(kills);
    await loadExpected(client, written.topic, broken);
    return [
      await compareCustomers(client, shop, producer.records()),
      ...(await compareTables(client, written)),
      await unexpectedRows(client, written),
    ];
  });
}

async function survives(kills: number): Promise<void> {
  const findings = await findingsAfterKills(kills);
  expect({ seed, different: findings.filter(({ isWell }) => !isWell) }).toEqual({ seed, different: [] });
}

test('a table with a key is what a Map makes of the changes, where the consumer was killed twice', () => survives(2));

longTest('and where it was killed fifty times', () => survives(50), 1_800_000);
