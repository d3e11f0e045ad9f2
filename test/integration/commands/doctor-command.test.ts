import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, test } from '@jest/globals';
import { createTopicWithLeaders } from '../../../dev/stack/topic.ts';
import { json, notFound, RegistryStub } from '../../app/formats/registry/registry-stub.ts';
import { query } from '../stack/database.ts';
import { createTopic, kafkaClient } from '../stack/kafka-client.ts';
import { longTest } from '../stack/long-test.ts';
import { randomName } from '../stack/random-name.ts';
import { databaseEnvironment, runCommand, startCommand } from '../stack/run-command.ts';
import { sharedBroker, sharedDatabaseUrl } from '../stack/shared-stack.ts';
import { type ConsumerUnderTest, startConsumer, writeConfiguration } from '../stack/start-consumer.ts';
import { examine, expectSameEnd, expectTroubles } from './examined.ts';

const servers: Server[] = [];
const registries: RegistryStub[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) server.close();
  for (const registry of registries.splice(0)) await registry.stop();
});

async function startRegistry(): Promise<RegistryStub> {
  const registry = await new RegistryStub().start();
  registries.push(registry);
  return registry;
}

/** A server that takes connections and never says a word, and how many it has. */
async function silentServer(): Promise<{ readonly address: string; readonly connected: Promise<unknown> }> {
  const server = createServer((socket) => socket.on('error', () => undefined).resume());
  server.listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  return { address: `127.0.0.1:${(server.address() as AddressInfo).port}`, connected: once(server, 'connection') };
}

/** Topics with these names. */
async function createTopics(...topics: readonly string[]): Promise<void> {
  const admin = kafkaClient().admin();
  await admin.connect();
  for (const topic of topics) await createTopicWithLeaders(admin, { topic, numPartitions: 3 });
  await admin.disconnect();
}

test('the page is that of docs/doctor.md, with OK, WRONG and AWAY, and the code is 78', async () => {
  const id = randomName('').slice(1);
  const [orders, payments, missing, group] = ['orders', 'payments', 'paymnets', 'orders-consumer'].map(
    (name) => `${name}-${id}`,
  );
  const [schema, shop, role] = [`stream_consumer_${id}`, `shop_${id}`, `writer_${id}`];
  await createTopics(`${orders}`, `${payments}`);
  expect(await runCommand(['migrate'], { env: databaseEnvironment(sharedDatabaseUrl(), schema) })).toMatchObject({
    code: 0,
  });
  await query(`CREATE ROLE ${role} LOGIN PASSWORD 'p'; CREATE SCHEMA ${shop}; CREATE TABLE ${shop}.orders (id int, total int);
    GRANT USAGE ON SCHEMA ${schema}, ${shop} TO ${role}; GRANT ALL ON ALL TABLES IN SCHEMA ${schema}, ${shop} TO ${role};
    REVOKE INSERT ON ${schema}.dead_letters FROM ${role}`);
  const registry = await startRegistry();
  registry.everything = json(503, {});
  const url = new URL(sharedDatabaseUrl());
  Object.assign(url, { username: role, password: 'p' });
  const { configFile } = await writeConfiguration({
    topics: [`${missing}`],
    groupId: `${group}`,
    schema,
    databaseUrl: url.href,
    settings: {
      database: { migrate: false },
      schemaRegistry: { url: [registry.url] },
      formats: { [`${orders}`]: { value: 'registry' } },
      tables: [{ topic: orders, table: `${shop}.orders`, columns: { totl: 'total' } }],
    },
  });
  const free = await silentServer();
  servers.splice(0).forEach((server) => {
    server.close();
  });
  const port = free.address.split(':')[1] ?? '';
  const { stdout, stderr, code } = await runCommand(['doctor', '--config', configFile], { env: { SERVER_PORT: port } });
  expect({ code, stderr }).toEqual({ code: 78, stderr: '' });
  const shown = stdout
    .replaceAll(new RegExp(`[-_]${id}`, 'g'), '')
    .replaceAll(sharedBroker(), 'kafka.example:9092')
    .replaceAll(url.host, 'db.example:5432')
    .replaceAll(registry.url, 'http://registry.example:8081')
    .replaceAll(`port ${port}:`, 'port 8080:')
    .replaceAll(/PostgreSQL [\d.]+,/g, 'PostgreSQL 18.4,');
  const [, documented] = /```text\n([\s\S]*?)```/.exec(readFileSync('docs/doctor.md', 'utf8')) ?? [];
  expect(shown.split('\n')).toEqual(documented?.split('\n'));
  await query(`DROP OWNED BY ${role}; DROP ROLE ${role}; DROP SCHEMA ${schema}, ${shop} CASCADE`);
});

describe('the schema registry', () => {
  const withRegistry = async (url: string, changed: object = {}): Promise<ConsumerUnderTest & { topic: string }> => {
    const topic = await createTopic();
    const formats = { [topic]: { value: 'registry' } };
    return { topic, topics: [topic], settings: { schemaRegistry: { url: [url], ...changed }, formats } };
  };

  test('that is away is AWAY, and the code is 1', async () => {
    const chosen = await withRegistry('http://127.0.0.1:1');
    const trouble = { check: 'subject', name: `${chosen.topic}-value`, status: 'away' } as const;
    await expectTroubles(chosen, 1, { ...trouble, message: expect.stringContaining('ECONNREFUSED') });
  });

  longTest(
    'that refuses the login is WRONG without its secret, and ends the start of a consumer with the same code',
    async () => {
      const registry = await startRegistry();
      registry.everything = (request, response) =>
        json(401, { message: request.headers.authorization })(request, response);
      const chosen = await withRegistry(registry.url, { username: 'u', password: 'canary-registry' });
      await expectSameEnd(chosen, {
        check: 'subject',
        status: 'wrong',
        code: 'REGISTRY_REFUSED',
        message: expect.stringMatching(/answered 401.*check the login of schemaRegistry/),
      });
      const { findings } = await examine(chosen);
      expect(JSON.stringify(findings)).not.toContain(Buffer.from('u:canary-registry').toString('base64'));
    },
  );

  test('that has a schema, or none yet, is OK, and one that cannot be used is a warning', async () => {
    const registry = await startRegistry();
    const chosen = await withRegistry(registry.url);
    const path = `/subjects/${chosen.topic}-value/versions/latest`;
    const found = async () => (await examine(chosen)).findings.find(({ check }) => check === 'subject');
    registry.answer(path, notFound(40401));
    expect(await found()).toMatchObject({ status: 'ok', message: 'the registry has no schema of it yet' });
    registry.answer(path, json(200, { id: 7, schema: '"string"' }));
    expect(await found()).toMatchObject({ status: 'ok', message: 'schema 7 of type AVRO is its latest' });
    registry.answer(path, json(200, { id: 8, schemaType: 'THRIFT', schema: '' }));
    expect(await found()).toMatchObject({ status: 'warning', message: expect.stringContaining('schema 8') });
  });
});

describe('the management port', () => {
  longTest('that another process has is WRONG, and ends the start of a consumer with the same code', async () => {
    const { address } = await silentServer();
    const port = Number(address.split(':')[1]);
    await expectSameEnd(
      { topics: [await createTopic()], port, settings: { server: { address: '127.0.0.1' } } },
      {
        check: 'port',
        name: String(port),
        status: 'wrong',
        code: 'LISTEN_FAILED',
        message: expect.stringContaining('set server.port (SERVER_PORT) to a free port'),
      },
    );
  });

  test('that a consumer has is a warning, since doctor may run beside it', async () => {
    const topic = await createTopic();
    const consumer = await startConsumer({ topics: [topic] });
    await consumer.waitForHealth();
    const { port, groupId, schema } = consumer;
    const message = expect.stringContaining('right where doctor runs beside it');
    await expectTroubles({ topics: [topic], port, groupId, schema }, 0, { check: 'port', status: 'warning', message });
  });
});

test('no secret of the settings is in the output, whatever is refused', async () => {
  const registry = await startRegistry();
  registry.everything = json(403, {});
  const databaseUrl = sharedDatabaseUrl().replace(/:[^:@]*@/, ':canary-database@');
  const topic = await createTopic();
  const { configFile } = await writeConfiguration({
    topics: [topic],
    databaseUrl,
    settings: {
      kafka: { sasl: { mechanism: 'plain', username: 'u', password: 'canary-kafka' } },
      schemaRegistry: { url: [registry.url], token: 'canary-token' },
      formats: { [topic]: { value: 'registry' } },
      management: { security: { token: 'canary-management' } },
    },
  });
  for (const args of [[], ['--json']]) {
    const env = { SERVER_PORT: '0' };
    const { stdout, stderr, code } = await runCommand(['doctor', '--config', configFile, ...args], { env });
    expect(code).toBe(78);
    for (const refused of ['login', `subject ${topic}-value`, 'host']) {
      expect(stdout.replaceAll('","name":"', ' ')).toContain(refused);
    }
    expect(`${stdout}${stderr}`).not.toContain('canary');
  }
});

const silentEnvironment = (address: string) => ({
  ...databaseEnvironment(`postgresql://u:p@${address}/d`, 's'),
  KAFKA_BROKERS: address,
  SERVER_PORT: '0',
});

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('%s ends it at once, without a word, by the code %d', async (signal, code) => {
  const { address, connected } = await silentServer();
  const child = startCommand(['doctor'], { env: silentEnvironment(address) });
  const [stdout, stderr, closed] = [text(child.stdout), text(child.stderr), once(child, 'close')];
  await connected;
  child.kill(signal);
  expect(await closed).toEqual([code, null]);
  expect([await stdout, await stderr]).toEqual(['', '']);
});

longTest('servers that never answer are AWAY, and the code is 1', async () => {
  const { address } = await silentServer();
  const { stdout, code } = await runCommand(['doctor'], { env: silentEnvironment(address) });
  expect(stdout).toContain(`AWAY     broker ${address}: `);
  expect(stdout).toContain(`AWAY     host ${address}: `);
  expect(code).toBe(1);
});

test('wrong settings are code 78 before anything is asked', async () => {
  const env = { ...silentEnvironment('127.0.0.1:1'), DATABASE_POOL_SIZE: 'many' };
  const { stdout, stderr, code } = await runCommand(['doctor'], { env });
  expect({ stdout, code }).toEqual({ stdout: '', code: 78 });
  expect(stderr).toContain('database.poolSize');
});
