import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { METRICS } from '../../../contract/metrics.ts';
import { mountSecret } from '../../app/configuration/mounted-secret.ts';
import { query } from '../stack/database.ts';
import { createTopic, produce } from '../stack/kafka-client.ts';
import { longTest } from '../stack/long-test.ts';
import { randomName } from '../stack/random-name.ts';
import { sharedDatabaseUrl } from '../stack/shared-stack.ts';
import { type StartedConsumer, startConsumer } from '../stack/start-consumer.ts';
import { awaitEachOnce } from '../stack/stored-rows.ts';
import { testRun } from '../stack/test-run.ts';
import { awaitRoot, values } from '../stack/told-health.ts';
import { until } from '../stack/until.ts';

const CANARY = 'hunter2';

const first = randomName('writer');
const second = randomName('writer');
const schema = randomName('schema');

let tree: string;
let topic: string;

beforeAll(async () => {
  await query(`CREATE ROLE ${first} LOGIN PASSWORD '${CANARY}-1'; CREATE ROLE ${second} LOGIN PASSWORD '${CANARY}-other';
    GRANT ${first} TO ${second}; CREATE SCHEMA ${schema} AUTHORIZATION ${first}`);
});
afterAll(() => query(`DROP SCHEMA ${schema} CASCADE; DROP ROLE ${second}; DROP ROLE ${first}`));

beforeEach(async () => {
  tree = mkdtempSync(join((await testRun()).path, 'config-tree-'));
  topic = await createTopic();
  await query(`ALTER ROLE ${first} PASSWORD '${CANARY}-1'`);
});

const mount = (secret: Readonly<Record<string, string>>) => mountSecret(tree, secret);

const login = (user: string, password: string) => ({
  'database.user': user,
  'database.password': `${CANARY}-${password}`,
});

function withoutLogin(): string {
  const url = new URL(sharedDatabaseUrl());
  url.username = '';
  url.password = '';
  return String(url);
}

const start = () => startConsumer({ topics: [topic], schema, databaseUrl: withoutLogin(), env: { CONFIG_TREE: tree } });

async function produceMore(ids: number): Promise<void> {
  await produce(
    topic,
    Array.from({ length: ids }, (_, id) => ({ value: `{"id":${id}}` })),
  );
}

/** Changes the password as PostgreSQL knows it and ends the sessions, so that the consumer has to log in again. */
async function rotate(password: string): Promise<void> {
  await query(`ALTER ROLE ${first} PASSWORD '${CANARY}-${password}'`);
  await endSessions();
}

const endSessions = () =>
  query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = ANY ($1)', [[first, second]]);

async function endWell(consumer: StartedConsumer): Promise<void> {
  consumer.kill('SIGTERM');
  expect(await consumer.exited).toMatchObject({ code: 0 });
  expect(consumer.logs.all.join('\n')).not.toContain(CANARY);
}

describe('a running consumer whose password is rotated', () => {
  test('waits for the file, which comes later, and goes on: each record is written once', async () => {
    mount(login(first, '1'));
    const consumer = await start();
    await produceMore(50);
    await awaitEachOnce({ schema, topic, records: 50 });

    await rotate('2');
    await produceMore(50);
    await consumer.logs.waitFor(/PostgreSQL is away.*SQLSTATE 28P01|SQLSTATE 28P01.*PostgreSQL is away/);
    await awaitRoot(
      consumer,
      'a health that is DOWN',
      ({ status, components }) =>
        status === 'DOWN' && JSON.stringify(components['db']).includes('password authentication failed'),
    );
    await until('four refused logins', async () => {
      const [refused = 0] = await values(consumer, METRICS.databaseConnectionFailures);
      return refused >= 4 ? refused : undefined;
    });

    mount(login(first, '2'));
    await awaitEachOnce({ schema, topic, records: 100 });
    await consumer.waitForHealth(200);
    expect(await consumer.logs.waitFor(/settings changed: new connections/)).toContain('["database.password"]');
    await endWell(consumer);
  });

  test('takes another user, too, at the next connection', async () => {
    mount(login(first, '1'));
    const consumer = await start();
    await produceMore(10);
    await awaitEachOnce({ schema, topic, records: 10 });
    mount(login(second, 'other'));
    await consumer.logs.waitFor(/settings changed: new connections/);
    await endSessions();
    await produceMore(10);
    await awaitEachOnce({ schema, topic, records: 20 });
    const roles = await query<{ usename: string }>(
      "SELECT DISTINCT usename FROM pg_stat_activity WHERE usename = ANY ($1) AND application_name LIKE 'stream-consumer%'",
      [[first, second]],
    );
    expect(roles).toEqual([{ usename: second }]);
    await endWell(consumer);
  });

  longTest('ends after three minutes when the newest is refused all the time, and nothing is lost', async () => {
    mount(login(first, '1'));
    const consumer = await start();
    await produceMore(50);
    await awaitEachOnce({ schema, topic, records: 50 });
    await rotate('2');
    await produceMore(50);
    await consumer.logs.waitFor(/SQLSTATE 28P01/);
    mount(login(first, 'wrong'));
    const beganAt = performance.now();
    expect(await consumer.exited).toMatchObject({ code: 1 });
    expect((performance.now() - beganAt) / 1_000).toBeGreaterThan(150);
    expect(await consumer.logs.waitFor(/"DATABASE_REFUSED"/)).toContain('check user, password');
    await awaitEachOnce({ schema, topic, records: 50 });
  });
});

longTest('a start is refused within 45 s, by what is in the files then', async () => {
  mount(login(first, 'wrong'));
  const beganAt = performance.now();
  const consumer = await start();
  expect(await consumer.exited).toMatchObject({ code: 1 });
  expect(performance.now() - beganAt).toBeLessThan(45_000);
  expect(await consumer.logs.waitFor(/"DATABASE_REFUSED"/)).toContain('28P01');
});
