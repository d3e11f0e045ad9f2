import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import pg from 'pg';
import type { LocalPostgres } from '../../../dev/stack/local-postgres.ts';
import { query } from '../stack/database.ts';
import { createTopic, produce } from '../stack/kafka-client.ts';
import { longTest, someCases } from '../stack/long-test.ts';
import { startPrivatePostgres } from '../stack/private-servers.ts';
import { randomName } from '../stack/random-name.ts';
import { type StartedConsumer, startConsumer } from '../stack/start-consumer.ts';
import { awaitEachOnce } from '../stack/stored-rows.ts';
import { until } from '../stack/until.ts';

const STALL_MS = 6_000;
/** Checks are 2 s apart, and their verdict may be as old as one of them may take. */
const MARGIN_MS = 10_000;
/** Between two looks at the health, which the consumer asks about every 2 s. */
const LOOK_MS = 100;
const RECORDS = 20;
const ORDERS = Array.from({ length: RECORDS }, (_, id) => ({ value: `${id}` }));
const MAX_CONNECTIONS = 12;

/** What the server calls the sessions of the check, and those that write. */
const CHECK = 'stream-consumer';
const WRITERS = 'stream-consumer %';

interface Health {
  readonly status: string;
  readonly components: Readonly<Record<'consumer' | 'db', { status: string; details?: Record<string, unknown> }>>;
}

async function health(consumer: StartedConsumer): Promise<Health> {
  return (await (await consumer.get(consumer.endpoint.healthPath)).json()) as Health;
}

/** A PostgreSQL with few connections, and a consumer that logs in as a role that none are reserved for. */
async function ownServer() {
  const postgres = await startPrivatePostgres();
  const url = postgres.urlWithPassword;
  await query(`ALTER SYSTEM SET max_connections = ${MAX_CONNECTIONS}`, [], url);
  await postgres.stop();
  await postgres.start();
  const role = randomName('role');
  await query(`CREATE ROLE ${role} LOGIN PASSWORD 'p'; GRANT CREATE ON DATABASE postgres TO ${role}`, [], url);
  const own = new URL(url);
  own.username = role;
  own.password = 'p';
  const topic = await createTopic({ partitions: 2 });
  const settings = { consumer: { stallTimeout: `${STALL_MS}ms` } };
  const consumer = await startConsumer({ topics: [topic], databaseUrl: own.href, settings });
  await consumer.waitForHealth();
  return { postgres, url, ownUrl: own.href, role, topic, consumer };
}

/** Ends sessions of the consumer. */
const endSessions = (url: string, names: readonly string[]) =>
  query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE ANY ($1)', [names], url);

/** Takes connections until there are no more. */
async function takeAll(url: string): Promise<pg.Client[]> {
  const taken: pg.Client[] = [];
  for (;;) {
    const client = new pg.Client({ connectionString: url, application_name: 'other' });
    try {
      await client.connect();
      taken.push(client);
    } catch {
      return taken;
    }
  }
}

/** Ends sessions of the consumer, and takes all connections before it has new ones. */
const takeFromConsumer = ({ urlWithPassword: url }: LocalPostgres, ownUrl: string, names: readonly string[]) =>
  until('the consumer to have none of these sessions', async () => {
    await endSessions(url, names);
    const taken = await takeAll(ownUrl);
    const left = await query('SELECT FROM pg_stat_activity WHERE application_name LIKE ANY ($1)', [names], url);
    if (left.length === 0) {
      return taken;
    }
    await Promise.all(taken.map((client) => client.end()));
    return undefined;
  });

/** Waits for a health that is not UP, and looks whether it stays so for another stall time-out. */
async function neverUpAgain(consumer: StartedConsumer): Promise<Health> {
  const down = await until('the health not to be UP', async () => {
    const found = await health(consumer);
    return found.status === 'UP' ? undefined : found;
  });
  const end = performance.now() + STALL_MS;
  while (performance.now() < end) {
    expect((await health(consumer)).status).not.toBe('UP');
    await delay(LOOK_MS);
  }
  return down;
}

test.each(
  someCases<[string, readonly string[], string]>(1, [
    ['and the check has none', [WRITERS, CHECK], 'DOWN'],
    ['and the check has one', [WRITERS], 'UP'],
  ]),
)('max_connections are used up %s: the health is not UP, and nothing is lost', async (_, names, db) => {
  const { postgres, ownUrl, topic, consumer } = await ownServer();
  const taken = await takeFromConsumer(postgres, ownUrl, names);
  await produce(topic, ORDERS);
  const since = performance.now();
  const { components } = await neverUpAgain(consumer);
  expect(performance.now() - since).toBeLessThan(2 * STALL_MS + MARGIN_MS);
  expect(components.db.status).toBe(db);
  expect(consumer.logs.all.filter((line) => line.includes('53300')).length).toBeGreaterThan(0);
  await Promise.all(taken.map((client) => client.end()));
  await awaitEachOnce({ schema: consumer.schema, topic, records: RECORDS, url: postgres.urlWithPassword });
  await consumer.waitForHealth();
});

longTest(
  "the role's connections are used up: the health is not UP while the check has the only one, and nothing is lost",
  async () => {
    const { url, role, topic, consumer } = await ownServer();
    await query(`ALTER ROLE ${role} CONNECTION LIMIT 1`, [], url);
    await endSessions(url, [WRITERS]);
    await produce(topic, ORDERS);
    const { components } = await neverUpAgain(consumer);
    expect(components).toMatchObject({
      db: { status: 'UP' },
      consumer: { status: 'DOWN', details: { lastError: expect.stringContaining('53300') } },
    });
    await query(`ALTER ROLE ${role} CONNECTION LIMIT -1`, [], url);
    await awaitEachOnce({ schema: consumer.schema, topic, records: RECORDS, url });
    await consumer.waitForHealth();
  },
);
