import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { HTTPMethods } from 'fastify';
import { createLogger } from '../../../app/logging/logger.ts';
import { createServer, queryParameters } from '../../../app/management/server.ts';
import { managementOptions, type RunningManagement, startManagement } from './running-management.ts';
import { certificateFolder, sslIn, testCertificate } from './test-certificate.ts';

let running: RunningManagement | undefined;

afterEach(async () => {
  await running?.management.stop();
  running = undefined;
});

/** Sends bytes and gives everything that comes back until the server closes. */
function exchange(port: number, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
    socket.setEncoding('latin1');
    socket.on('data', (data) => {
      answer += data;
    });
    socket.on('close', () => resolve(answer));
    socket.on('error', reject);
  });
}

test('a failing handler is 500 with the four keys, its message only in the log', async () => {
  const lines: string[] = [];
  const app = createServer({ logger: createLogger({ level: 'error' }, { write: (line) => lines.push(line) }) });
  app.get('/fails', () => {
    throw new Error('secret plan');
  });
  const answer = await app.inject({ url: '/fails' });
  await app.close();
  expect(answer.statusCode).toBe(500);
  expect(Object.keys(answer.json())).toEqual(['timestamp', 'status', 'error', 'path']);
  expect(answer.body).not.toContain('secret plan');
  expect(JSON.parse(lines[0] ?? '{}')).toMatchObject({ err: { message: 'secret plan' }, url: '/fails' });
});

test('a route with a schema is refused, as what compiles schemas is not in the image', async () => {
  const app = createServer({ logger: createLogger({ level: 'silent' }, { write: () => undefined }) });
  app.get('/', { schema: { querystring: { type: 'object' } } }, () => 'never');
  await expect(app.ready()).rejects.toThrow('routes have no schemas');
});

test('the page for a browser holds nothing of the request', async () => {
  running = await startManagement();
  const url = '/actuator/<script>alert(1)</script>';
  const answer = await running.app.inject({ url, headers: { accept: 'text/html' } });
  expect([answer.statusCode, answer.headers['content-type']]).toEqual([404, 'text/html;charset=UTF-8']);
  expect(answer.body).not.toContain('alert');
});

test.each(['/%zz', '/actuator/%zz', '/actuator/health/%c0%af', '/actuator/health/a%2Fb'])(
  'a path that cannot be decoded is 400 with the four keys: %s',
  async (url) => {
    running = await startManagement();
    const answer = await running.app.inject({ url });
    expect([answer.statusCode, Object.keys(answer.json())]).toEqual([400, ['timestamp', 'status', 'error', 'path']]);
  },
);

test.each(['POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'PROPFIND', 'MKCOL', 'QUERY', 'LOCK'])(
  '%s does nothing, whatever its body',
  async (method) => {
    running = await startManagement();
    for (const headers of [{ 'content-type': 'application/json' }, { 'content-type': ';;;' }, {}]) {
      const request = { method: method as HTTPMethods, url: '/actuator/health', headers };
      const answer = await running.app.inject(method === 'TRACE' ? request : { ...request, payload: '{"a":' });
      expect([answer.statusCode, answer.headers['allow']]).toEqual([405, 'GET']);
      expect((await running.app.inject({ ...request, url: '/nosuch' })).statusCode).toBe(404);
    }
  },
);

test('a request is logged at debug and not above', async () => {
  const lines: string[] = [];
  running = await startManagement({
    logging: { level: 'debug' },
    logDestination: { write: (line) => lines.push(line) },
  });
  await running.app.inject({ url: '/actuator/info' });
  const logged = lines.map((line) => JSON.parse(line)).filter(({ url }) => url === '/actuator/info');
  expect(logged).toMatchObject([{ level: 'debug', method: 'GET', status: 200 }]);
});

test('what is no request is logged at debug, with the address it came from', async () => {
  const lines: string[] = [];
  running = await startManagement({
    logging: { level: 'debug' },
    logDestination: { write: (line) => lines.push(line) },
  });
  await exchange(running.address.port, 'HELLO\r\n\r\n');
  expect(lines.map((line) => JSON.parse(line)).filter(({ code }) => code !== undefined)).toMatchObject([
    { level: 'debug', code: 'HPE_INVALID_METHOD', peer: '127.0.0.1', msg: 'no request could be read' },
  ]);
});

test.each([
  ['no HTTP', 'HELLO\r\n\r\n', 'HTTP/1.1 400'],
  ['headers that are too large', `GET / HTTP/1.1\r\nHost: h\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 'HTTP/1.1 431'],
  ['a URL that is too long', `GET /${'x'.repeat(20_000)} HTTP/1.1\r\nHost: h\r\n\r\n`, 'HTTP/1.1 431'],
  ['a length that is none', 'POST / HTTP/1.1\r\nHost: h\r\nContent-Length: x\r\n\r\n', 'HTTP/1.1 400'],
])('%s is refused without a stack trace, and the server lives on', async (_what, bytes, status) => {
  running = await startManagement();
  const answer = await exchange(running.address.port, bytes);
  expect(answer.slice(0, status.length)).toBe(status);
  expect(answer).not.toMatch(/ at .*:\d+/);
  const next = 'GET /actuator/health/ping HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n';
  expect(await exchange(running.address.port, next)).toContain('{"status":"UP"}');
});

test('a client that knows no Host gets links to the address it asked', async () => {
  running = await startManagement();
  const { port } = running.address;
  expect(await exchange(port, 'GET /actuator HTTP/1.0\r\n\r\n')).toContain(
    `"href":"http://127.0.0.1:${port}/actuator"`,
  );
});

describe('with TLS', () => {
  let folder: string;
  let lines: Record<string, unknown>[];

  beforeEach(async () => {
    folder = certificateFolder(await testCertificate('served'));
    lines = [];
    const { settings } = managementOptions();
    running = await startManagement({
      settings: { ...settings, server: { ...settings.server, ssl: sslIn(folder) } },
      logDestination: { write: (line) => lines.push(JSON.parse(line)) },
    });
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  test('plain HTTP is told what the port is, and the log from where it came', async () => {
    const { management, address } = running as RunningManagement;
    for (const method of ['GET', 'HEAD', 'POST', 'CONNECT']) {
      const answer = await exchange(address.port, `${method} /actuator HTTP/1.1\r\nHost: h\r\n\r\n`);
      expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n(.*\r\n)*Connection: close\r\n/);
      expect(answer.split('\r\n\r\n')[1]).toBe('This combination of host and port requires TLS.\r\n');
    }
    await management.stop();
    expect(lines.filter(({ level }) => level === 'warn')).toMatchObject([
      { count: 1, peer: '127.0.0.1', msg: 'plain HTTP came to the HTTPS port' },
      { count: 3, peer: '127.0.0.1', msg: 'plain HTTP came to the HTTPS port' },
    ]);
  });

  test('what is neither TLS nor HTTP is closed without an answer and without a warning', async () => {
    const { management, address } = running as RunningManagement;
    expect(await exchange(address.port, 'SSH-2.0-OpenSSH_9.2\r\n')).not.toContain('HTTP');
    await management.stop();
    expect(lines.filter(({ level }) => level !== 'info')).toEqual([]);
  });

  test('what is no HTTP inside of it is refused with the four keys', async () => {
    const { port } = (running as RunningManagement).address;
    const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false });
    socket.write('HELLO\r\n\r\n');
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    await once(socket, 'end');
    const [head = '', body = ''] = String(Buffer.concat(chunks)).split('\r\n\r\n');
    expect(head).toMatch(/^HTTP\/1\.1 400 /);
    expect(Object.keys(JSON.parse(body))).toEqual(['timestamp', 'status', 'error', 'path']);
  });
});

test.each<[string, object]>([
  ['', {}],
  ['a=b&c=d', { a: 'b', c: 'd' }],
  ['a=b&a=c&a=b', { a: ['b', 'c', 'b'] }],
  ['a', { a: '' }],
  ['a=', { a: '' }],
  ['=b', { '': 'b' }],
  ['a=b=c', { a: 'b=c' }],
  ['a=%20b+c&%61=d', { a: [' b c', 'd'] }],
  ['a=%zz&b=1', { b: '1' }],
  ['%zz=1&b=1', { b: '1' }],
  ['a=%c3%28&&b=1', { b: '1' }],
])('the query %j has the parameters %j', (query, parameters) => {
  expect({ ...queryParameters(query) }).toEqual(parameters);
});

test('a name that every object has is one like any other', () => {
  expect(Object.entries(queryParameters('__proto__=a&constructor=b'))).toEqual([
    ['__proto__', 'a'],
    ['constructor', 'b'],
  ]);
});
