import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { credentialCheck } from '../../../app/management/authentication.ts';
import { ask } from './ask.ts';
import { managementOptions, type RunningManagement, settingsWith, startManagement } from './running-management.ts';

const TOKEN = 'bearer-7f3a';
const SECURITY = { token: TOKEN, username: 'prometheus', password: 'pass:wörd' };

const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;

let running: RunningManagement | undefined;
let lines: string[];

afterEach(async () => {
  await running?.management.stop();
  running = undefined;
});

async function start(security: object = SECURITY): Promise<RunningManagement> {
  const { settings } = managementOptions();
  lines = [];
  running = await startManagement({
    settings: { ...settings, management: { ...settings.management, security } },
    logging: { level: 'trace' },
    logDestination: { write: (line) => lines.push(line) },
  });
  return running;
}

test.each([
  ['the token', { token: TOKEN }, `Bearer ${TOKEN}`, true],
  ['the scheme in any letter case', { token: TOKEN }, `bEARER ${TOKEN}`, true],
  ['a token that only begins right', { token: TOKEN }, `Bearer ${TOKEN}x`, false],
  ['a part of the token', { token: TOKEN }, 'Bearer bearer', false],
  ['no scheme', { token: TOKEN }, TOKEN, false],
  ['another scheme', { token: TOKEN }, `Token ${TOKEN}`, false],
  ['an empty header', { token: TOKEN }, '', false],
  ['the token as a user', { token: TOKEN }, basic(`${TOKEN}:`), false],
  ['user and password', { username: 'u', password: 'p:ä' }, basic('u:p:ä'), true],
  ['another password', { username: 'u', password: 'p' }, basic('u:q'), false],
  ['another user', { username: 'u', password: 'p' }, basic('v:p'), false],
  ['a text that is not base64', { username: 'u', password: 'p' }, 'Basic ~~~', false],
  ['the password as a token', { username: 'u', password: 'p' }, 'Bearer u:p', false],
])('%s is right or not', (_what, security, authorization, isRight) => {
  expect(credentialCheck(() => security)({ headers: { authorization } })).toBe(isRight);
});

test('without a credential in the settings everybody is authorized, with one nobody who shows none', () => {
  expect(credentialCheck(() => ({}))({ headers: {} })).toBe(true);
  expect(credentialCheck(() => ({ token: TOKEN }))({ headers: {} })).toBe(false);
});

test.each(['/actuator', '/actuator/info', '/actuator/metrics', '/actuator/prometheus', '/actuator/nosuch', '/', '/x'])(
  '%s is 401 with the four keys and what would be accepted, until the credential is shown',
  async (url) => {
    const { app } = await start();
    const refused = await app.inject({ url });
    expect(refused.statusCode).toBe(401);
    expect(Object.keys(refused.json())).toEqual(['timestamp', 'status', 'error', 'path']);
    expect(refused.headers['www-authenticate']).toEqual([
      'Bearer realm="actuator"',
      'Basic realm="actuator", charset="UTF-8"',
    ]);
    for (const authorization of [`Bearer ${TOKEN}`, basic('prometheus:pass:wörd')]) {
      expect((await app.inject({ url, headers: { authorization } })).statusCode).not.toBe(401);
    }
    expect(lines.join('')).not.toMatch(/bearer-7f3a|w.rd|cHJvbWV0aGV1cz/);
  },
);

test('refusals are told in one line at once and one with the rest, with the last address and no credential', async () => {
  const { management, address } = await start();
  for (const authorization of ['Bearer wr0ng', 'Bearer wr0ng', basic('prometheus:wr0ng')]) {
    await ask(address.port, { url: '/actuator/metrics', headers: { authorization } });
  }
  await ask(address.port, { url: '/actuator/health' });
  await management.stop();
  const told = lines.map((line) => JSON.parse(line)).filter(({ level }) => level === 'warn');
  const msg = 'requests without the right credential answered with 401';
  expect(told).toMatchObject([
    { msg, count: 1, peer: '127.0.0.1' },
    { msg, count: 2, peer: '127.0.0.1' },
  ]);
  expect(lines.join('')).not.toMatch(/wr0ng|d3IwbmC|cHJvbWV0aGV1cz/);
});

test('without a Host a request is 400, whether it shows the credential or not', async () => {
  const { address } = await start();
  const socket = connect(address.port, '127.0.0.1', () => socket.write('GET /actuator/info HTTP/1.1\r\n\r\n'));
  const [data] = await once(socket, 'data');
  socket.destroy();
  expect(String(data)).toMatch(/^HTTP\/1\.1 400 /);
});

test('a credential that changed is what counts from the next request on, and what is asked for', async () => {
  const { settings } = managementOptions();
  const withSecurity = (security: object) => ({ ...settings, management: { ...settings.management, security } });
  let current = withSecurity({ token: TOKEN });
  running = await startManagement({ settings: current, current: () => current });
  const { app } = running;
  const statusFor = async (authorization: string) =>
    (await app.inject({ url: '/actuator/info', headers: { authorization } })).statusCode;
  expect([await statusFor(`Bearer ${TOKEN}`), await statusFor('Bearer new')]).toEqual([200, 401]);
  current = withSecurity({ token: 'new' });
  expect([await statusFor(`Bearer ${TOKEN}`), await statusFor('Bearer new')]).toEqual([401, 200]);
  current = withSecurity({ username: 'u', password: 'p' });
  const { headers } = await app.inject({ url: '/actuator/info' });
  expect(headers['www-authenticate']).toEqual(['Basic realm="actuator", charset="UTF-8"']);
  expect(await statusFor(basic('u:p'))).toBe(200);
});

test.each(['HEAD', 'OPTIONS', 'POST'] as const)('%s is no way around it', async (method) => {
  const { app } = await start();
  expect((await app.inject({ method, url: '/actuator/metrics' })).statusCode).toBe(401);
});

test.each([
  '/actuator/health/../metrics',
  '/actuator/health/%2e%2e/metrics',
  '/actuator/health;/../metrics',
  '/actuator//metrics',
  '/actuator/metrics?x=/actuator/health',
  '/ACTUATOR/metrics',
])('%s shows no metrics either', async (url) => {
  const { app } = await start();
  const { statusCode, body } = await app.inject({ url });
  expect(statusCode).toBeGreaterThanOrEqual(400);
  expect(body).not.toContain('names');
});

test('the health and its groups answer everybody with the status', async () => {
  const { app } = await start();
  expect((await app.inject({ url: '/actuator/health' })).json()).toEqual({
    status: 'UP',
    groups: ['liveness', 'readiness'],
  });
  for (const group of ['liveness', 'readiness']) {
    expect((await app.inject({ url: `/actuator/health/${group}` })).json()).toEqual({ status: 'UP' });
  }
});

test('the additional paths of the probe groups are open as well, with the status alone', async () => {
  running = await startManagement({
    settings: settingsWith({
      security: SECURITY,
      endpoint: { health: { probes: { 'add-additional-paths': true } } },
    }),
  });
  for (const url of ['/livez', '/readyz']) {
    expect((await running.app.inject({ url })).json()).toEqual({ status: 'UP' });
  }
  expect((await running.app.inject({ url: '/livez/x' })).statusCode).toBe(401);
});

test('a component is not there for those without the credential, and with it all is shown', async () => {
  const { app } = await start();
  const hidden = await app.inject({ url: '/actuator/health/db' });
  expect([hidden.statusCode, hidden.body]).toEqual([404, '']);
  const headers = { authorization: `Bearer ${TOKEN}` };
  expect((await app.inject({ url: '/actuator/health/db', headers })).json()).toMatchObject({ status: 'UP' });
  expect((await app.inject({ url: '/actuator/health', headers })).json()).toMatchObject({
    components: { db: { status: 'UP', details: { database: 'PostgreSQL' } } },
  });
});
