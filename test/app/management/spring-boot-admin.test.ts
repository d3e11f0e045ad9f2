import { EventEmitter, once } from 'node:events';
import { hostname } from 'node:os';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { adminInstance } from '../../../app/management/spring-boot-admin.ts';
import { freePort } from '../../../dev/run/free-port.ts';
import { AdminServer } from './admin-server.ts';
import { type RunningManagement, settingsWith, startManagement } from './running-management.ts';

const V3 = 'application/vnd.spring-boot.actuator.v3+json';
const ACCEPT = [V3, V3.replace('v3', 'v2'), V3.replace('v3', 'v1'), 'application/json'].join(', ');

let server: AdminServer;
let running: RunningManagement | undefined;
let lines: Record<string, unknown>[];

/** Emits each line under its level. */
const log = new EventEmitter();

beforeEach(async () => {
  lines = [];
  server = new AdminServer();
  await server.listen();
});
afterEach(async () => {
  await running?.management.stop();
  running = undefined;
  await server.close();
});

const settingsFor = (client: object, management: object = {}) =>
  settingsWith(management, { spring: { boot: { admin: { client } } } });

async function start(client: object = {}, management: object = {}): Promise<RunningManagement> {
  const instance = { 'service-base-url': 'http://127.0.0.1:1' };
  running = await startManagement({
    settings: settingsFor({ url: [server.url], period: '1s', instance, ...client }, management),
    logging: { level: 'debug' },
    logDestination: {
      write: (text) => {
        const line = JSON.parse(text) as Record<string, unknown>;
        lines.push(line);
        log.emit(String(line['level']), line);
      },
    },
  });
  return running;
}

const logged = (text: string) => lines.filter(({ msg }) => String(msg).includes(text));

test('without a server in the settings nobody is asked', async () => {
  await start({ url: [] });
  await running?.management.stop();
  expect(server.requests).toEqual([]);
});

test('the consumer registers itself with all that the server wants to know, and again after each period', async () => {
  const first = server.next('POST');
  await start();
  const { body, url, authorization } = await first;
  expect([url, authorization]).toEqual(['/instances', undefined]);
  expect(body).toEqual({
    name: 'orders-consumer',
    managementUrl: 'http://127.0.0.1:1/actuator',
    healthUrl: 'http://127.0.0.1:1/actuator/health',
    serviceUrl: 'http://127.0.0.1:1/',
    metadata: { startup: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/) },
  });
  expect((await server.next('POST')).body).toEqual(body);
  expect(server.instances.size).toBe(1);
  expect(logged('registered at Spring Boot Admin')).toHaveLength(1);
});

test('it signs off as soon as it drains, and registers no more', async () => {
  const posted = server.next('POST');
  const { management } = await start();
  await posted;
  const deleted = server.next('DELETE');
  management.draining();
  await deleted;
  await management.stop();
  expect(server.instances.size).toBe(0);
  expect(server.requests.map(({ method }) => method)).toEqual(['POST', 'DELETE']);
});

test('it stays registered at the end when told so', async () => {
  const posted = server.next('POST');
  const { management } = await start({ 'auto-deregistration': false });
  await posted;
  await management.stop();
  expect(server.requests.map(({ method }) => method)).toEqual(['POST']);
});

test('a server that is away or refuses is logged once and asked again, and the consumer works meanwhile', async () => {
  server.failure = 503;
  const { app } = await start();
  await server.next('POST');
  await server.next('POST');
  expect(logged('does not register')).toMatchObject([
    { level: 'warn', reason: expect.stringContaining('answered 503') },
  ]);
  expect((await app.inject({ url: '/actuator/health' })).statusCode).toBe(200);
  server.failure = undefined;
  await server.next('POST');
  await running?.management.stop();
  expect(logged('registered at Spring Boot Admin')).toHaveLength(1);
});

test('an answer that is no JSON is not repeated in the log: it may hold what was sent', async () => {
  server.answer = 'hunter2 hunter2';
  const warned = once(log, 'warn');
  await start();
  await warned;
  expect(logged('does not register')).toMatchObject([{ reason: expect.stringContaining('answered without an id') }]);
  expect(JSON.stringify(lines)).not.toContain('hunter2');
});

test('an answer that is larger than any id is not read to its end', async () => {
  server.answer = 'a'.repeat(70_000);
  const warned = once(log, 'warn');
  await start();
  await warned;
  const reason = expect.stringContaining('answered with more than 65536 bytes');
  expect(logged('does not register')).toMatchObject([{ reason }]);
});

test('nobody at the address is logged with the reason', async () => {
  const url = `http://127.0.0.1:${await freePort()}`;
  const warned = once(log, 'warn');
  await start({ url: [url] });
  await warned;
  expect(logged('does not register')).toMatchObject([{ server: url, reason: expect.stringContaining('ECONNREFUSED') }]);
});

test('a server that never answers does not hold up the end', async () => {
  server.failure = 0;
  const posted = server.next('POST');
  const { management } = await start();
  await posted;
  await management.stop();
  expect(server.requests.map(({ method }) => method)).toEqual(['POST']);
});

describe('of several servers', () => {
  let other: AdminServer;

  beforeEach(async () => {
    other = new AdminServer();
    await other.listen();
  });
  afterEach(() => other.close());

  test('the first that answers is enough', async () => {
    server.failure = 500;
    const registered = other.next('POST');
    await start({ url: [server.url, other.url] });
    await registered;
    expect([server.instances.size, other.instances.size]).toEqual([0, 1]);
  });

  test('each is told when told so, and each is signed off', async () => {
    const both = Promise.all([server.next('POST'), other.next('POST')]);
    const { management } = await start({ url: [server.url, `${other.url}/`], 'register-once': false });
    await both;
    await management.stop();
    expect([server, other].map(({ requests }) => requests.map(({ method }) => method))).toEqual([
      ['POST', 'DELETE'],
      ['POST', 'DELETE'],
    ]);
  });
});

test('user and password are shown to the server, and in no log', async () => {
  const posted = server.next('POST');
  await start({ username: 'admin', password: 'hunter2' });
  expect((await posted).authorization).toBe(`Basic ${Buffer.from('admin:hunter2').toString('base64')}`);
  await running?.management.stop();
  expect(JSON.stringify(lines)).not.toMatch(/hunter2|YWRtaW46aHVudGVyMg/);
});

test('a login that changed is that of the next registration, and of what it tells of this process', async () => {
  const withLogin = (password: string) => {
    const instance = { 'service-base-url': 'http://127.0.0.1:1', 'send-credentials': true };
    const client = { url: [server.url], period: '1s', instance, username: 'admin', password };
    return settingsFor(client, { security: { username: 'boot', password: `own-${password}` } });
  };
  const sent = (password: string) => ({
    authorization: `Basic ${Buffer.from(`admin:${password}`).toString('base64')}`,
    body: { metadata: { 'user.name': 'boot', 'user.password': `own-${password}` } },
  });
  let current = withLogin('one');
  const first = server.next('POST');
  running = await startManagement({ settings: current, current: () => current });
  expect(await first).toMatchObject(sent('one'));
  current = withLogin('two');
  expect(await server.next('POST')).toMatchObject(sent('two'));
});

describe('what the server is told', () => {
  const at = new Date('2026-11-21T12:00:00Z');
  const told = (client: object, management: object = {}, podIp = '') =>
    adminInstance(settingsFor(client, management), 8080, at, podIp);

  test.each([
    ['', `http://${hostname()}:8080/actuator/health`],
    ['10.1.2.3', 'http://10.1.2.3:8080/actuator/health'],
    ['fd00::7', 'http://[fd00::7]:8080/actuator/health'],
  ])('with the Pod address %j the health is at %s', (podIp, healthUrl) => {
    expect(told({}, {}, podIp)).toMatchObject({ healthUrl });
  });

  test('follows the base path and the settings of the instance', () => {
    const base = { 'service-base-url': 'https://orders.example/' };
    const web = { endpoints: { web: { 'base-path': '/ops' } } };
    expect(told({ instance: { ...base, name: 'orders', metadata: { 'tags.team': 'x' } } }, web)).toEqual({
      name: 'orders',
      managementUrl: 'https://orders.example/ops',
      healthUrl: 'https://orders.example/ops/health',
      serviceUrl: 'https://orders.example/',
      metadata: { startup: '2026-11-21T12:00:00.000Z', 'tags.team': 'x' },
    });
    const urls = { 'management-url': 'https://a/m', 'health-url': 'https://a/h' };
    expect(told({ instance: urls })).toMatchObject({ managementUrl: 'https://a/m', healthUrl: 'https://a/h' });
  });

  test('holds the credential of the interface only when asked to', () => {
    const security = { username: 'reader', password: 'hunter2' };
    expect(JSON.stringify(told({}, { security }))).not.toContain('hunter2');
    expect(told({ instance: { 'send-credentials': true } }, { security }).metadata).toMatchObject({
      'user.name': 'reader',
      'user.password': 'hunter2',
    });
  });
});

test('what was registered leads the server to every endpoint, as Actuator types them', async () => {
  const port = await freePort();
  const posted = server.next('POST');
  running = await startManagement({
    settings: settingsWith(
      { server: { port } },
      {
        spring: {
          boot: {
            admin: { client: { url: [server.url], instance: { 'service-base-url': `http://127.0.0.1:${port}` } } },
          },
        },
      },
    ),
  });
  const { healthUrl, managementUrl } = (await posted).body;
  const get = async (url: unknown) => {
    const response = await fetch(String(url), { headers: { accept: ACCEPT } });
    expect([url, response.status, response.headers.get('content-type')]).toEqual([url, 200, V3]);
    return (await response.json()) as Record<string, unknown>;
  };
  expect(await get(healthUrl)).toMatchObject({ status: 'UP', groups: ['liveness', 'readiness'] });
  const { _links: links } = (await get(managementUrl)) as {
    _links: Record<string, { href: string; templated: boolean }>;
  };
  const { self: _self, prometheus: _prometheus, ...others } = links;
  const plain = Object.entries(others).filter(([, { templated }]) => !templated);
  expect(plain.map(([id]) => id).sort()).toEqual(['health', 'info', 'metrics']);
  for (const [, { href }] of plain) {
    await get(href);
  }
});
