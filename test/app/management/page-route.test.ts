import { createHash } from 'node:crypto';
import { afterEach, describe, expect, test } from '@jest/globals';
import { aCommit } from '../stream/records.ts';
import { ask } from './ask.ts';
import { RUNNING, type RunningManagement, settingsWith, startManagement } from './running-management.ts';

const FIREFOX = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
const CHROME =
  'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8,application/signed-exchange;v=b3;q=0.7';

let running: RunningManagement;

afterEach(() => running.management.stop());

async function start(management: object = {}): Promise<void> {
  running = await startManagement({ settings: settingsWith(management) });
}

const get = (headers: Readonly<Record<string, string>>, url = '/') => running.app.inject({ url, headers });

const withoutTime = (body: string): string => body.replace(/"timestamp":"[^"]*"/, '');

test.each([FIREFOX, CHROME, 'text/html', 'TEXT/HTML;level=1, */*;q=0.1'])('answers a browser: %s', async (accept) => {
  await start();
  const answer = await get({ accept });
  expect([answer.statusCode, answer.headers['content-type']]).toEqual([200, 'text/html;charset=UTF-8']);
  expect(answer.body).toContain('<title>UP · orders-consumer</title>');
});

test.each([
  ...['*/*', 'application/json', 'application/json, text/html', 'text/html;q=0, */*', 'text/*', 'text/html;q=0.5,*/*'],
  ...['text/plain', '', 'no media range'],
])('answers who is no browser as a path that is not there: %j', async (accept) => {
  await start();
  const [root, other] = [await get({ accept }), await get({ accept }, '/nosuch')];
  expect(root.statusCode).toBe(404);
  expect(withoutTime(root.body)).toBe(withoutTime(other.body).replace('/nosuch', '/'));
  const { date: _, 'content-length': __, ...headers } = root.headers;
  const { date: ___, 'content-length': ____, ...ofOther } = other.headers;
  expect(headers).toEqual(ofOther);
});

test.each(['POST', 'PUT', 'DELETE', 'OPTIONS'] as const)('%s is for no path that is not there', async (method) => {
  await start();
  const answer = await running.app.inject({ method, url: '/', headers: { accept: FIREFOX } });
  expect([answer.statusCode, answer.headers['allow']]).toEqual([404, undefined]);
});

test('HEAD has the headers, and no body', async () => {
  await start();
  const { status, body, headers } = await ask(running.address.port, {
    method: 'HEAD',
    url: '/?a=b',
    headers: { host: 'localhost', accept: FIREFOX },
  });
  expect([status, body, headers['content-type']]).toEqual([200, '', 'text/html;charset=UTF-8']);
});

describe('the policy', () => {
  const hashOf = (text = '') => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

  test('allows the one style and the one script that are in the page, by their hashes, and nothing of others', async () => {
    await start();
    const { body, headers } = await get({ accept: FIREFOX });
    const [, style] = /<style>(.*?)<\/style>/s.exec(body) ?? [];
    const [, script] = /<script>(.*?)<\/script>/s.exec(body) ?? [];
    expect(String(headers['content-security-policy']).split('; ')).toEqual([
      "default-src 'none'",
      `style-src ${hashOf(style)}`,
      `script-src ${hashOf(script)}`,
      'img-src data:',
      "connect-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ]);
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    });
    expect(body).not.toMatch(/ (style|on[a-z]+)=/);
    expect(body).not.toMatch(/(src|href)="(?!https:\/\/github\.com\/|\.\/|data:image)/);
  });
});

test('is compressed for who takes gzip, to a few kilobytes', async () => {
  await start();
  const answer = await get({ accept: CHROME, 'accept-encoding': 'gzip, br' });
  expect(answer.headers['content-encoding']).toBe('gzip');
  expect(answer.rawPayload.length).toBeLessThan(5_000);
});

test('links to the endpoints that answer, below the page wherever a proxy has put it', async () => {
  await start({ endpoints: { web: { 'base-path': '/manage', exposure: { exclude: ['prometheus'] } } } });
  const { body } = await get({ accept: FIREFOX });
  const links = [...body.matchAll(/href="\.(\/[^"]+)"/g)].map(([, path = '']) => path);
  expect(links).toEqual(['/manage/health', '/manage/info', '/manage/metrics']);
  for (const path of links) {
    expect((await get({}, path)).statusCode).toBe(200);
  }
});

describe('shows no more than the health', () => {
  const hidden = [
    { endpoint: { health: { 'show-details': 'never' } } },
    { endpoint: { health: { 'show-details': 'when-authorized' } } },
    { endpoint: { health: { 'show-components': 'never' } } },
    { endpoint: { health: { 'show-details': 'never', 'show-components': 'always' } } },
  ];

  test.each(hidden)('the status alone: %j', async (management) => {
    await start(management);
    const { body } = await get({ accept: FIREFOX });
    expect(body).toContain('● UP');
    expect(body).toContain('Details are hidden');
    for (const secret of ['orders', 'PostgreSQL', 'running', '1.2.3']) {
      expect(body).not.toContain(secret);
    }
  });

  const security = { token: 'a-token', username: 'anna', password: 'a-password' };
  const basic = `Basic ${Buffer.from('anna:a-password').toString('base64')}`;

  test.each(['when-authorized', 'always'])('with a credential, to who has it: %s', async (show) => {
    await start({ security, endpoint: { health: { 'show-details': show } } });
    const refused = await get({ accept: FIREFOX });
    expect([refused.statusCode, refused.headers['www-authenticate']]).toEqual([
      401,
      ['Bearer realm="actuator"', 'Basic realm="actuator", charset="UTF-8"'],
    ]);
    expect(refused.body).not.toContain('orders');
    const answer = await get({ accept: FIREFOX, authorization: basic });
    expect([answer.statusCode, answer.body.includes('orders/0')]).toEqual([200, true]);
  });

  test('nothing where the health is not exposed', async () => {
    await start({ endpoints: { web: { exposure: { exclude: ['health'] } } } });
    expect((await get({ accept: FIREFOX })).statusCode).toBe(404);
  });
});

test('management.page.enabled: false is the same 404 for a browser', async () => {
  await start({ page: { enabled: false } });
  const [root, other] = [await get({ accept: FIREFOX }), await get({ accept: FIREFOX }, '/nosuch')];
  expect([root.statusCode, root.body]).toEqual([404, other.body]);
});

test('with an empty base path, browsers get the page and all others the list of the endpoints', async () => {
  await start({ endpoints: { web: { 'base-path': '' } } });
  expect((await get({ accept: FIREFOX })).body).toContain('<h1>');
  expect((await get({ accept: 'application/json' })).json()._links.health.href).toMatch(/\/health$/);
  expect((await get({})).json()._links.self.href).toMatch(/:\d+$/);
});

test.each([
  [true, '(3a2e408, dirty)'],
  [false, '(3a2e408)'],
])('names the commit, and whether files differed from it: %s', async (dirty, shown) => {
  running = await startManagement({
    build: { version: '1.2.3', commit: '3a2e408b2f8d1f5a0c9c6c2a3f1b2d4e5f607182', dirty },
  });
  expect((await get({ accept: FIREFOX })).body).toContain(`<p>stream-consumer 1.2.3 ${shown}</p>`);
});

test('is measured as its own path', async () => {
  await start();
  await get({ accept: FIREFOX });
  const { body } = await get({}, '/actuator/prometheus');
  expect(body).toMatch(/^http_server_requests_seconds_count\{.*status="200",uri="\/"\} 1$/m);
});

test('shows what the checks, the report and the counters of the process have', async () => {
  running = await startManagement({
    settings: settingsWith({}),
    checkKafka: async () => {
      throw new Error('<no broker>');
    },
    report: () => ({ ...RUNNING, lastError: 'postgresql://anna:secret@db/orders', lastErrorAt: new Date() }),
  });
  running.management.listener.onCommitted(aCommit({ deadLetters: new Map([['invalid_json', 3]]) }));
  const { body } = await get({ accept: FIREFOX });
  expect(body).toMatch(
    /Last error <time [^>]+>[^<]+<\/time> \([^)]+ ago\):<\/p><p><code>Error: &lt;no broker&gt;<\/code>/,
  );
  expect(body).toContain('invalid_json');
  expect(body).not.toContain('secret');
  expect(body).toContain('<th role="rowheader" scope="row">records</th>');
});
