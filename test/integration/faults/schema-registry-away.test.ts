import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { EXIT_CODE } from '../../../contract/exit-code.ts';
import { METRICS } from '../../../contract/metrics.ts';
import { json, RegistryStub } from '../../app/formats/registry/registry-stub.ts';
import { query } from '../stack/database.ts';
import { createTopic, produce } from '../stack/kafka-client.ts';
import { IS_LONG_RUN } from '../stack/long-test.ts';
import { startConsumer } from '../stack/start-consumer.ts';
import { awaitEachOnce } from '../stack/stored-rows.ts';
import { awaitRoot, root, values } from '../stack/told-health.ts';
import { testApicurio } from './apicurio.ts';

const JSON_SCHEMA = { schemaType: 'JSON', schema: '{"type":"object"}' };

const behind = (id: number) => ({ value: Buffer.from(`\0\0\0\0${String.fromCharCode(id)}{"schema":${id}}`) });

let registry: RegistryStub;

beforeEach(async () => {
  registry = await new RegistryStub().start();
  for (const id of [1, 2]) {
    registry.answer(`/schemas/ids/${id}`, json(200, JSON_SCHEMA));
  }
});

afterEach(() => registry.stop());

const startWith = (topics: readonly string[], [payments = '']: readonly string[]) =>
  startConsumer({
    topics,
    settings: { formats: { [payments]: 'registry' } as object, schemaRegistry: { url: registry.url, timeout: '1s' } },
  });

test('while the registry is away, records of its topic wait, those of others do not, and none becomes a dead letter', async () => {
  const [payments, orders] = [await createTopic(), await createTopic()];
  const consumer = await startWith([payments, orders], [payments]);
  await consumer.waitForHealth();
  await produce(payments, [behind(1)]);
  await awaitEachOnce({ schema: consumer.schema, topic: payments, records: 1 });

  const { port } = registry;
  await registry.stop();
  await produce(payments, [behind(1), behind(2), behind(1)]);
  await produce(orders, [{ value: '{"order":1}' }]);
  await awaitEachOnce({ schema: consumer.schema, topic: orders, records: 1 });
  const down = await awaitRoot(consumer, 'the registry to be DOWN', ({ components }) => {
    return components['schemaRegistry']?.status === 'DOWN';
  });
  expect(down.status).toBe('DOWN');
  expect(down.components['schemaRegistry']?.details).toMatchObject({ partitions: { [payments]: [0] } });
  expect(down.components['consumer']?.status).toBe('UP');
  expect((await consumer.get(`${consumer.endpoint.healthPath}/liveness`)).status).toBe(200);
  const [wait = 0] = await values(consumer, METRICS.schemaWait);
  expect(wait).toBeGreaterThan(0);
  await awaitEachOnce({ schema: consumer.schema, topic: payments, records: 1 });

  await registry.start(port);
  await awaitEachOnce({ schema: consumer.schema, topic: payments, records: 4 });
  expect(await query(`SELECT FROM ${consumer.schema}.dead_letters`)).toEqual([]);
  await awaitRoot(consumer, 'the registry to be UP', ({ status }) => status === 'UP');
  expect((await root(consumer)).components['schemaRegistry']?.details).toEqual({ url: [registry.url] });
});

test('a schema that the registry has not, after it was asked twice and once more, makes dead letters of its records alone', async () => {
  const payments = await createTopic();
  const consumer = await startWith([payments], [payments]);
  await consumer.waitForHealth();
  await produce(payments, [behind(1), behind(3), behind(2)]);
  await awaitEachOnce({ schema: consumer.schema, topic: payments, records: 3 });
  const letters = await query(`SELECT "offset"::int AS at, reason, error FROM ${consumer.schema}.dead_letters`);
  expect(letters).toEqual([{ at: 1, reason: 'unknown_schema', error: expect.stringContaining('schema 3') }]);
  expect(registry.paths.filter((path) => path === '/schemas/ids/3')).toHaveLength(3);
});

test('a registry that refuses the login ends the start with 78, before a record is read', async () => {
  const payments = await createTopic();
  registry.everything = json(401, { error_code: 40101, message: 'Unauthorized' });
  await produce(payments, [behind(1)]);
  const consumer = await startWith([payments], [payments]);
  expect(await consumer.exited).toMatchObject({ code: EXIT_CODE.configuration });
  expect(consumer.logs.all.join()).toContain('REGISTRY_REFUSED');
});

if (IS_LONG_RUN) {
  describe("Apicurio's registry", testApicurio);
}
