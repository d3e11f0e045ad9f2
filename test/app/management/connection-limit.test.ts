import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, rmSync } from 'node:fs';
import { createServer, request as httpRequest, type Server, type ServerResponse } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { afterEach, describe, expect, test } from '@jest/globals';
import { ConnectionLimit } from '../../../app/management/connection-limit.ts';
import { READINESS_PROBE } from '../../../contract/probes.ts';
import { certificateFolder, testCertificate } from './test-certificate.ts';

/** The shorter time-out of the two probes. */
const PROBE_TIMEOUT_MS = READINESS_PROBE.timeoutSeconds * 1_000;

/** How many times the probes are asked at least, and how many connections are renewed meanwhile. */
const ROUNDS = 20;
const RENEWED = 500;
/** Random time, in milliseconds, after which a client opens a closed connection again. */
const returnTime = (): number => 2_000 + Math.random() * 4_000;

const PING = 'GET /actuator/health/ping HTTP/1.1\r\nHost: h\r\n\r\n';
const HALF = 'GET /actuator/health HTTP/1.1\r\nHost: h\r\nX: ';
/** The header of a TLS record; its body, a ClientHello of 512 bytes, never comes. */
const GREETING = '\u0016\u0003\u0001\u0002\u0000';

/** Files that a process with the usual limit of 1,024 may have open, less what Kafka and PostgreSQL need. */
const OPEN_FILES = 700;

let served: ChildProcess | undefined;
let crowd: Crowd | undefined;
let folder: string | undefined;

afterEach(async () => {
  crowd?.leave();
  if (served !== undefined) {
    const exited = once(served, 'exit');
    served.kill();
    await exited;
  }
  if (folder !== undefined) {
    rmSync(folder, { recursive: true });
  }
  [served, crowd, folder] = [undefined, undefined, undefined];
});

async function serve(withTls: boolean): Promise<number> {
  folder = withTls ? certificateFolder(await testCertificate('crowded')) : undefined;
  served = fork(join(import.meta.dirname, 'served-alone.ts'), folder === undefined ? [] : [folder], {
    execArgv: ['--import', 'tsx'],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const [{ port }] = (await once(served, 'message')) as [{ port: number }];
  return port;
}

/** Number of files that the server has open, on systems with /proc. */
const openFiles = (): number =>
  process.platform === 'linux' ? readdirSync(`/proc/${served?.pid}/fd`).length : Number.MIN_SAFE_INTEGER;

/** Bytes of an answer, more than the socket buffers take for a client that does not read. */
const LARGE = 50_000_000;

/** Connections that stay open, and are opened again whenever the server closes them. */
class Crowd {
  readonly #sockets = new Set<Socket>();
  readonly #returning = new Set<NodeJS.Timeout>();
  #left = false;
  renewed = 0;

  /** Resolves when all are open and have sent their bytes. */
  async open(count: number, opened: () => Socket, bytes: string): Promise<void> {
    await Promise.all(Array.from({ length: count }, () => this.#stay(opened, bytes)));
  }

  leave(): void {
    this.#left = true;
    for (const timer of this.#returning) {
      clearTimeout(timer);
    }
    for (const socket of this.#sockets) {
      socket.destroy();
    }
  }

  #renew(opened: () => Socket, bytes: string): void {
    this.renewed += 1;
    void this.#stay(opened, bytes);
  }

  #stay(opened: () => Socket, bytes: string): Promise<void> {
    return new Promise((resolve) => {
      const socket = opened();
      this.#sockets.add(socket);
      // Written once the connection, or its TLS handshake, is complete.
      socket.write(bytes, () => resolve());
      socket.resume();
      socket.on('error', () => undefined);
      socket.on('close', () => {
        this.#sockets.delete(socket);
        resolve();
        if (!this.#left) {
          this.#returning.add(setTimeout(() => this.#renew(opened, bytes), returnTime()));
        }
      });
    });
  }
}

/** Sends a request over a new connection; fails without an answer in the time that Kubernetes gives a readiness probe. */
function probe(
  port: number,
  path: string,
  withTls: boolean,
  timeoutMs = PROBE_TIMEOUT_MS,
): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, path, agent: false, signal: AbortSignal.timeout(timeoutMs) } as const;
    const asked = withTls ? httpsRequest({ ...options, rejectUnauthorized: false }) : httpRequest(options);
    asked.on('response', (response) => {
      response.resume().on('end', () => resolve(response.statusCode));
    });
    asked.on('error', reject);
    asked.end();
  });
}

/** Probes while the crowd renews its connections. */
async function probeBeside({ renewed: before }: Crowd, port: number, withTls: boolean): Promise<void> {
  // All connections came at once; once this request is answered, with any status, the server has accepted them all.
  await probe(port, '/actuator/health', withTls, 30_000).catch(() => undefined);
  for (let round = 0; round < ROUNDS || (crowd?.renewed ?? 0) - before < RENEWED; round += 1) {
    for (const path of ['/actuator/health/liveness', '/actuator/health']) {
      expect(await probe(port, path, withTls)).toBe(200);
    }
    expect(openFiles()).toBeLessThan(OPEN_FILES);
  }
}

test('1,000 idle connections and 1,000 half requests keep no probe from its answer', async () => {
  const port = await serve(false);
  const opened = () => connect(port, '127.0.0.1');
  crowd = new Crowd();
  await Promise.all([crowd.open(1_000, opened, PING), crowd.open(1_000, opened, HALF)]);
  await probeBeside(crowd, port, false);
}, 120_000);

test('with TLS neither do those that do the same, nor 1,000 handshakes that are never finished', async () => {
  const port = await serve(true);
  const opened = () => connect(port, '127.0.0.1');
  const secured = () => connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false });
  crowd = new Crowd();
  await Promise.all([crowd.open(100, secured, PING), crowd.open(100, secured, HALF)]);
  await crowd.open(1_000, opened, GREETING);
  await probeBeside(crowd, port, true);
}, 120_000);

describe('of three connections', () => {
  let limited: Server;
  let evicted: (string | undefined)[];

  /** @param answerTimeout milliseconds. @default longer than any test takes */
  async function listen(answerTimeout = 600_000): Promise<void> {
    evicted = [];
    // The tests answer.
    limited = createServer();
    const onEvicted = (peer: string | undefined) => evicted.push(peer);
    new ConnectionLimit(limited, { connections: 3, answerTimeout, onEvicted });
    await once(limited.listen(0, '127.0.0.1'), 'listening');
  }

  afterEach(async () => {
    limited.close();
    limited.closeAllConnections();
    await once(limited, 'close');
  });

  async function open(): Promise<Socket> {
    const accepted = once(limited, 'connection');
    const socket = connect((limited.address() as AddressInfo).port, '127.0.0.1');
    socket.resume().on('error', () => undefined);
    await accepted;
    return socket;
  }

  async function ask(socket: Socket): Promise<ServerResponse> {
    const arrived = once(limited, 'request');
    socket.write(PING);
    const [, response] = await arrived;
    return response as ServerResponse;
  }

  async function answer(response: ServerResponse): Promise<void> {
    const closed = once(response, 'close');
    response.end('UP');
    await closed;
  }

  test('the one goes that was opened first when none has asked', async () => {
    await listen();
    const [first, second] = [await open(), await open(), await open()];
    const closed = [once(first, 'close'), once(second, 'close')];
    await open();
    await closed[0];
    await open();
    await closed[1];
    expect(evicted).toEqual(['127.0.0.1', '127.0.0.1']);
  });

  test('an answer makes a connection the youngest, and the beginning of a request does not', async () => {
    await listen();
    const [first, second, third] = [await open(), await open(), await open()];
    await answer(await ask(first));
    await answer(await ask(second));
    await answer(await ask(third));
    await answer(await ask(first));
    second.write(HALF);
    await answer(await ask(third));
    const closed = once(second, 'close');
    await open();
    await closed;
    expect([first.destroyed, third.destroyed]).toEqual([false, false]);
  });

  test('a connection that waits for its answer stays while others are idle', async () => {
    await listen();
    const [first, second] = [await open(), await open(), await open()];
    const response = await ask(first);
    const closed = once(second, 'close');
    await open();
    await closed;
    const answered = once(first, 'data');
    response.end('UP');
    expect(String(await answered)).toContain('UP');
  });

  test('when most wait for their answers, the one goes that has waited for longest', async () => {
    await listen();
    const [first, second, third] = [await open(), await open(), await open()];
    await ask(second);
    await ask(first);
    // A further request makes the wait for the first answer no shorter.
    second.write(PING);
    await once(limited, 'request');
    const closed = once(second, 'close');
    await open();
    await closed;
    expect([first.destroyed, third.destroyed]).toEqual([false, false]);
  });

  test('a place is free again when a client leaves', async () => {
    await listen();
    const [first, second] = [await open(), await open(), await open()];
    const left = once((await ask(first)).req.socket, 'close');
    first.destroy();
    await left;
    await open();
    expect([evicted, second.destroyed]).toEqual([[], false]);
  });

  test('a client that takes nothing of its answer is cut', async () => {
    await listen(100);
    const socket = await open();
    socket.pause();
    const response = await ask(socket);
    const cut = once(response, 'close');
    response.end(Buffer.alloc(LARGE));
    await cut;
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk)).resume();
    await once(socket, 'close');
    expect(Buffer.concat(chunks).length).toBeLessThan(LARGE);
  });
});
