import { expect, test } from '@jest/globals';
import { METRICS } from '../../../contract/metrics.ts';
import { json, RegistryStub } from '../../app/formats/registry/registry-stub.ts';
import { withDatabase } from '../stack/database.ts';
import { createTopic, kafkaClient, produce } from '../stack/kafka-client.ts';
import { longTest } from '../stack/long-test.ts';
import { startPrivateKafka, startPrivatePostgres } from '../stack/private-servers.ts';
import { startPrometheus } from '../stack/prometheus-server.ts';
import { runbookCommand } from '../stack/runbook.ts';
import { type StartedConsumer, startConsumer } from '../stack/start-consumer.ts';
import { awaitEachOnce } from '../stack/stored-rows.ts';
import { values } from '../stack/told-health.ts';
import { until } from '../stack/until.ts';

test('PostgreSQL stopped: DatabaseConnectionFailures and HealthCheckFailing show the reason', async () => {
  const postgres = await startPrivatePostgres();
  const consumer = await startConsumer({ topics: [await createTopic()], databaseUrl: postgres.urlWithPassword });
  await consumer.waitForHealth();
  await postgres.stop();
  await consumer.logs.waitFor(/ECONNREFUSED/);
  await consumer.waitForHealth(503);
  expect(await runbookCommand('DatabaseConnectionFailures', { consumer })).toMatch(/PostgreSQL is away|ECONNREFUSED/);
  expect(await runbookCommand('DatabaseConnectionFailures', { consumer }, 'ask')).toContain('ECONNREFUSED');
  expect(await runbookCommand('HealthCheckFailing', { consumer })).toMatch(/"db":\{"status":"DOWN".*ECONNREFUSED/);
});

test('Kafka stopped: KafkaUnreachable shows the reason and the broker', async () => {
  const kafka = await startPrivateKafka();
  const { broker } = kafka;
  const consumer = await startConsumer({ topics: [await createTopic({ broker })], brokers: [broker] });
  await consumer.waitForHealth();
  await kafka.stop();
  await consumer.logs.waitFor(/Kafka is away/);
  const printed = await runbookCommand('KafkaUnreachable', { consumer });
  expect(printed).toContain('Kafka is away');
  expect(printed).toContain(`ECONNREFUSED ${broker}`);
  expect(await runbookCommand('KafkaUnreachable', { consumer }, 'ask')).toMatch(/pod\/.*\n.*"status":"DOWN"/);
});

test('the schema registry stopped: SchemaRegistryAway shows the reason, the URL and the partitions that wait', async () => {
  const registry = await new RegistryStub().start();
  const { url } = registry;
  const topic = await createTopic();
  const settings = { formats: { [topic]: 'registry' } as object, schemaRegistry: { url } };
  const consumer = await startConsumer({ topics: [topic], settings });
  await consumer.waitForHealth();
  registry.everything = json(503, {});
  await produce(topic, [{ value: Buffer.from('\0\0\0\0\u0001{}') }]);
  await consumer.logs.waitFor(/the schema registry is away/);
  expect(await runbookCommand('SchemaRegistryAway', { consumer })).toContain(`${url}/schemas/ids/1 answered 503`);
  const asked = await runbookCommand('SchemaRegistryAway', { consumer }, 'ask');
  await registry.stop();
  expect(asked).toMatch(new RegExp(`"status":"DOWN".*answered 503.*"partitions":\\{"${topic}":\\[0\\]`));
});

/** A lock on `records`, held while the work is done, with records that wait for it. */
async function withLockedRecords(work: (consumer: StartedConsumer, topic: string, pid: number) => Promise<void>) {
  const topic = await createTopic();
  const settings = { consumer: { stallTimeout: '2s' }, database: { statementTimeout: '4s' } };
  const consumer = await startConsumer({ topics: [topic], settings });
  await consumer.waitForHealth();
  await withDatabase(async ({ client }) => {
    await client.query('BEGIN');
    await client.query(`LOCK TABLE ${consumer.schema}.records IN ACCESS EXCLUSIVE MODE`);
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    await produce(topic, [{ value: JSON.stringify({ pad: 'x'.repeat(200_000) }) }]);
    await work(consumer, topic, rows[0]?.pid ?? 0);
    await client.query('ROLLBACK');
  });
}

longTest(
  'a lock on records: ConsumerLagHigh, ConsumerLagTime and MemoryHigh show it, what stalls, and the session',
  async () => {
    await withLockedRecords(async (consumer, topic, pid) => {
      await consumer.waitForHealth(503);
      await consumer.logs.waitFor(/a lock keeps rows out/);
      expect(await runbookCommand('ConsumerLagHigh', { consumer })).toMatch(
        new RegExp(`"holders":\\[\\{"pid":${pid},`),
      );
      const stalled = new RegExp(`"stalled":\\[\\{"topic":"${topic}","partition":0,"since"`);
      expect(await runbookCommand('ConsumerLagTime', { consumer })).toMatch(stalled);
      expect(await runbookCommand('HealthCheckFailing', { consumer })).toMatch(stalled);
      await until('a writer that waits', async () =>
        (await runbookCommand('ConsumerLagTime', { consumer }, 'psql')).includes(`${pid}`) ? true : undefined,
      );
      const job = { job_name: 'orders-consumer', metrics_path: consumer.endpoint.prometheusPath };
      const static_configs = [{ targets: [`127.0.0.1:${consumer.port}`] }];
      const { url } = await startPrometheus({ scrapeConfigs: [{ ...job, static_configs }] });
      expect(await runbookCommand('MemoryHigh', { consumer, prometheus: url })).toMatch(/"area":"nonheap"/);
      const heap = await runbookCommand('HeapNearItsLimit', { consumer, prometheus: url });
      expect(JSON.parse(heap)).toMatchObject({ data: { result: [{ metric: { job: 'orders-consumer' } }] } });
    });
  },
);

test('a fatal error: ConsumerRestarting shows its code and what to do', async () => {
  const topic = await createTopic();
  const consumer = await startConsumer({ topics: [topic] });
  await consumer.waitForHealth();
  await withDatabase(async ({ client }) => client.query(`DROP SCHEMA ${consumer.schema} CASCADE`));
  await produce(topic, [{ value: '{}' }]);
  expect(await consumer.exited).toMatchObject({ code: 1 });
  expect(await runbookCommand('ConsumerRestarting', { consumer })).toMatch(/"level":"fatal".*"code":"[A-Z_]+"/);
});

longTest('a second member that comes and goes: RebalanceStorm shows each assignment', async () => {
  const topic = await createTopic({ partitions: 2 });
  const consumer = await startConsumer({ topics: [topic] });
  await consumer.waitForHealth();
  const { groupId, schema } = consumer;
  const second = await startConsumer({ topics: [topic], groupId, schema });
  await second.logs.waitFor(/"assigned"/);
  second.kill('SIGTERM');
  await until('three rebalances', async () =>
    ((await values(consumer, METRICS.clientRebalances))[0] ?? 0) >= 3 ? true : undefined,
  );
  const printed = await runbookCommand('RebalanceStorm', { consumer });
  expect(printed.split('\n').filter((line) => line.includes('"msg":"assigned"')).length).toBeGreaterThan(2);
});

test('a member that is no Pod of the consumer: PartitionUnassigned shows which partitions the Pods have', async () => {
  const topic = await createTopic({ partitions: 2 });
  const consumer = await startConsumer({ topics: [topic] });
  await consumer.waitForHealth();
  const { groupId } = consumer;
  const stranger = kafkaClient().consumer({ groupId });
  await stranger.connect();
  await stranger.subscribe({ topic });
  await stranger.run({ eachMessage: async () => undefined });
  await consumer.logs.waitFor(/"partitions":\{"\w+":\[\d\]\},"msg":"assigned"/);
  expect(await runbookCommand('PartitionUnassigned', { consumer })).toMatch(
    new RegExp(`"partitions":\\{"${topic}":\\[\\d\\]\\},"msg":"assigned"`),
  );
  expect(await runbookCommand('PartitionUnassigned', { consumer }, 'ask')).toMatch(
    /"assignedPartitions":\{"\w+":\[\d\]\}/,
  );
  await stranger.disconnect();
});

test('records with old timestamps: RecordsLate shows that they were late before they were fetched', async () => {
  const topic = await createTopic();
  const consumer = await startConsumer({ topics: [topic] });
  await produce(topic, [{ value: '{}', timestamp: Date.now() - 3_600_000 }]);
  await awaitEachOnce({ schema: consumer.schema, topic, records: 1 });
  const printed = await runbookCommand('RecordsLate', { consumer });
  const sum = (name: string) =>
    Number(new RegExp(`^consumer_${name}_seconds_sum\\{.*\\} (\\S+)$`, 'm').exec(printed)?.[1]);
  expect(sum('end_to_end')).toBeGreaterThan(3_000);
  expect(sum('processing')).toBeLessThan(60);
});
