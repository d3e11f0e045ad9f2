import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type RunningManagement, startManagement } from './running-management.ts';

const PING = 'GET /actuator/health/ping HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n';

/** Sends bytes and gives everything that comes back until the server closes. */
function exchange(port: number, bytes: string): Promise<string> {
  return new Promise((resolve) => {
    let answer = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes, 'latin1'));
    socket.setEncoding('latin1');
    socket.on('data', (data) => {
      answer += data;
    });
    // A server that closes while bytes are still on their way resets the connection.
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(answer));
  });
}

const statusesOf = (answer: string): string[] =>
  [...answer.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, code = '']) => code);

/** The keys of every error, in their order, in an answer after which the connection ends. */
function expectError(answer: string, error: { status: number; error: string; path: string }): void {
  const [head = '', body = ''] = answer.split('\r\n\r\n');
  const headers = head.toLowerCase().split('\r\n');
  expect(headers[0]).toBe(`http/1.1 ${error.status} ${error.error.toLowerCase()}`);
  expect(headers).toEqual(
    expect.arrayContaining([
      'content-type: application/json',
      `content-length: ${body.length}`,
      'connection: close',
      expect.stringMatching(/^date: .* gmt$/),
    ]),
  );
  expect(Object.keys(JSON.parse(body))).toEqual(['timestamp', 'status', 'error', 'path']);
  expect(JSON.parse(body)).toEqual({ ...error, timestamp: expect.stringMatching(/^\d{4}-.*\+00:00$/) });
}

describe('with one server', () => {
  let running: RunningManagement;
  let port: number;

  beforeEach(async () => {
    running = await startManagement();
    port = running.address.port;
  });
  afterEach(() => running.management.stop());

  const SMUGGLED = 'GET /actuator/info HTTP/1.1\r\nHost: h\r\n\r\n';
  const post = (headers: string, body: string) =>
    `POST /actuator/health HTTP/1.1\r\nHost: h\r\n${headers}\r\n\r\n${body}`;

  test.each([
    ['two lengths', post('Content-Length: 4\r\nContent-Length: 60', `0\r\n\r\n${SMUGGLED}`)],
    ['a length and chunks', post('Content-Length: 4\r\nTransfer-Encoding: chunked', `0\r\n\r\n${SMUGGLED}`)],
    ['an unknown coding', post('Transfer-Encoding: chunked, identity', `0\r\n\r\n${SMUGGLED}`)],
    ['a coding behind a blank', post('Transfer-Encoding : chunked', `0\r\n\r\n${SMUGGLED}`)],
    ['a length with a sign', post('Content-Length: +4', `0\r\n\r\n${SMUGGLED}`)],
    ['a chunk that is longer than it says', post('Transfer-Encoding: chunked', `1\r\nabc\r\n0\r\n\r\n${SMUGGLED}`)],
    ['a line end in a header', post('X: a\nContent-Length: 0\n', SMUGGLED)],
    ['a header without a name', post(': x', SMUGGLED)],
    ['a blank before the method', ` ${SMUGGLED}`],
    ['HTTP/2 in clear text', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['the greeting of TLS', '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003'],
  ])('%s smuggles no second request in', async (_what, bytes) => {
    const answer = await exchange(port, bytes);
    expect(statusesOf(answer)).not.toContain('200');
    expect(statusesOf(answer).at(-1)).toBe('400');
    expect(answer).not.toContain('stream-consumer');
    expect(await exchange(port, PING)).toContain('{"status":"UP"}');
  });

  test('what is in a body is no request', async () => {
    const bytes = post(`Content-Length: ${SMUGGLED.length}`, SMUGGLED) + PING;
    expect(statusesOf(await exchange(port, bytes))).toEqual(['405', '200']);
  });

  test('requests in one go are answered in their order, and garbage among them ends the connection', async () => {
    const ask = (path: string) => `GET ${path} HTTP/1.1\r\nHost: h\r\n\r\n`;
    const requests = `${ask('/actuator/info')}${ask('/nosuch')}`;
    expect(statusesOf(await exchange(port, requests + PING))).toEqual(['200', '404', '200']);
    expect(statusesOf(await exchange(port, `${requests}garbage\r\n\r\n${ask('/')}`)).at(-1)).toBe('400');
  });

  test.each([
    ['what is no HTTP', 'HELLO\r\n\r\n', { status: 400, error: 'Bad Request' }],
    ['a length that is none', post('Content-Length: x', ''), { status: 400, error: 'Bad Request' }],
    [
      'a header that is too large',
      `GET / HTTP/1.1\r\nHost: h\r\nX: ${'x'.repeat(17_000)}\r\n\r\n`,
      { status: 431, error: 'Request Header Fields Too Large' },
    ],
    ['half a request', 'GET / HTTP/1.1\r\nHost: h\r\n', { status: 408, error: 'Request Timeout' }],
  ])('%s is answered with the four keys, without a path as none is known', async (_what, bytes, error) => {
    running.app.server.headersTimeout = 1;
    expectError(await exchange(port, bytes), { ...error, path: '' });
  });

  test.each([
    ['a URL', `GET /actuator/${'x'.repeat(17_000)} HTTP/1.1\r\nHost: h\r\n\r\n`, '431'],
    ['a query', `GET /actuator/metrics?tag=${'x'.repeat(17_000)} HTTP/1.1\r\nHost: h\r\n\r\n`, '431'],
    ['one header', `GET / HTTP/1.1\r\nHost: h\r\nX: ${'x'.repeat(17_000)}\r\n\r\n`, '431'],
    ['many headers', `GET / HTTP/1.1\r\nHost: h\r\n${'X: y\r\n'.repeat(10_000)}\r\n`, '431'],
  ])('%s beyond the limit is refused', async (_what, bytes, status) => {
    expect(statusesOf(await exchange(port, bytes))).toEqual([status]);
  });

  test.each([
    ['no Host in HTTP/1.1', 'GET /actuator/health?x=1 HTTP/1.1\r\n\r\n'],
    ['two Hosts', 'GET /actuator/health HTTP/1.1\r\nHost: h\r\nHost: i\r\n\r\n'],
    ['the same Host twice', 'GET /actuator/health HTTP/1.1\r\nHost: h\r\nX: y\r\nhOST: h\r\n\r\n'],
    ['two Hosts in HTTP/1.0', 'GET /actuator/health HTTP/1.0\r\nHost: h\r\nHost: h\r\n\r\n'],
  ])('%s is 400 with the four keys, and ends the connection', async (_what, bytes) => {
    const answer = await exchange(port, bytes);
    expectError(answer, { status: 400, error: 'Bad Request', path: '/actuator/health' });
  });

  test('a name of a metric beyond the limit is refused', async () => {
    const bytes = PING.replace('health/ping', `metrics/${'x'.repeat(2_000)}`);
    expect(statusesOf(await exchange(port, bytes))).toEqual(['414']);
  });

  test('clients that are slow with headers or body, or say nothing at all, are cut off, and nobody else waits', async () => {
    expect([running.app.server.headersTimeout, running.app.server.requestTimeout]).toEqual([10_000, 15_000]);
    running.app.server.headersTimeout = 1;
    running.app.server.requestTimeout = 1;
    const slow = [
      exchange(port, 'GET /actuator/health HTTP/1.1\r\nHost: h\r\nX-Slow: '),
      exchange(port, 'POST /actuator/health HTTP/1.1\r\nHost: h\r\nContent-Length: 100\r\n\r\nabc'),
      exchange(port, ''),
    ];
    const [headers, body, silent] = await Promise.all(slow);
    expect(statusesOf(headers ?? '')).toEqual(['408']);
    expect(statusesOf(body ?? '')[0]).toBe('405');
    expect(statusesOf(silent ?? '')).toEqual(['408']);
  });
});

const REQUESTS = 10_000;
const BATCH = 500;

/** Bytes by which the heap may grow between the first tenth of the requests and the last. */
const HEAP_GROWTH = 3_000_000;

const segment = fc.oneof(
  fc.constantFrom('actuator', 'health', 'metrics', 'prometheus', 'info', 'db', 'liveness', 'jvm.memory.used', '..', ''),
  fc.stringMatching(/^[!-~]{0,20}$/),
);
const path = fc.tuple(fc.array(segment, { maxLength: 5 }), fc.stringMatching(/^(\?[!-~]{0,40})?$/));
const header = fc.tuple(
  fc.constantFrom('Accept', 'Accept-Encoding', 'Authorization', 'Origin', 'Content-Type', 'Expect', 'Range', 'X'),
  fc.stringMatching(/^[ -~]{0,80}$/),
);
const method = fc.constantFrom(
  'GET',
  'GET',
  'GET',
  'HEAD',
  'OPTIONS',
  'POST',
  'PUT',
  'DELETE',
  'PROPFIND',
  'BREW',
  'CONNECT',
);
const wellFormed = fc.record({ method, path, headers: fc.array(header, { maxLength: 4 }) }).map((parts) => {
  const [segments, query] = parts.path;
  const lines = parts.headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return `${parts.method} /${segments.join('/')}${query} HTTP/1.1\r\nHost: h\r\n${lines}\r\n`;
});
const noise = fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes).toString('latin1'));
const broken = fc.tuple(wellFormed, fc.nat(), noise).map(([text, at, bytes]) => {
  const cut = at % text.length;
  return text.slice(0, cut) + bytes + text.slice(cut);
});
/** The bytes of a connection: pipelined requests, then a malformed one, after which the server closes. */
const conversation = fc
  .tuple(fc.array(fc.oneof({ weight: 8, arbitrary: wellFormed }, broken, noise), { minLength: 10, maxLength: 10 }))
  .map(([requests]) => `${requests.join('')}\r\n\r\nEND`);

describe('alone in a process', () => {
  let served: ChildProcess;
  let port: number;

  beforeEach(async () => {
    served = fork(join(import.meta.dirname, 'served-alone.ts'), {
      execArgv: ['--expose-gc', '--import', 'tsx'],
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    [{ port }] = (await once(served, 'message')) as [{ port: number }];
  });
  afterEach(async () => {
    const exited = once(served, 'exit');
    served.kill();
    await exited;
  });

  async function heapUsed(): Promise<number> {
    served.send('heap');
    const [answer] = (await once(served, 'message')) as [{ heapUsed: number }];
    return answer.heapUsed;
  }

  test('10,000 random requests never end it, are never its failure, and leave nothing in its memory', async () => {
    const conversations = fc.sample(conversation, REQUESTS / 10);
    const failures: string[] = [];
    let before = 0;
    for (let sent = 0; sent < conversations.length; sent += BATCH / 10) {
      before = sent === REQUESTS / 100 ? await heapUsed() : before;
      const answers = await Promise.all(
        conversations.slice(sent, sent + BATCH / 10).map((bytes) => exchange(port, bytes)),
      );
      failures.push(...answers.filter((answer) => statusesOf(answer).some((status) => status.startsWith('5'))));
    }
    expect(failures).toEqual([]);
    expect(await exchange(port, PING)).toContain('{"status":"UP"}');
    expect(before).toBeGreaterThan(0);
    expect((await heapUsed()) - before).toBeLessThan(HEAP_GROWTH);
    expect(served.exitCode).toBeNull();
  });
});
