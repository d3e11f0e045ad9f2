import { afterEach, expect, test } from '@jest/globals';
import { type RunningManagement, settingsWith, startManagement } from './running-management.ts';

let running: RunningManagement;

afterEach(() => running.management.stop());

const refuse = () => Promise.reject(new Error('connection refused'));

async function start(health: object, others: object = {}, checkDatabase?: () => Promise<never>): Promise<void> {
  const settings = settingsWith({ endpoint: { health }, ...others });
  running = await startManagement({ settings, ...(checkDatabase && { checkDatabase }) });
}

async function ask(path: string, headers: Record<string, string> = {}): Promise<[number, unknown]> {
  const { statusCode, body } = await running.app.inject({ url: path, headers });
  return [statusCode, body === '' ? '' : JSON.parse(body)];
}

const health = (path: string) => ask(`/actuator/health${path}`);

const DB = { status: 'UP', details: { database: 'PostgreSQL', validationQuery: 'isValid()' } };
const GROUPS = ['liveness', 'readiness'];

test('details that are hidden hide the components, too, but not the groups', async () => {
  await start({ 'show-details': 'never' });
  expect(await health('')).toEqual([200, { status: 'UP', groups: GROUPS }]);
  expect(await health('/db')).toEqual([404, '']);
  expect(await health('/readiness')).toEqual([200, { status: 'UP' }]);
});

test('components can be shown without their details', async () => {
  await start({ 'show-details': 'never', 'show-components': 'always' });
  expect(await health('')).toMatchObject([200, { components: { db: { status: 'UP' }, ping: { status: 'UP' } } }]);
  expect(await health('/db')).toEqual([200, { status: 'UP' }]);
});

test('components can be hidden although details are shown', async () => {
  await start({ 'show-components': 'never' });
  expect(await health('')).toEqual([200, { status: 'UP', groups: GROUPS }]);
  expect(await health('/db')).toEqual([404, '']);
});

test.each([
  [undefined, [200, { status: 'UP' }]],
  ['wrong', [200, { status: 'UP' }]],
  ['t0ken', [200, { status: 'UP', components: { db: DB } }]],
])('what is for the authorized is for who shows the credential (%s)', async (token, expected) => {
  await start(
    { 'show-details': 'when-authorized', group: { custom: { include: ['db'] } } },
    { security: { token: 't0ken' } },
  );
  const headers = token === undefined ? undefined : { authorization: `Bearer ${token}` };
  expect(await ask('/actuator/health/custom', headers)).toEqual(expected);
});

test('without a credential in the settings nobody is authorized to see what is for the authorized', async () => {
  await start({ 'show-details': 'when-authorized' });
  expect(await health('')).toEqual([200, { status: 'UP', groups: GROUPS }]);
});

test('a group of the settings shows its components, answers for each and is listed', async () => {
  await start({ group: { custom: { include: ['db', 'ping'] } } });
  expect(await health('/custom')).toEqual([200, { status: 'UP', components: { db: DB, ping: { status: 'UP' } } }]);
  expect(await health('/custom/')).toMatchObject([200, { status: 'UP' }]);
  expect(await health('/custom/db')).toEqual([200, DB]);
  expect(await health('/custom/kafka')).toEqual([404, '']);
  expect(await health('/custom/db/x')).toEqual([404, '']);
  expect(await health('')).toMatchObject([200, { groups: ['custom', ...GROUPS] }]);
});

test('a group in v2 has details where v3 has components', async () => {
  await start({ group: { custom: { include: ['ping'] } } });
  const accept = 'application/vnd.spring-boot.actuator.v2+json';
  expect(await ask('/actuator/health/custom', { accept })).toEqual([
    200,
    { status: 'UP', details: { ping: { status: 'UP' } } },
  ]);
});

test.each([
  [{ include: ['*'], exclude: ['db', 'diskSpace', 'kafka', 'consumer', 'readinessState'] }, ['livenessState', 'ping']],
  [{ exclude: ['db', 'diskSpace', 'kafka', 'consumer', 'readinessState'] }, ['livenessState', 'ping']],
  [{ include: ['ping', 'db'], exclude: ['db'] }, ['ping']],
])('a group has what is included and not excluded: %j', async (group, members) => {
  await start({ group: { custom: group } });
  const [, body] = await health('/custom');
  expect(Object.keys((body as { components: object }).components)).toEqual(members);
});

test('a group without members is UNKNOWN and shows none', async () => {
  await start({ group: { custom: { include: ['db'], exclude: ['*'] } } });
  expect(await health('/custom')).toEqual([200, { status: 'UNKNOWN' }]);
});

test('a group shows what it says itself, not what the whole says', async () => {
  await start({
    'show-details': 'never',
    group: {
      details: { include: ['db'], 'show-details': 'always' },
      components: { include: ['db'], 'show-components': 'always' },
      hidden: { include: ['db'] },
    },
  });
  expect(await health('/details')).toEqual([200, { status: 'UP', components: { db: DB } }]);
  expect(await health('/components')).toEqual([200, { status: 'UP', components: { db: { status: 'UP' } } }]);
  expect(await health('/hidden')).toEqual([200, { status: 'UP' }]);
  expect(await health('/hidden/db')).toEqual([404, '']);
});

test('a group of the name of a probe takes its place', async () => {
  await start({ group: { readiness: { include: ['readinessState', 'db'] } } }, {}, refuse);
  expect(await health('/readiness')).toMatchObject([
    503,
    { components: { db: { status: 'DOWN' }, readinessState: { status: 'UP' } } },
  ]);
  expect(await health('/readiness/db')).toMatchObject([503, { status: 'DOWN' }]);
});

test('statuses are ordered and mapped as the settings of the whole and of the group say', async () => {
  const tolerant = { include: ['db', 'ping'], status: { order: ['up', 'down'], 'http-mapping': { down: 500 } } };
  const mapped = { include: ['db', 'ping'], status: { 'http-mapping': { down: 299 } } };
  await start({ status: { 'http-mapping': { down: 502 } }, group: { tolerant, mapped, plain: {} } }, {}, refuse);
  expect(await health('')).toMatchObject([502, { status: 'DOWN' }]);
  expect(await health('/db')).toMatchObject([502, { status: 'DOWN' }]);
  expect(await health('/plain')).toMatchObject([502, { status: 'DOWN' }]);
  expect(await health('/tolerant')).toMatchObject([200, { status: 'UP' }]);
  expect(await health('/tolerant/db')).toMatchObject([500, { status: 'DOWN' }]);
  expect(await health('/mapped')).toMatchObject([299, { status: 'DOWN' }]);
  expect(await health('/readiness')).toMatchObject([503, { status: 'DOWN' }]);
});

test('Kafka does not count for the whole, but for a group that has it', async () => {
  running = await startManagement({
    settings: settingsWith({ endpoint: { health: { group: { all: {} } } } }),
    checkKafka: refuse,
  });
  expect(await health('')).toMatchObject([200, { components: { kafka: { status: 'DOWN' } } }]);
  expect(await health('/all')).toMatchObject([503, { components: { kafka: { status: 'DOWN' } } }]);
});

test('without probes there are neither their components nor their groups', async () => {
  await start({ probes: { enabled: false, 'add-additional-paths': true } });
  const [status, body] = await health('');
  expect(status).toBe(200);
  expect(body).not.toHaveProperty('components.readinessState');
  expect(body).not.toHaveProperty('components.livenessState');
  expect(body).not.toHaveProperty('groups');
  for (const path of ['/actuator/health/readiness', '/actuator/health/livenessState', '/livez', '/readyz']) {
    expect((await ask(path))[0]).toBe(404);
  }
});

test('the groups of the probes answer at /livez and /readyz when told to, and only then', async () => {
  await start({ probes: { 'add-additional-paths': true } }, { security: { token: 't0ken' } }, refuse);
  expect(await ask('/livez')).toEqual([200, { status: 'UP' }]);
  expect(await ask('/readyz')).toEqual([503, { status: 'DOWN' }]);
  expect((await ask('/livez/livenessState'))[0]).toBe(401);
  const head = await running.app.inject({ method: 'HEAD', url: '/livez' });
  expect([head.statusCode, head.body]).toEqual([200, '']);
  await running.management.stop();
  await start({});
  expect((await ask('/livez'))[0]).toBe(404);
});

test('a group answers at another path', async () => {
  await start({
    probes: { 'add-additional-paths': true },
    group: {
      custom: { include: ['ping'], 'additional-path': 'server:/healthz' },
      readiness: { include: ['db'], 'additional-path': 'management:/ready' },
    },
  });
  expect(await ask('/healthz')).toEqual([200, { status: 'UP', components: { ping: { status: 'UP' } } }]);
  expect(await ask('/ready')).toMatchObject([200, { components: { db: DB } }]);
  expect((await ask('/livez'))[0]).toBe(200);
  expect((await ask('/readyz'))[0]).toBe(404);
});
