import { expect, test } from '@jest/globals';
import { METRICS } from '../../../contract/metrics.ts';
import { TcpProxy } from '../../../dev/chaos/tcp-proxy.ts';
import { query, withDatabase } from '../stack/database.ts';
import { createTopic, produce } from '../stack/kafka-client.ts';
import { longTest } from '../stack/long-test.ts';
import { startPrivateKafka } from '../stack/private-servers.ts';
import { sharedDatabaseUrl } from '../stack/shared-stack.ts';
import { startConsumer } from '../stack/start-consumer.ts';
import { awaitEachOnce } from '../stack/stored-rows.ts';
import { testRun } from '../stack/test-run.ts';
import { awaitRoot, lagOf, root, values } from '../stack/told-health.ts';
import { until } from '../stack/until.ts';

test('Kafka away from the start: no lag is told, only for how long nothing is known; readiness is not UP', async () => {
  const kafka = await startPrivateKafka();
  const topic = await createTopic({ broker: kafka.broker });
  await kafka.stop();
  const consumer = await startConsumer({ topics: [topic], brokers: [kafka.broker] });
  const health = await awaitRoot(consumer, 'Kafka to be seen away', ({ status }) => status === 'UP');
  expect(health.components).toMatchObject({ kafka: { status: 'DOWN' }, consumer: { details: { lag: null } } });
  expect((await consumer.get(consumer.endpoint.readinessPath)).status).toBe(503);
  expect(await values(consumer, METRICS.recordsLag)).toEqual([]);
  expect(await values(consumer, METRICS.lagSeconds)).toEqual([]);
  const [before] = await values(consumer, METRICS.logEndAge);
  await until('the age to grow', async () => {
    const [age] = await values(consumer, METRICS.logEndAge);
    return before !== undefined && age !== undefined && age > before ? true : undefined;
  });
});

/** A consumer that has read all of a topic of a Kafka that is frozen by then. */
async function frozenWhenCaughtUp() {
  const { broker, pid } = await startPrivateKafka();
  const topic = await createTopic({ broker });
  await produce(topic, [{ value: '{}' }], { broker });
  const consumer = await startConsumer({ topics: [topic], brokers: [broker] });
  await awaitEachOnce({ schema: consumer.schema, topic, records: 1 });
  await awaitRoot(consumer, 'a lag of 0', (health) => lagOf(health) === 0);
  process.kill(pid, 'SIGSTOP');
  return { consumer, thaw: () => process.kill(pid, 'SIGCONT') };
}

test('a frozen Kafka: the lag turns null in the health, and comes back with Kafka', async () => {
  const { consumer, thaw } = await frozenWhenCaughtUp();
  const health = await awaitRoot(consumer, 'the lag to be unknown', (answer) => lagOf(answer) === null);
  expect(health).toMatchObject({ status: 'UP', components: { kafka: { status: 'DOWN' } } });
  const [age] = await values(consumer, METRICS.logEndAge);
  expect(age).toBeGreaterThan(15);
  thaw();
  await awaitRoot(consumer, 'the lag to be known again', (answer) => lagOf(answer) === 0);
});

longTest("a frozen Kafka: after a minute the lag's series are gone, and the age of the log's end goes on", async () => {
  const { consumer, thaw } = await frozenWhenCaughtUp();
  expect(await values(consumer, METRICS.lagSeconds)).toEqual([0]);
  await until(
    'the series to be gone',
    async () => ((await values(consumer, METRICS.recordsLag)).length === 0 ? true : undefined),
    90_000,
  );
  expect(await values(consumer, METRICS.lagSeconds)).toEqual([]);
  const [age] = await values(consumer, METRICS.logEndAge);
  expect(age).toBeGreaterThan(60);
  thaw();
  await until('the series to be back', async () =>
    (await values(consumer, METRICS.recordsLag))[0] === 0 ? true : undefined,
  );
});

longTest(
  'a lock on offsets for longer than stallTimeout is not UP, though both checks are; it is again without the lock',
  async () => {
    const topic = await createTopic();
    const settings = { consumer: { stallTimeout: '6s' }, database: { statementTimeout: '1s' } };
    const consumer = await startConsumer({ topics: [topic], settings });
    await consumer.waitForHealth();
    await withDatabase(async ({ client }) => {
      await client.query('BEGIN');
      await client.query(`LOCK TABLE ${consumer.schema}.offsets IN ACCESS EXCLUSIVE MODE`);
      await produce(topic, [{ value: '{}' }]);
      const health = await awaitRoot(consumer, 'the consumer to be DOWN', ({ status }) => status === 'DOWN');
      expect(health.components).toMatchObject({
        consumer: { status: 'DOWN', details: { state: 'paused', stalled: [{ topic, partition: 0, nextOffset: '0' }] } },
        db: { status: 'UP' },
        kafka: { status: 'UP' },
      });
      await client.query('ROLLBACK');
    });
    await consumer.waitForHealth();
    await awaitEachOnce({ schema: consumer.schema, topic, records: 1 });
  },
);

longTest('a PostgreSQL with a round trip of 4 s whose writes succeed is UP all the time', async () => {
  const proxy = await TcpProxy.listen();
  (await testRun()).beforeClose(() => proxy.close());
  const url = new URL(sharedDatabaseUrl());
  proxy.forwardTo(Number(url.port));
  url.host = `127.0.0.1:${proxy.port}`;
  const topic = await createTopic();
  await produce(topic, [{ value: '0' }]);
  const consumer = await startConsumer({ topics: [topic], databaseUrl: url.href });
  await awaitEachOnce({ schema: consumer.schema, topic, records: 1 });
  await consumer.waitForHealth();
  proxy.delayBy(2_000);
  const statuses = new Set<string>();
  for (let written = 1; written < 4; written += 1) {
    await produce(topic, [{ value: `${written}` }]);
    await until('the record to be written', async () => {
      statuses.add((await root(consumer)).status);
      const rows = await query<{ count: number }>(`SELECT count(*)::int FROM ${consumer.schema}.records`);
      return rows[0]?.count === written + 1 ? true : undefined;
    });
  }
  expect([...statuses]).toEqual(['UP']);
});

test('while the log ends below the stored offset, nothing is UP and the reason is told', async () => {
  const topic = await createTopic();
  await produce(topic, [{ value: '1' }]);
  const before = await startConsumer({ topics: [topic] });
  const { groupId, schema } = before;
  await awaitEachOnce({ schema, topic, records: 1 });
  before.kill('SIGTERM');
  await before.exited;
  await query(`UPDATE ${schema}.offsets SET next_offset = 100`);
  const consumer = await startConsumer({ topics: [topic], groupId, schema });
  const seen = new Set<string>();
  const look = () =>
    awaitRoot(consumer, 'the offset to be awaited', ({ status, components }) => {
      seen.add(status);
      return components['consumer']?.details?.['awaiting'] !== undefined;
    });
  await look();
  await until('the log to say so for a while', async () => {
    const { components } = await look();
    expect(components['consumer']?.details).toMatchObject({
      lag: null,
      awaiting: [{ topic, partition: 0, awaits: expect.any(String) }],
    });
    const [age = 0] = await values(consumer, METRICS.uptime);
    return age > 8 ? true : undefined;
  });
  expect([...seen]).toEqual(['OUT_OF_SERVICE']);
  expect((await consumer.get(consumer.endpoint.readinessPath)).status).toBe(503);
});

async function waitsSinceItWasFetched(timestamp: number): Promise<void> {
  const topic = await createTopic({ config: { 'message.timestamp.after.max.ms': '9223372036854775807' } });
  const consumer = await startConsumer({ topics: [topic] });
  await consumer.waitForHealth();
  await withDatabase(async ({ client }) => {
    await client.query('BEGIN');
    await client.query(`LOCK TABLE ${consumer.schema}.records IN ACCESS EXCLUSIVE MODE`);
    await produce(topic, [{ value: '{}', timestamp }]);
    await until('the lag in seconds', async () => {
      const [seconds] = await values(consumer, METRICS.lagSeconds);
      return seconds !== undefined && seconds > 2 ? true : undefined;
    });
    await client.query('ROLLBACK');
  });
}

const WAITS = 'waits since it was fetched';

test(`a record whose timestamp is beyond all dates ${WAITS}`, () => waitsSinceItWasFetched(9_000_000_000_000_000));

longTest(`a record whose timestamp is in the future ${WAITS}`, () => waitsSinceItWasFetched(Date.now() + 86_400_000));
