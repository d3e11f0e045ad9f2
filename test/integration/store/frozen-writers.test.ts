import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type pg from 'pg';
import type { Logger } from '../../../app/logging/logger.ts';
import { TableLocks } from '../../../app/store/tables/table-locks.ts';
import { sessionName } from '../../../app/store/transaction/frozen-writers.ts';
import type { WriteOutcome } from '../../../app/stream/ports/record-sink.ts';
import { checkedSettings } from '../../settings/checked-settings.ts';
import { query } from '../stack/database.ts';
import { randomName } from '../stack/random-name.ts';
import { sharedDatabaseUrl } from '../stack/shared-stack.ts';
import { until } from '../stack/until.ts';
import { aRequest, connect, openStore } from './open-store.ts';

const GROUP = randomName('group');
const OF_THE_GROUP = sessionName(GROUP);

const RUNBOOK = join(import.meta.dirname, '..', '..', '..', 'docs', 'runbooks', 'ConsumerLagHigh.md');

/** The runbook's SQL under this first line. */
function documentedSql(heading: string): string {
  const blocks = [...readFileSync(RUNBOOK, 'utf8').matchAll(/```sql\n-- ([^\n]*)\n([^`]*)```/g)];
  const [, , sql] = blocks.find(([, first]) => first === heading) ?? [];
  if (sql === undefined) {
    throw new Error(`${RUNBOOK} has no SQL that begins with "-- ${heading}"`);
  }
  return sql;
}

const refused = (error: Error): Error => error;

/** Holds the offset of a partition in a transaction that waits for its client, as a writer does in mid-COPY. */
async function hold(schema: string, partition: number, config: pg.ClientConfig): Promise<pg.Client> {
  const client = await connect(config);
  client.on('error', () => undefined);
  await client.query('BEGIN');
  await client.query(`SELECT FROM ${schema}.offsets WHERE partition = $1 FOR UPDATE`, [partition]);
  return client;
}

const isAlive = (client: pg.Client): Promise<boolean> =>
  client.query('SELECT 1').then(
    () => true,
    () => false,
  );

describe('of the sessions that hold an offset for 10 s', () => {
  const { schema, sink, ended } = openStore({ groupId: GROUP });
  const topic = randomName('topic');
  const role = `${schema}_other`;

  /** Tries again, as the pipeline does, until the write is done or the sessions that hold the row are named. */
  const outcomeOf = (partition: number): Promise<WriteOutcome | Error> =>
    until('the end of the write', async () => {
      const outcome = await sink.write(aRequest(topic, 0n, ['{}', '{}'], partition)).catch(refused);
      return outcome instanceof Error && !outcome.message.includes('held by') ? undefined : outcome;
    });

  beforeAll(async () => {
    await sink.migrate();
    await sink.initialize(topic, () => Array.from({ length: 5 }, (_, partition) => ({ topic, partition, offset: 0n })));
    await query(`CREATE ROLE ${role} LOGIN PASSWORD 'x' SUPERUSER`);
  });

  afterAll(async () => {
    await query(`DROP ROLE ${role}`);
  });

  test('one of the role and the group that waits for its client is ended, and no other', async () => {
    const frozen = await hold(schema, 0, { application_name: OF_THE_GROUP });
    const ofAnotherGroup = await hold(schema, 1, { application_name: sessionName('another') });
    const administrator = await hold(schema, 2, { application_name: 'psql' });
    const url = new URL(sharedDatabaseUrl());
    [url.username, url.password] = [role, 'x'];
    const ofAnotherRole = await hold(schema, 3, { connectionString: url.href, application_name: OF_THE_GROUP });
    const busy = await hold(schema, 4, { application_name: OF_THE_GROUP });
    const [{ pid }] = (await busy.query('SELECT pg_backend_pid() AS pid')).rows;
    const working = busy.query('SELECT pg_sleep(60)').catch(refused);

    const [written, ...others] = await Promise.all([0, 1, 2, 3, 4].map(outcomeOf));
    expect(written).toMatchObject({ kind: 'committed' });
    expect(await isAlive(frozen)).toBe(false);
    expect(ended).toEqual([{ pid: expect.any(Number), role: 'postgres', name: OF_THE_GROUP }]);
    for (const other of others) {
      expect(other).toMatchObject({ name: 'OutageError', message: expect.stringContaining('55P03') });
    }
    expect(others[1]).toMatchObject({
      message: expect.stringMatching(/the session with pid \d+ \(role postgres, application_name "psql"\)/),
    });
    expect(others[2]).toMatchObject({ message: expect.stringContaining(`role ${role}`) });
    expect(await Promise.all([ofAnotherGroup, administrator, ofAnotherRole].map(isAlive))).toEqual([true, true, true]);
    await query('SELECT pg_cancel_backend($1)', [pid]);
    expect(await working).toMatchObject({ code: '57014' });
    const rows = await query(`SELECT DISTINCT partition FROM ${schema}.records`);
    expect(rows).toEqual([{ partition: 0 }]);
    await Promise.all([ofAnotherGroup, administrator, ofAnotherRole, busy].map((client) => client.query('ROLLBACK')));
  });
});

describe('without the right to end sessions', () => {
  const database = randomName('database');
  const role = `${database}_writer`;
  const asAdministrator = new URL(sharedDatabaseUrl());
  asAdministrator.pathname = `/${database}`;
  const asWriter = new URL(asAdministrator);
  [asWriter.username, asWriter.password] = [role, 'x'];

  beforeAll(async () => {
    await query(`CREATE DATABASE ${database} ENCODING 'UTF8' TEMPLATE template0`);
    await query(`CREATE ROLE ${role} LOGIN PASSWORD 'x'`);
    await query(`GRANT CREATE ON DATABASE ${database} TO ${role}`);
    await query('REVOKE EXECUTE ON FUNCTION pg_terminate_backend FROM PUBLIC', [], asAdministrator.href);
  });

  afterAll(async () => {
    await query(`DROP DATABASE ${database} WITH (FORCE)`);
    await query(`DROP ROLE ${role}`);
  });

  test('the frozen session and the runbook with the query are named, and nothing is written', async () => {
    const { schema, sink, ended } = openStore({ groupId: GROUP, url: asWriter.href });
    const topic = randomName('topic');
    await sink.migrate();
    await sink.initialize(topic, () => [{ topic, partition: 0, offset: 0n }]);
    const frozen = await hold(schema, 0, { connectionString: asWriter.href, application_name: OF_THE_GROUP });
    const named = await until('the sessions that hold the row to be named', async () => {
      const outcome = await sink.write(aRequest(topic, 0n, ['{}'])).catch(refused);
      return outcome instanceof Error && outcome.message.includes('held by') ? outcome.message : undefined;
    });
    expect(named).toMatch(
      /55P03.* held by the session with pid \d+ .* could not be ended \(SQLSTATE 42501: permission denied/,
    );
    expect(named).toContain('docs/runbooks/ConsumerLagHigh.md');
    expect([await isAlive(frozen), ended]).toEqual([true, []]);

    const held = await until('the query of the runbook to find the session', async () => {
      const writing = sink.write(aRequest(topic, 0n, ['{}'])).catch(refused);
      const sessions = documentedSql("sessions that hold up the consumer's");
      // Other tests' sessions wait for each other, too.
      const found = await query<{ pid: number; application_name: string }>(sessions, [], asAdministrator.href);
      await writing;
      return found.find((session) => session.application_name === OF_THE_GROUP);
    });
    expect(held).toMatchObject({
      application_name: OF_THE_GROUP,
      state: 'idle in transaction',
      wait_event: 'ClientRead',
    });
    await query(documentedSql('end one of them').replace('PID', String(held.pid)), [], asAdministrator.href);
    expect(await isAlive(frozen)).toBe(false);
    // A session that ends gives its locks back after its client got the error.
    const written = await until('the write', () => sink.write(aRequest(topic, 0n, ['{}'])));
    expect(written).toMatchObject({ kind: 'committed' });
  });
});

describe('the name of a session', () => {
  test('has the group, where PostgreSQL leaves it as it is', async () => {
    const { pool } = openStore({ groupId: 'orders' });
    const { rows } = await pool.withClient((client) => client.query('SHOW application_name'));
    expect(rows).toEqual([{ application_name: 'stream-consumer orders' }]);
  });

  test.each([
    ['long', `${'g'.repeat(60)}1`, `${'g'.repeat(60)}2`],
    ['not ASCII', 'gr\u00fcn', 'gr\u00f6n'],
  ])('distinguishes groups whose ids are %s', async (_, one, other) => {
    const names = await Promise.all(
      [one, other].map(async (groupId) => {
        const { rows } = await openStore({ groupId }).pool.withClient((client) =>
          client.query('SHOW application_name'),
        );
        return rows[0].application_name;
      }),
    );
    expect(names).toEqual([sessionName(one), sessionName(other)]);
    expect(new Set(names).size).toBe(2);
  });
});

describe('a look for locks', () => {
  const schema = randomName('schema');
  const role = `${schema}_writer`;
  const ending = new AbortController();
  const lines: { readonly fields: object; readonly message: string }[] = [];
  const write = (fields: object, message: string) => lines.push({ fields, message });

  /** What a role without a right to other roles' sessions sees. */
  function looking(at = schema, info = write): TableLocks {
    const url = new URL(sharedDatabaseUrl());
    [url.username, url.password] = [role, 'x'];
    const settings = checkedSettings({ database: { url: url.href, schema: at }, kafka: { groupId: GROUP } });
    const logger = { warn: info, info } as unknown as Logger;
    return new TableLocks({
      settings,
      topics: { settings },
      current: () => settings.database,
      logger,
      signal: ending.signal,
    });
  }

  const connections = async () => (await query('SELECT FROM pg_stat_activity WHERE usename = $1', [role])).length;

  beforeAll(() =>
    query(`CREATE ROLE ${role} LOGIN PASSWORD 'x'; CREATE SCHEMA ${schema};
      CREATE TABLE ${schema}.records (id int) PARTITION BY RANGE (id);
      CREATE TABLE ${schema}.first PARTITION OF ${schema}.records FOR VALUES FROM (0) TO (9)`),
  );

  afterAll(async () => {
    ending.abort();
    await until('no connection of the role', async () => ((await connections()) === 0 ? true : undefined));
    await query(`DROP SCHEMA ${schema} CASCADE; DROP ROLE ${role}`);
  });

  test('names those that wait for the lock of a partition, and those that they wait for, as far as the role sees them', async () => {
    const reader = await connect({ application_name: 'a report' });
    const migration = await connect({ application_name: 'a migration' });
    const pids = await Promise.all(
      [reader, migration].map(async (client) => (await client.query('SELECT pg_backend_pid() AS pid')).rows[0].pid),
    );
    const locks = looking();
    expect(await locks.search()).toBe(false);
    await until('the connection to be closed', async () => ((await connections()) === 0 ? true : undefined));
    await reader.query(`BEGIN; SELECT FROM ${schema}.first`);
    const altered = migration.query(`ALTER TABLE ${schema}.first ADD CHECK (id < 9)`);
    await until('the migration to wait', async () =>
      (await query('SELECT FROM pg_locks WHERE pid = $1 AND NOT granted', [pids[1]])).length > 0 ? true : undefined,
    );
    expect(await Promise.all([locks.search(), locks.search(), locks.search()])).toEqual([true, true, true]);
    const { rows } = await reader.query('SELECT session_user AS user');
    const holders = [
      { pid: pids[0], ...rows[0], applicationName: 'a report' },
      { pid: pids[1], ...rows[0], applicationName: 'a migration' },
    ].sort((one, other) => one.pid - other.pid);
    expect(lines).toEqual([
      { fields: { tables: [`${schema}.records`], holders }, message: expect.stringContaining('a lock keeps rows out') },
    ]);
    expect(await connections()).toBe(1);
    await reader.query('ROLLBACK');
    await altered;
    await until('the end of the lock', async () => lines[1]);
    expect(lines[1]?.message).toMatch(/^the lock is gone after \d+ s: /);
    await until('the connection to be closed', async () => ((await connections()) === 0 ? true : undefined));
  });

  test('excuses the line of a write that waited for a table, not of one that waited for its offset', async () => {
    const store = randomName('schema');
    const database = { url: sharedDatabaseUrl(), schema: store, statementTimeout: '1s' };
    const { sink } = openStore({ schema: store, settings: { database } });
    const topic = randomName('topic');
    await sink.migrate();
    await sink.initialize(topic, () => [0, 1].map((partition) => ({ topic, partition, offset: 0n })));
    const failureOf = async (partition: number): Promise<Error> => {
      const outcome = await sink.write(aRequest(topic, 0n, ['{}'], partition)).catch(refused);
      return outcome instanceof Error ? outcome : new Error(`it is ${outcome.kind}`);
    };
    const writer = await hold(store, 0, {});
    const migration = await connect();
    await migration.query(`BEGIN; LOCK TABLE ${store}.records IN SHARE MODE`);
    const locks = looking(store, () => 0);
    // The first attempt of both is one transaction, and each goes alone from then on.
    await Promise.all([0, 1].map(failureOf));
    const failures = await Promise.all([0, 1].map(failureOf));
    expect(failures.map(({ message }) => message)).toEqual(Array(2).fill(expect.stringContaining('55P03')));
    expect(await Promise.all(failures.map((failure) => locks.hasLogged(failure)))).toEqual([false, true]);
    // The lock of a partition that a record is the first one of.
    Object.assign(failures[1]?.cause ?? {}, { where: 'COPY records, line 1: "(1,2)"' });
    expect(await locks.hasLogged(failures[1] ?? new Error())).toBe(true);
    await Promise.all([writer, migration].map((client) => client.query('ROLLBACK')));
  });

  test('that gets no answer answers no, and rejects nothing', async () => {
    const locks = looking();
    await query(`ALTER ROLE ${role} NOLOGIN`);
    expect(await locks.search()).toBe(false);
    expect(lines.slice(2)).toEqual([]);
  });
});
