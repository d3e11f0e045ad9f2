import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, jest, test } from '@jest/globals';
import { ConnectionCheck } from '../../../app/store/database-check.ts';
import { freePort } from '../../../dev/run/free-port.ts';
import { checkedSettings } from '../../settings/checked-settings.ts';
import { query } from '../stack/database.ts';
import { freezePostgres, startPrivatePostgres } from '../stack/private-servers.ts';
import { randomName } from '../stack/random-name.ts';
import { sharedDatabaseUrl } from '../stack/shared-stack.ts';
import { until } from '../stack/until.ts';

const never = (): AbortSignal => new AbortController().signal;

const opened: ConnectionCheck[] = [];
afterEach(async () => {
  jest.useRealTimers();
  await Promise.all(opened.splice(0).map((check) => check.close()));
});

const databaseAt = (url: string) => checkedSettings({ database: { url } }).database;

/** A database of this file alone, where all sessions are those of its checks. */
const database = randomName('check');
beforeAll(() => query(`CREATE DATABASE ${database}`));
afterAll(() => query(`DROP DATABASE ${database} WITH (FORCE)`));

function ownDatabase(parameters: Readonly<Record<string, string>> = {}): URL {
  const url = new URL(sharedDatabaseUrl());
  url.pathname = database;
  for (const [key, value] of Object.entries(parameters)) {
    url.searchParams.set(key, value);
  }
  return url;
}

function aCheck(url: string) {
  const failures: string[] = [];
  let current = databaseAt(url);
  const check = new ConnectionCheck(
    () => current,
    () => failures.push('failed'),
  );
  opened.push(check);
  return { check, failures, set: (next: string) => (current = databaseAt(next)) };
}

const sessions = async (): Promise<number[]> =>
  (
    await query<{ pid: number }>(
      "SELECT pid FROM pg_stat_activity WHERE datname = $1 AND backend_type = 'client backend'",
      [database],
    )
  ).map(({ pid }) => pid);

test('checks that follow each other use one connection, which is closed at the end', async () => {
  const { check, failures } = aCheck(ownDatabase().href);
  await check.check(never());
  const first = await sessions();
  await check.check(never());
  expect([first.length, await sessions(), failures]).toEqual([1, first, []]);
  await check.close();
  await until('the session to be gone', async () => ((await sessions()).length === 0 ? true : undefined));
});

test('a server that does not answer is not UP, which counts as a failure', async () => {
  const postgres = await startPrivatePostgres();
  const { check, failures } = aCheck(postgres.urlWithPassword);
  await check.check(never());
  const thaw = await freezePostgres(postgres);
  try {
    await expect(check.check(never())).rejects.toThrow('Query read timeout');
  } finally {
    thaw();
  }
  expect(failures).toHaveLength(1);
});

test('a refused login is not tried again for ten seconds, unless the settings are others', async () => {
  const wrong = ownDatabase();
  wrong.username = 'nobody_of_this_name';
  const { check, failures, set } = aCheck(wrong.href);
  jest.useFakeTimers({
    doNotFake: ['nextTick', 'setImmediate', 'setTimeout', 'setInterval', 'queueMicrotask', 'Date'],
  });
  const refused = (await check.check(never()).catch((error: unknown) => error)) as Error;
  expect([refused.message, failures.length]).toEqual([expect.stringContaining('nobody_of_this_name'), 1]);
  jest.advanceTimersByTime(9_000);
  await expect(check.check(never())).rejects.toBe(refused);
  expect(failures.length).toBe(1);
  jest.advanceTimersByTime(1_100);
  const again: unknown = await check.check(never()).catch((error: unknown) => error);
  expect([again === refused, failures.length]).toEqual([false, 2]);
  set(ownDatabase().href);
  await check.check(never());
  expect(failures.length).toBe(2);
});

test('an outage is tried again by the next check', async () => {
  const away = new URL(sharedDatabaseUrl());
  away.port = `${await freePort()}`;
  const { check, failures } = aCheck(away.href);
  for (const attempt of [1, 2]) {
    await expect(check.check(never())).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    expect(failures).toHaveLength(attempt);
  }
});

test('a server that takes no writes is DOWN where writes are asked for, until it takes them', async () => {
  const { check, failures } = aCheck(ownDatabase({ target_session_attrs: 'read-write' }).href);
  const newSessions = (is: 'on' | 'off') =>
    query(`ALTER DATABASE ${database} SET default_transaction_read_only = ${is}`);
  try {
    await newSessions('on');
    await expect(check.check(never())).rejects.toThrow('the session is read-only: this server takes no writes now');
  } finally {
    await newSessions('off');
  }
  await check.check(never());
  expect(failures.length).toBe(1);
});

test('what ends between two checks is no failure, and what a check meets is one', async () => {
  const postgres = await startPrivatePostgres();
  const { check, failures } = aCheck(postgres.urlWithPassword);
  const session = 'FROM pg_stat_activity WHERE application_name = $1';
  const asked = (what: string) =>
    query<{ pid: number }>(`SELECT ${what} ${session}`, ['stream-consumer'], postgres.urlWithPassword);
  await check.check(never());
  const [first] = await asked('pid');
  await asked('pg_terminate_backend(pid)');
  await until('the session to be gone', async () => ((await asked('pid')).length === 0 ? true : undefined));
  await check.check(never());
  expect(await asked('pid')).not.toEqual([first]);
  expect(failures).toEqual([]);
  await postgres.stop();
  await expect(check.check(never())).rejects.toThrow();
  expect(failures).toHaveLength(1);
});

/** A server that takes connections and never answers. */
async function startSilentServer() {
  const sockets: Socket[] = [];
  const server = createServer((socket) => sockets.push(socket.on('error', () => undefined).resume())).listen(
    0,
    '127.0.0.1',
  );
  await once(server, 'listening');
  const url = new URL(sharedDatabaseUrl());
  url.port = `${(server.address() as AddressInfo).port}`;
  const close = () => {
    server.close();
    for (const socket of sockets) {
      socket.destroy();
    }
  };
  return { sockets, url: url.href, close };
}

test('a check that was given up goes on connecting for the next ones, and the end closes its connection', async () => {
  const silent = await startSilentServer();
  try {
    const { check, failures } = aCheck(silent.url);
    const reason = new Error('given up');
    const ended = new AbortController();
    const asked = check.check(ended.signal);
    ended.abort(reason);
    await expect(asked).rejects.toBe(reason);
    await until('the connection', async () => silent.sockets[0]);
    await expect(check.check(AbortSignal.timeout(50))).rejects.toMatchObject({ name: 'TimeoutError' });
    expect([silent.sockets.length, failures]).toEqual([1, []]);
    const [socket] = silent.sockets;
    const closed = socket && once(socket, 'close');
    await check.close();
    await closed;
  } finally {
    silent.close();
  }
});
