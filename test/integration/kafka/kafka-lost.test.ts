import { expect } from '@jest/globals';
import { METRICS } from '../../../contract/metrics.ts';
import { TcpProxy } from '../../../dev/chaos/tcp-proxy.ts';
import { startLocalKafka } from '../../../dev/stack/local-kafka.ts';
import { createTopic, produce } from '../stack/kafka-client.ts';
import { REQUEST, startProxiedKafka } from '../stack/kafka-proxy.ts';
import { longTest } from '../stack/long-test.ts';
import { startPrivateKafka } from '../stack/private-servers.ts';
import { type StartedConsumer, startConsumer } from '../stack/start-consumer.ts';
import { awaitEachOnce } from '../stack/stored-rows.ts';
import { testRun } from '../stack/test-run.ts';
import { awaitRoot, lagOf, root, values } from '../stack/told-health.ts';
import { until } from '../stack/until.ts';

/** Waits until the lag is unknown in the health, which it is 15 s after the last answer. */
async function awaitUnknownLag(consumer: StartedConsumer): Promise<void> {
  const health = await awaitRoot(consumer, 'the lag to be unknown', (answer) => lagOf(answer) === null);
  expect(health).toMatchObject({ status: 'UP', components: { kafka: { status: 'DOWN' } } });
  const [age = 0] = await values(consumer, METRICS.logEndAge);
  expect(age).toBeGreaterThan(15);
  expect(age).toBeLessThan(60);
}

/** Waits until the log's end is older than a minute: the lag has no series then. */
async function awaitNoLagSeries(consumer: StartedConsumer): Promise<void> {
  const isGone = async () => ((await values(consumer, METRICS.recordsLag)).length === 0 ? true : undefined);
  await until('the series of the lag to be gone', isGone, 90_000);
  expect(await values(consumer, METRICS.lagSeconds)).toEqual([]);
  expect(await values(consumer, METRICS.topicPartitions)).toEqual([]);
  const [age = 0] = await values(consumer, METRICS.logEndAge);
  expect(age).toBeGreaterThan(60);
  expect(lagOf(await root(consumer))).toBeNull();
}

longTest('a Kafka that is stopped: the lag turns null in the health, and comes back with Kafka', async () => {
  const kafka = await startPrivateKafka();
  const { broker } = kafka;
  const topic = await createTopic({ broker });
  await produce(topic, [{ value: '{}' }], { broker });
  const consumer = await startConsumer({ topics: [topic], brokers: [broker] });
  await awaitEachOnce({ schema: consumer.schema, topic, records: 1 });
  await awaitRoot(consumer, 'a lag of 0', (health) => lagOf(health) === 0);
  await kafka.stop();
  await awaitUnknownLag(consumer);
  await kafka.start();
  await awaitRoot(consumer, 'the lag to be known again', (health) => lagOf(health) === 0);
});

const PARTITIONS = 3;
const WAITING = 150_000;
const BATCH = 5_000;

/** A consumer in the middle of so many records, and the network between it and Kafka. */
async function inTheMiddle() {
  const run = await testRun();
  const network = await TcpProxy.listen();
  run.beforeClose(() => network.close());
  const { broker } = await startLocalKafka(run, { advertisedPort: network.port });
  network.forwardTo(Number(broker.split(':')[1]));
  const topic = await createTopic({ broker, partitions: PARTITIONS });
  const records = Array.from({ length: BATCH }, (_, id) => ({ partition: id % PARTITIONS, value: `{"id":${id}}` }));
  for (let produced = 0; produced < WAITING; produced += BATCH) await produce(topic, records, { broker });
  const brokers = [`127.0.0.1:${network.port}`];
  const consumer = await startConsumer({ topics: [topic], brokers, settings: { consumer: { maxBatchRecords: 200 } } });
  await awaitRoot(consumer, 'a lag', (health) => Number(lagOf(health)) > 0);
  return { consumer, topic, network };
}

longTest(
  'the network to Kafka cut with 150,000 records waiting: no lag is made up, and each is written once',
  async () => {
    const { consumer, topic, network } = await inTheMiddle();
    network.cut();
    const [seconds = 0] = await values(consumer, METRICS.lagSeconds);
    await until('the lag in seconds to grow', async () => {
      const [later = 0] = await values(consumer, METRICS.lagSeconds);
      return later > seconds ? true : undefined;
    });
    await awaitUnknownLag(consumer);
    await awaitNoLagSeries(consumer);
    network.restore();
    await awaitEachOnce({ schema: consumer.schema, topic, records: WAITING, timeout: 90_000 });
    await awaitRoot(consumer, 'a lag of 0', (health) => lagOf(health) === 0);
  },
);

longTest(
  "a log's end that no broker reports when it is asked is known by fetches, and is in the log once",
  async () => {
    const { broker, letThrough } = await startProxiedKafka();
    const topic = await createTopic({ broker });
    await produce(topic, [{ value: '{}' }], { broker });
    const consumer = await startConsumer({ topics: [topic], brokers: [broker] });
    await awaitRoot(consumer, 'a lag of 0', (health) => lagOf(health) === 0);
    letThrough(({ kind }) => kind !== REQUEST.listOffsets);
    const lines = (text: string) => consumer.logs.all.filter((line) => line.includes(text));
    const ages: number[] = [];
    // The answer is waited for twice, for 30 s each.
    await until(
      'a line about it',
      async () => {
        const [age = Number.NaN] = await values(consumer, METRICS.logEndAge, topic);
        ages.push(age);
        return lines('the brokers do not report the end of the log').length > 0 ? true : undefined;
      },
      120_000,
    );
    expect(Math.max(...ages)).toBeLessThan(10);
    expect(await values(consumer, METRICS.recordsLag, topic)).toEqual([0]);
    letThrough(() => true);
    await until('a line about its end', async () =>
      lines('the brokers report the end of the log again').length > 0 ? true : undefined,
    );
    expect(lines('the brokers do not report the end of the log')).toHaveLength(1);
  },
);
