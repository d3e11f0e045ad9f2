import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { DatabaseFaults } from '../../../../dev/chaos/database-faults.ts';
import type { LocalPostgres } from '../../../../dev/stack/local-postgres.ts';
import { query } from '../../stack/database.ts';
import { startPrivatePostgres } from '../../stack/private-servers.ts';
import { until } from '../../stack/until.ts';

let postgres: LocalPostgres;
let faults: DatabaseFaults;
let consumerUrl: string;

beforeAll(async () => {
  postgres = await startPrivatePostgres();
  faults = new DatabaseFaults(postgres.urlWithPassword, 'chaos');
  consumerUrl = await faults.createRole(postgres.urlWithPassword);
  await asConsumer('CREATE SCHEMA chaos; CREATE TABLE chaos.records (partition int)');
  await asAdministrator('CREATE TABLE public.customers (name text)');
});

const asAdministrator = (text: string) => query<Record<string, unknown>>(text, [], postgres.urlWithPassword);
const asConsumer = (text: string) => query(text, [], consumerUrl);
const codeOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'success',
    ({ code }) => code,
  );

/** Waits until the consumers' role meets an error with this SQLSTATE. */
const awaitRefusal = (text: string, code: string) =>
  until(code, async () => ((await codeOf(asConsumer(text))) === code ? true : undefined), LENGTH_MS);

const LENGTH_MS = 4_000;

describe("faults by PostgreSQL's own commands", () => {
  test.each(['role', 'server'] as const)('leave consumers no connection of their %s for a while', async (way) => {
    const session = new pg.Client({ connectionString: consumerUrl });
    const ended = new Promise((resolve) => session.on('error', resolve));
    await session.connect();
    const fault = faults.limitConnections(way, LENGTH_MS);
    await ended;
    await awaitRefusal('SELECT 1', '53300');
    expect(await asAdministrator('SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await fault;
    expect(await codeOf(asConsumer('SELECT 1'))).toBe('success');
    expect(await asAdministrator(`SELECT rolname FROM pg_roles WHERE rolname ~ '^chaos_idle'`)).toEqual([]);
  });

  test('hold a lock that lets no other session in', async () => {
    const fault = faults.lock('records', LENGTH_MS);
    await awaitRefusal(`SET lock_timeout = '100ms'; SELECT FROM chaos.records`, '55P03');
    await fault;
    expect(await codeOf(asConsumer(`SET lock_timeout = '100ms'; SELECT FROM chaos.records`))).toBe('success');
  });

  test.each(['column', 'index', 'rewrite'] as const)('change a table (%s) under a lock and undo it', async (change) => {
    const shape = `SELECT (SELECT count(*)::int FROM pg_index WHERE indrelid = 'chaos.records'::regclass) AS indexes,
      (SELECT count(*)::int FROM information_schema.columns WHERE table_schema = 'chaos') AS columns`;
    const file = `SELECT pg_relation_filenode('chaos.records') AS file`;
    const before = [await asAdministrator(shape), await asAdministrator(file)];
    const fault = faults.alter('records', change, change === 'rewrite' ? 0 : LENGTH_MS);
    if (change !== 'rewrite') {
      await awaitRefusal(`SET lock_timeout = '100ms'; INSERT INTO chaos.records VALUES (1)`, '55P03');
    }
    await fault;
    expect(await asAdministrator(shape)).toEqual(before[0]);
    expect(JSON.stringify(await asAdministrator(file)) === JSON.stringify(before[1])).toBe(change !== 'rewrite');
  });

  test("change and lock the keyed topic's table, which is in another schema", async () => {
    const names = 'SELECT count(*)::int AS indexes FROM pg_indexes WHERE tablename = $$customers$$';
    const fault = faults.alter('customers', 'index', LENGTH_MS);
    await until('the lock', async () => {
      const locks = await asAdministrator(
        `SELECT 1 FROM pg_locks WHERE relation = 'public.customers'::regclass AND mode = 'ShareLock'`,
      );
      return locks.length > 0 ? true : undefined;
    });
    await fault;
    expect(await asAdministrator(names)).toEqual([{ indexes: 0 }]);
  });

  test('are over where PostgreSQL is restarted meanwhile', async () => {
    const faultsUnderWay = [faults.alter('records', 'column', LENGTH_MS), faults.limitConnections('role', LENGTH_MS)];
    await awaitRefusal('SELECT 1', '53300');
    await postgres.stop('immediate');
    await postgres.start();
    await Promise.all(faultsUnderWay);
    expect(await codeOf(asConsumer('SELECT partition FROM chaos.records'))).toBe('success');
  });
});

afterAll(() => postgres.stop());
