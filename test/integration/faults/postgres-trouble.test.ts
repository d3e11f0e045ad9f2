import { randomBytes } from 'node:crypto';
import { afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import pg from 'pg';
import type { LocalPostgres } from '../../../dev/stack/local-postgres.ts';
import { query } from '../stack/database.ts';
import { type Membership, membership, TELLS_JOINS } from '../stack/group-membership.ts';
import { createTopic, produce } from '../stack/kafka-client.ts';
import { longTest } from '../stack/long-test.ts';
import { testSincePostgres } from '../stack/postgres-version.ts';
import { startPrivatePostgres } from '../stack/private-servers.ts';
import { type StartedConsumer, startConsumer } from '../stack/start-consumer.ts';
import { startSteadyLoad } from '../stack/steady-load.ts';
import { awaitEachOnce } from '../stack/stored-rows.ts';
import { mountTinyDisk } from '../stack/tiny-disk.ts';
import { until } from '../stack/until.ts';

const PARTITIONS = 3;
const ROLE = 'consumer';
/** Another client of the same server. */
const HOG = 'hog';
/** Long enough to outlast {@link SESSION_TIMEOUT} when each of them waits for a time-out of a second first. */
const FAILURES = 6;
const SESSION_TIMEOUT = '6s';

let postgres: LocalPostgres;
let topic: string;
let consumer: StartedConsumer;
let produced = 0;
let before: Membership;

const asSuperuser = (sql: string) => query<Record<string, unknown>>(sql, [], postgres.urlWithPassword);

const endConnections = () =>
  asSuperuser(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${ROLE}'`);

const produceToAll = async (pad = '') => {
  const records = Array.from({ length: 30 }, (_, id) => ({
    partition: id % PARTITIONS,
    value: JSON.stringify({ id, pad }),
  }));
  await produce(topic, records);
  produced += records.length;
};

/** A write that was given a connection just as the server ended it fails by that, and those after it for want of another. */
const WITHOUT_CONNECTION = /53300|57P01|Connection terminated/;

const failures = (pattern: RegExp) =>
  consumer.logs.all.filter((line) => line.includes('the write failed') && pattern.test(line)).length;

const awaitFailures = (pattern: RegExp, count: number) =>
  until(`${count} failures ${pattern}`, async () => (failures(pattern) >= count ? true : undefined));

const awaitState = (state: string) =>
  until(`the state ${state}`, async () => {
    const answer = await consumer.get(`${consumer.endpoint.healthPath}/consumer`);
    const { details } = (await answer.json()) as { details: { state: string } };
    return details.state === state ? true : undefined;
  });

const awaitAll = () =>
  awaitEachOnce({ schema: consumer.schema, topic, records: produced, url: postgres.urlWithPassword });

/** Holds the table until it is released. */
async function lockRecords(): Promise<{ release(): Promise<void> }> {
  const client = new pg.Client({ connectionString: postgres.urlWithPassword });
  await client.connect();
  await client.query(`BEGIN; LOCK TABLE ${consumer.schema}.records IN ACCESS EXCLUSIVE MODE`);
  return { release: () => client.end() };
}

const urlOf = (role: string): string => {
  const url = new URL(postgres.urlWithPassword);
  url.username = role;
  return url.href;
};

/** How many connections the server has for ordinary roles. */
async function ordinaryConnections(): Promise<number> {
  const [row] = await asSuperuser(`SELECT current_setting('max_connections')::int
    - current_setting('superuser_reserved_connections')::int
    - coalesce(current_setting('reserved_connections', true)::int, 0) AS count`);
  return Number(row?.['count']);
}

/** Takes each of them, the consumer's too. A session that ends leaves the list a bit before its connection is free. */
async function takeAllConnections(): Promise<{ release(): Promise<void> }> {
  const all = await ordinaryConnections();
  const taken: pg.Client[] = [];
  const takeOne = async () => {
    const client = new pg.Client({ connectionString: urlOf(HOG) });
    await client.connect();
    taken.push(client);
    return taken.length;
  };
  await until('all connections to be taken', async () => {
    while (await takeOne().catch(() => 0));
    await endConnections();
    return taken.length === all ? true : undefined;
  });
  return {
    async release() {
      await Promise.all(taken.map((client) => client.end()));
    },
  };
}

beforeAll(async () => {
  postgres = await startPrivatePostgres();
  for (const role of [ROLE, HOG]) await asSuperuser(`CREATE ROLE ${role} LOGIN PASSWORD '${postgres.password}'`);
  await asSuperuser(`GRANT CREATE ON DATABASE postgres TO ${ROLE}`);
  topic = await createTopic({ partitions: PARTITIONS });
  consumer = await startConsumer({
    topics: [topic],
    databaseUrl: urlOf(ROLE),
    settings: { kafka: { sessionTimeout: SESSION_TIMEOUT }, database: { statementTimeout: '1s' }, ...TELLS_JOINS },
  });
  await consumer.waitForHealth();
  await asSuperuser(`CREATE FUNCTION dawdle() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN PERFORM pg_sleep(60); RETURN NEW; END $$`);
});

beforeEach(async () => {
  await produceToAll();
  await awaitAll();
  before = await membership(consumer);
  expect(before).toEqual({ members: [expect.any(String)], joins: 1 });
});

afterEach(async () => {
  await awaitAll();
  await awaitState('running');
  expect(await membership(consumer)).toEqual(before);
  expect(await asSuperuser(`SELECT * FROM ${consumer.schema}.dead_letters`)).toEqual([]);
});

test('a read-only server pauses the partitions until it takes writes again', async () => {
  await asSuperuser('ALTER SYSTEM SET default_transaction_read_only = on');
  await asSuperuser('SELECT pg_reload_conf()');
  await until('a server that takes no writes', async () => {
    const [setting] = await asSuperuser('SHOW default_transaction_read_only');
    return setting?.['default_transaction_read_only'] === 'on' ? true : undefined;
  });
  await produceToAll();
  await awaitFailures(/25006/, PARTITIONS);
  await awaitState('paused');
  await asSuperuser('ALTER SYSTEM RESET default_transaction_read_only');
  await asSuperuser('SELECT pg_reload_conf()');
});

longTest('a server whose connections are all in use is waited for', async () => {
  const failedBefore = failures(WITHOUT_CONNECTION);
  const all = await takeAllConnections();
  await produceToAll();
  await awaitFailures(WITHOUT_CONNECTION, failedBefore + PARTITIONS);
  await awaitState('paused');
  await all.release();
});

test('a role without a connection to spare is waited for', async () => {
  const failedBefore = failures(WITHOUT_CONNECTION);
  await asSuperuser(`ALTER ROLE ${ROLE} CONNECTION LIMIT 0`);
  await endConnections();
  await produceToAll();
  await awaitFailures(WITHOUT_CONNECTION, failedBefore + PARTITIONS);
  await awaitState('paused');
  await asSuperuser(`ALTER ROLE ${ROLE} CONNECTION LIMIT -1`);
});

longTest('a table that is locked for longer than the session time-out costs no membership', async () => {
  const lock = await lockRecords();
  await produceToAll();
  await awaitFailures(/55P03|57014/, FAILURES * PARTITIONS);
  await lock.release();
});

test('statements that take longer than statementTimeout are tried again', async () => {
  await asSuperuser(`CREATE TRIGGER slow BEFORE INSERT ON ${consumer.schema}.records
    FOR EACH STATEMENT EXECUTE FUNCTION dawdle()`);
  const failedBefore = failures(/57014/);
  await produceToAll();
  await awaitFailures(/57014/, failedBefore + PARTITIONS);
  await asSuperuser(`DROP TRIGGER slow ON ${consumer.schema}.records`);
});

testSincePostgres(17, 'transactions that take longer than transaction_timeout are tried again', async () => {
  await asSuperuser(`ALTER ROLE ${ROLE} SET transaction_timeout = '500ms'`);
  await endConnections();
  const lock = await lockRecords();
  await produceToAll();
  await awaitFailures(/25P04/, 2 * PARTITIONS);
  await lock.release();
  await awaitAll();
  await asSuperuser(`ALTER ROLE ${ROLE} RESET transaction_timeout`);
  await endConnections();
});

const awaitWriteThatWaits = () =>
  until('a write that waits for a lock', async () => {
    const waiting = `SELECT FROM pg_stat_activity WHERE usename = '${ROLE}' AND wait_event_type = 'Lock'`;
    return (await asSuperuser(waiting)).length > 0 ? true : undefined;
  });

test('connections that an administrator ends under load, at any moment and in a write, are opened again', async () => {
  const load = await startSteadyLoad(topic, { partitions: PARTITIONS });
  for (let round = 0; round < 5; round += 1) {
    await load.more(1_000);
    await endConnections();
    const lock = await lockRecords();
    await awaitWriteThatWaits();
    await endConnections();
    await lock.release();
  }
  produced = await load.stop();
  expect(failures(/57P01|Connection terminated/)).toBeGreaterThan(0);
});

async function restartsUnderLoad(mode: 'fast' | 'immediate'): Promise<void> {
  const load = await startSteadyLoad(topic, { partitions: PARTITIONS });
  await load.more(1_000);
  await postgres.stop(mode);
  await load.more(1_000);
  await awaitState('paused');
  await postgres.start();
  await load.more(1_000);
  produced = await load.stop();
}

test('a restart (immediate) under load leaves every record once', () => restartsUnderLoad('immediate'));

longTest('a restart (fast) under load leaves every record once', () => restartsUnderLoad('fast'));

const disk = await mountTinyDisk();
if (disk) {
  test('a full disk is waited for until there is room again', async () => {
    await asSuperuser(`CREATE TABLESPACE tiny LOCATION '${disk.path}'`);
    await asSuperuser(`ALTER TABLE ${consumer.schema}.records SET TABLESPACE tiny`);
    await disk.fill();
    await produceToAll(randomBytes(15_000).toString('base64'));
    await awaitFailures(/53100/, PARTITIONS);
    await awaitState('paused');
    await disk.free();
  });
}
