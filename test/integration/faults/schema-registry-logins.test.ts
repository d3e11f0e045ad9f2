import { mkdtempSync } from 'node:fs';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { mountSecret } from '../../app/configuration/mounted-secret.ts';
import { json, RegistryStub } from '../../app/formats/registry/registry-stub.ts';
import { query } from '../stack/database.ts';
import { createTopic, produce } from '../stack/kafka-client.ts';
import { longTest, someCases } from '../stack/long-test.ts';
import { type StartedConsumer, startConsumer } from '../stack/start-consumer.ts';
import { awaitEachOnce } from '../stack/stored-rows.ts';
import { testAuthority } from '../stack/test-authority.ts';
import { testRun } from '../stack/test-run.ts';
import { awaitRoot } from '../stack/told-health.ts';

const JSON_SCHEMA = { schemaType: 'JSON', schema: '{"type":"object"}' };
const CANARY = 'hunter2-rotated';

const behind = (id: number) => ({ value: Buffer.from(`\0\0\0\0${String.fromCharCode(id)}{"schema":${id}}`) });

let registry: RegistryStub;
let topic: string;
let folder: string;

beforeEach(async () => {
  topic = await createTopic();
  folder = mkdtempSync(join((await testRun()).path, 'registry-'));
});

afterEach(() => registry.stop());

/** A registry with two schemas for who shows this header; else it answers 401. */
const answerTo = (authorization: string) => {
  for (const id of [1, 2]) {
    registry.answer(`/schemas/ids/${id}`, (request, response) =>
      request.headers.authorization === authorization
        ? json(200, JSON_SCHEMA)(request, response)
        : json(401, { error_code: 40101, message: 'Unauthorized' })(request, response),
    );
  }
};

const start = (schemaRegistry: object, env: Readonly<Record<string, string>> = {}) =>
  startConsumer({ topics: [topic], settings: { formats: { [topic]: 'registry' } as object, schemaRegistry }, env });

/** Nothing is a dead letter while the registry refuses; then all that came is written, once. */
async function goesOn(consumer: StartedConsumer, rotate: () => void | Promise<void>): Promise<void> {
  await produce(topic, [behind(2), behind(1)]);
  await awaitRoot(consumer, 'the registry to be DOWN', ({ components }) => {
    return components['schemaRegistry']?.status === 'DOWN';
  });
  await rotate();
  await awaitEachOnce({ schema: consumer.schema, topic, records: 3 });
  expect(await query(`SELECT FROM ${consumer.schema}.dead_letters`)).toEqual([]);
  await awaitRoot(consumer, 'the registry to be UP', ({ status }) => status === 'UP');
}

test.each(
  someCases<[string, Readonly<Record<string, string>>, object, (secret: string) => string]>(1, [
    [
      'password',
      { 'schemaRegistry.password': '?' },
      { username: 'consumer' },
      (secret) => `Basic ${Buffer.from(`consumer:${secret}`).toString('base64')}`,
    ],
    ['token', { 'schemaRegistry.token': '?' }, {}, (secret) => `Bearer ${secret}`],
  ]),
)(
  'a consumer whose %s at the registry is rotated waits, and goes on once the file has it',
  async (_, files, more, header) => {
    const mount = (secret: string) =>
      mountSecret(folder, Object.fromEntries(Object.keys(files).map((name) => [name, secret])));
    registry = await new RegistryStub().start();
    answerTo(header('first-secret'));
    mount('first-secret');
    const consumer = await start({ url: registry.url, ...more }, { CONFIG_TREE: folder });
    await produce(topic, [behind(1)]);
    await awaitEachOnce({ schema: consumer.schema, topic, records: 1 });
    answerTo(header(CANARY));
    await goesOn(consumer, () => mount(CANARY));
    const log = consumer.logs.all.join('\n');
    expect(log).toContain('check the login of schemaRegistry');
    expect(log).not.toMatch(
      new RegExp(`${CANARY}|first-secret|${Buffer.from(`consumer:${CANARY}`).toString('base64')}`),
    );
  },
);

longTest(
  'a client certificate that is renewed in its files is shown to the registry, which takes the old one no longer',
  async () => {
    const [company, first, second] = [
      await testAuthority('company'),
      await testAuthority('first'),
      await testAuthority('second'),
    ];
    const server = await company.issue('registry', { names: ['localhost'] });
    const accepting = (clients: string) =>
      new RegistryStub((listener) => createServer({ ...server, ca: clients, requestCert: true }, listener));
    const has = (id: number) => registry.answer(`/schemas/ids/${id}`, json(200, JSON_SCHEMA));
    const mount = async (authority: typeof first) => {
      const { cert, key } = await authority.issue('consumer');
      mountSecret(folder, { 'ca.crt': company.ca, 'tls.crt': cert, 'tls.key': key });
    };
    registry = await accepting(first.ca).start();
    has(1);
    await mount(first);
    const file = (name: string) => join(folder, name);
    const tls = { ca: file('ca.crt'), certificate: file('tls.crt'), privateKey: file('tls.key') };
    const { port } = registry;
    const consumer = await start({ url: `https://localhost:${port}`, tls, timeout: '1s' });
    await produce(topic, [behind(1)]);
    await awaitEachOnce({ schema: consumer.schema, topic, records: 1 });
    await registry.stop();
    registry = await accepting(second.ca).start(port);
    has(2);
    await goesOn(consumer, () => mount(second));
    await consumer.logs.waitFor(/client certificate renewed/);
  },
);
