import { afterAll, expect, jest, test } from '@jest/globals';
import type pg from 'pg';
import { DatabasePool } from '../../../app/store/connection/database-pool.ts';
import { ConnectionCheck } from '../../../app/store/database-check.ts';
import { checkedSettings } from '../../settings/checked-settings.ts';
import { query } from '../stack/database.ts';
import { startPgBouncer } from '../stack/pgbouncer.ts';
import { testSincePostgres } from '../stack/postgres-version.ts';
import { startPrivatePostgres } from '../stack/private-servers.ts';
import { sharedDatabaseUrl } from '../stack/shared-stack.ts';
import { until } from '../stack/until.ts';

const opened: DatabasePool[] = [];
afterAll(() => Promise.all(opened.map((pool) => pool.close())));

function aPool(statementTimeout: string, url = sharedDatabaseUrl()) {
  const { database: settings } = checkedSettings({ database: { url, statementTimeout } });
  const failures: number[] = [];
  const pool = new DatabasePool(settings, () => failures.push(Date.now()));
  opened.push(pool);
  return { pool, failures, settings };
}

const shown = (pool: DatabasePool, name: string) =>
  pool.withClient(async (client) => (await client.query<Record<string, string>>(`SHOW ${name}`)).rows[0]?.[name]);

test.each([
  ['tcp_keepalives_idle', '10'],
  ['tcp_keepalives_interval', '5'],
  ['tcp_keepalives_count', '3'],
  ['statement_timeout', '20s'],
  ['lock_timeout', '18s'],
  ['idle_in_transaction_session_timeout', '35s'],
])('every session has %s', async (name, value) => {
  expect(await shown(aPool('20s').pool, name)).toBe(value);
});

test('a connection that keeps silent for longer than any statement may take is cut: an outage, not a wait for ever', async () => {
  const { pool, failures } = aPool('1s');
  const asked = pool.withClient((client) => client.query('SET statement_timeout = 0; SELECT pg_sleep(25)'));
  await expect(asked).rejects.toMatchObject({
    name: 'OutageError',
    message: expect.stringContaining('silent for 6000 ms'),
  });
  expect(failures.length).toBeGreaterThan(0);
  expect(await shown(pool, 'server_encoding')).toBe('UTF8');
});

testSincePostgres(
  17,
  'a transaction that outlasts transaction_timeout is an outage, and the next one has a connection of its own',
  async () => {
    const { pool } = aPool('20s');
    const processes = new Set<number | null>();
    const note = async (client: pg.PoolClient) => {
      const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
      processes.add(rows[0]?.pid ?? null);
    };
    const asked = pool.withClient(async (client) => {
      await note(client);
      await client.query("SET transaction_timeout = '100ms'");
      await client.query('BEGIN; SELECT pg_sleep(20)');
    });
    await expect(asked).rejects.toMatchObject({
      name: 'OutageError',
      message: expect.stringContaining('SQLSTATE 25P04'),
      attempts: Number.POSITIVE_INFINITY,
      reason: 'database_busy',
    });
    await pool.withClient(note);
    expect(processes.size).toBe(2);
  },
);

test('a mistake in the program is no outage', async () => {
  const asked = aPool('1s').pool.withClient(async () => {
    throw new TypeError('undefined is not a function');
  });
  await expect(asked).rejects.toMatchObject({ name: 'FatalError', code: 'UNEXPECTED' });
});

test('as many work at once as there are connections; the others wait without being a failure', async () => {
  const { pool, failures } = aPool('20s');
  const all = Promise.all(
    Array.from({ length: 12 }, () => pool.withClient((client) => client.query('SELECT pg_sleep(0.2)'))),
  );
  expect(pool.figures()).toMatchObject({ max: 4, pending: 8 });
  await all;
  expect(pool.figures()).toEqual({ active: 0, idle: 4, pending: 0, max: 4 });
  expect(failures).toEqual([]);
});

test('the health asks on a connection beside the pool: with all of the pool in use, PostgreSQL is still UP', async () => {
  const { pool, settings } = aPool('20s');
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const busy = Promise.all(Array.from({ length: 5 }, () => pool.withClient(() => released)));
  const broken: number[] = [];
  const health = new ConnectionCheck(
    () => settings,
    () => broken.push(Date.now()),
  );
  try {
    await health.check(new AbortController().signal);
    expect(pool.figures()).toMatchObject({ max: 4, pending: 1 });
    expect(broken).toEqual([]);
  } finally {
    release();
    await Promise.all([busy, health.close()]);
  }
});

/** Process of the session that answers. */
const ownProcess = async (client: pg.ClientBase): Promise<number> =>
  (await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows[0]?.pid ?? 0;

const isClosed = (pool: DatabasePool) =>
  until('the pool to have noticed', async () => (pool.figures().idle === 0 ? true : undefined));

test('an idle connection that the server ended is opened again at once, and is no failure', async () => {
  const { pool, failures } = aPool('20s');
  const processes = await Promise.all(Array.from({ length: 3 }, () => pool.withClient(ownProcess)));
  await query('SELECT pg_terminate_backend(pid) FROM unnest($1::int[]) AS pid', [processes]);
  await isClosed(pool);
  expect(processes).not.toContain(await pool.withClient(ownProcess));
  expect(failures).toEqual([]);
});

test('nor is one that a pooler ended', async () => {
  const { url } = await startPgBouncer({ mode: 'transaction', settings: { client_idle_timeout: 1 } });
  const { pool, failures } = aPool('20s', url);
  await pool.withClient(ownProcess);
  await isClosed(pool);
  await pool.withClient(ownProcess);
  expect(failures).toEqual([]);
});

const MINUTE_MS = 60_000;

test('an idle connection stays open for half an hour: it has the stages of all tables with a key', async () => {
  jest.useFakeTimers({
    doNotFake: ['nextTick', 'setImmediate', 'setInterval', 'queueMicrotask', 'performance', 'Date'],
  });
  try {
    const { pool } = aPool('20s');
    await Promise.all(Array.from({ length: 3 }, () => pool.withClient(ownProcess)));
    jest.advanceTimersByTime(29 * MINUTE_MS);
    expect(pool.figures().idle).toBe(3);
    jest.advanceTimersByTime(2 * MINUTE_MS);
    expect(pool.figures().idle).toBe(0);
  } finally {
    jest.useRealTimers();
  }
});

test('a connection that the server ended while it was in use is one failure', async () => {
  const { pool, failures } = aPool('20s');
  const asked = pool.withClient(async (client) => {
    await query('SELECT pg_terminate_backend($1)', [await ownProcess(client)]);
    await client.query('SELECT 1');
  });
  await expect(asked).rejects.toMatchObject({ name: 'OutageError', reason: 'database_away' });
  expect(failures).toHaveLength(1);
});

test('a restart between two uses is no failure; each attempt while PostgreSQL is away is one', async () => {
  const postgres = await startPrivatePostgres();
  const { pool, failures } = aPool('20s', postgres.urlWithPassword);
  await pool.withClient(ownProcess);
  await postgres.stop();
  await isClosed(pool);
  await postgres.start();
  await pool.withClient(ownProcess);
  expect(failures).toEqual([]);
  await postgres.stop();
  for (const attempt of [1, 2]) {
    await expect(pool.withClient(ownProcess)).rejects.toMatchObject({ name: 'OutageError' });
    expect(failures).toHaveLength(attempt);
  }
});
