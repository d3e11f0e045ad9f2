import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { freePort } from '../../../dev/run/free-port.ts';
import { AdminServer } from '../../app/management/admin-server.ts';
import { createTopic } from '../stack/kafka-client.ts';
import { type StartedConsumer, startConsumer } from '../stack/start-consumer.ts';

const TOKEN = 'b-7f3a';
const ADMIN_PASSWORD = 'hunter2';

const admin = new AdminServer();
let consumer: StartedConsumer;
let serverPort: number;

beforeAll(async () => {
  await admin.listen();
  serverPort = await freePort();
  const client = { url: [admin.url], username: 'consumer', password: ADMIN_PASSWORD };
  consumer = await startConsumer({
    topics: [await createTopic()],
    port: serverPort,
    settings: {
      management: {
        server: { port: await freePort() },
        security: { token: TOKEN },
        endpoints: { web: { 'base-path': '/ops' } },
      },
      spring: { boot: { admin: { client } } },
    },
  });
  await consumer.waitForHealth();
});
afterAll(() => admin.close());

test('the process answers at the management port and its base path, and nowhere else', async () => {
  expect(consumer.port).not.toBe(serverPort);
  expect((await consumer.get('/actuator/health')).status).toBe(401);
  await expect(fetch(`http://127.0.0.1:${serverPort}/ops/health`)).rejects.toThrow();
});

test('without the credential it tells the status of the health, with it everything', async () => {
  const health = await consumer.get('/ops/health');
  expect(await health.json()).toEqual({ status: 'UP', groups: ['liveness', 'readiness'] });
  expect((await consumer.get('/ops/prometheus')).status).toBe(401);
  const scrape = await fetch(`http://127.0.0.1:${consumer.port}/ops/prometheus`, {
    headers: { authorization: `Bearer ${TOKEN}` },
  });
  expect([scrape.status, await scrape.text()]).toEqual([200, expect.stringContaining('jvm_memory_used_bytes')]);
});

test('it is registered at Spring Boot Admin, signs off on SIGTERM, and told nobody its secrets', async () => {
  expect([...admin.instances.values()]).toMatchObject([
    { healthUrl: expect.stringContaining(`:${consumer.port}/ops/health`) },
  ]);
  consumer.kill('SIGTERM');
  expect(await consumer.exited).toMatchObject({ code: 0 });
  expect(admin.instances.size).toBe(0);
  expect(consumer.logs.all.join('\n')).toContain('registered at Spring Boot Admin');
  expect(consumer.logs.all.join('\n')).not.toMatch(new RegExp(`${TOKEN}|${ADMIN_PASSWORD}`));
});
