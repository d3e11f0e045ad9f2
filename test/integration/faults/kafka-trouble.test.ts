import { beforeAll, expect, test } from '@jest/globals';
import type { LocalKafka } from '../../../dev/stack/local-kafka.ts';
import { query } from '../stack/database.ts';
import { createTopic, produce } from '../stack/kafka-client.ts';
import { longTest } from '../stack/long-test.ts';
import { startPrivateKafka } from '../stack/private-servers.ts';
import { randomName } from '../stack/random-name.ts';
import { type StartedConsumer, startConsumer } from '../stack/start-consumer.ts';
import { startSteadyLoad } from '../stack/steady-load.ts';
import { awaitEachOnce } from '../stack/stored-rows.ts';

const PARTITIONS = 3;
const AWAY_MS = 30_000;
const BACK_WITHIN_MS = 10_000;
const ROUNDS = 6;

let kafka: LocalKafka;

beforeAll(async () => {
  kafka = await startPrivateKafka();
});

async function expectNoDeadLetters({ schema }: StartedConsumer): Promise<void> {
  expect(await query(`SELECT * FROM ${schema}.dead_letters`)).toEqual([]);
}

async function restartsUnderLoad(way: 'stop' | 'crash'): Promise<void> {
  const { broker } = kafka;
  const topic = await createTopic({ broker, partitions: PARTITIONS });
  const consumer = await startConsumer({ topics: [topic], brokers: [broker] });
  await consumer.waitForHealth();
  const load = await startSteadyLoad(topic, { broker, partitions: PARTITIONS });
  await load.more(1_000);
  await kafka[way]();
  await kafka.start();
  await load.more(1_000);
  const records = await load.stop();
  await awaitEachOnce({ schema: consumer.schema, topic, records });
  await expectNoDeadLetters(consumer);
  consumer.kill('SIGTERM');
  expect(await consumer.exited).toMatchObject({ code: 0 });
}

test('a broker that restarts (crash) under load: every record once', () => restartsUnderLoad('crash'));

longTest('a broker that restarts (stop) under load: every record once', () => restartsUnderLoad('stop'));

test('a frozen broker cannot hold up the end beyond shutdown.timeout', async () => {
  const { broker } = kafka;
  const topic = await createTopic({ broker });
  await produce(topic, [{ value: '1' }], { broker });
  const settings = { shutdown: { timeout: '4s' } };
  const consumer = await startConsumer({ topics: [topic], brokers: [broker], settings });
  await awaitEachOnce({ schema: consumer.schema, topic, records: 1 });
  const { pid } = kafka;
  process.kill(pid, 'SIGSTOP');
  const began = Date.now();
  consumer.kill('SIGTERM');
  expect(await consumer.exited).toMatchObject({ code: 0 });
  process.kill(pid, 'SIGCONT');
  expect(Date.now() - began).toBeLessThan(10_000);
});

longTest('records flow again within 10 s of the return of a broker that was away for 30 s', async () => {
  const { broker } = kafka;
  const topic = await createTopic({ broker, partitions: PARTITIONS });
  await produce(topic, [{ value: '1' }], { broker });
  const consumer = await startConsumer({ topics: [topic], brokers: [broker] });
  await awaitEachOnce({ schema: consumer.schema, topic, records: 1 });
  await kafka.stop();
  await new Promise((resolve) => setTimeout(resolve, AWAY_MS));
  await kafka.start();
  const back = Date.now();
  await produce(topic, [{ value: '2' }], { broker });
  await awaitEachOnce({ schema: consumer.schema, topic, records: 2 });
  expect(Date.now() - back).toBeLessThan(BACK_WITHIN_MS);
});

longTest('a second and a third consumer that join and leave every few seconds: every record once', async () => {
  const { broker } = kafka;
  const topic = await createTopic({ broker, partitions: PARTITIONS });
  const [groupId, schema] = [randomName('group'), randomName('schema')];
  const settings = { kafka: { sessionTimeout: '6s' }, consumer: { maxBatchRecords: 200 } };
  const start = () => startConsumer({ topics: [topic], brokers: [broker], groupId, schema, settings });
  const steady = await start();
  const load = await startSteadyLoad(topic, { broker, partitions: PARTITIONS });
  for (let round = 0; round < ROUNDS; round += 1) {
    const [second, third] = [await start(), await start()];
    await Promise.all([second.waitForHealth(), third.waitForHealth()]);
    await load.more(500);
    second.kill('SIGTERM');
    third.kill(round % 3 === 1 ? 'SIGKILL' : 'SIGTERM');
    expect(await second.exited).toMatchObject({ code: 0 });
    await third.exited;
  }
  const records = await load.stop();
  await awaitEachOnce({ schema, topic, records, timeout: 60_000 });
  await expectNoDeadLetters(steady);
  steady.kill('SIGTERM');
  expect(await steady.exited).toMatchObject({ code: 0 });
});
