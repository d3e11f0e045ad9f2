import { describe, expect, test } from '@jest/globals';
import { type CommitMessage, type CutMoment, startCommitProxy } from '../stack/commit-proxy.ts';
import { query, withDatabase } from '../stack/database.ts';
import { createTopic, produce } from '../stack/kafka-client.ts';
import { longTest } from '../stack/long-test.ts';
import { type PoolMode, startPgBouncer } from '../stack/pgbouncer.ts';
import { startPrivatePostgres } from '../stack/private-servers.ts';
import { type StartedConsumer, startConsumer } from '../stack/start-consumer.ts';
import { awaitEachOnce } from '../stack/stored-rows.ts';
import { awaitRoot } from '../stack/told-health.ts';
import { until } from '../stack/until.ts';

/** Fewer sessions than the consumer has connections, where PgBouncer lends them for a transaction. */
const SESSIONS: Readonly<Record<PoolMode, number>> = { session: 20, transaction: 2 };

const behind = (mode: PoolMode, target?: string) =>
  startPgBouncer({
    mode,
    settings: { default_pool_size: SESSIONS[mode], server_login_retry: 1, query_wait_timeout: 5 },
    ...(target === undefined ? {} : { target }),
  });

const GOOD = Array.from({ length: 21 }, (_, id) => ({ value: `{"id":${id}}` }));
const BATCHES: Readonly<Record<CommitMessage, typeof GOOD>> = {
  rows: GOOD,
  COMMIT: [...GOOD.slice(1), { value: '{poison' }],
};
const MOMENTS: readonly CutMoment[] = ['before', 'while', 'after'];

const failures = ({ logs }: StartedConsumer) => logs.all.filter((line) => line.includes('the write failed'));

/** The sides of PgBouncer on which a connection may be cut, with the URL to write to and what cuts. */
const SIDES = {
  'between the consumer and PgBouncer': async (mode: PoolMode) => {
    const proxy = await startCommitProxy((await behind(mode)).url);
    return { proxy, url: proxy.url };
  },
  'between PgBouncer and PostgreSQL': async (mode: PoolMode) => {
    const proxy = await startCommitProxy();
    return { proxy, url: (await behind(mode, proxy.url)).url };
  },
} as const;

/** In session mode PgBouncer is a connection that can be cut; what lends sessions to many can do more wrong. */
const CUT_IN_EACH_RUN: Readonly<Record<PoolMode, keyof typeof SIDES>> = {
  session: 'between the consumer and PgBouncer',
  transaction: 'between PgBouncer and PostgreSQL',
};

describe.each(['session', 'transaction'] as const)('PgBouncer in %s mode', (mode) => {
  const testOfTransactions = mode === 'transaction' ? test : longTest;

  for (const side of Object.keys(SIDES) as (keyof typeof SIDES)[]) {
    const register = CUT_IN_EACH_RUN[mode] === side ? test : longTest;
    register(`and a connection that is cut in COMMIT ${side}: no record is lost or doubled`, async () => {
      const { proxy, url } = await SIDES[side](mode);
      const topic = await createTopic();
      const settings = { logging: { level: 'debug' } };
      const consumer = await startConsumer({ topics: [topic], databaseUrl: url, settings });
      await consumer.waitForHealth();
      const before = failures(consumer).length;
      // A transaction that is being rolled back may still hold the offset for one more attempt.
      const cuts = () =>
        failures(consumer)
          .slice(before)
          .filter((line) => !line.includes('55P03'));
      let [produced, poison] = [0, 0];
      for (const by of ['rows', 'COMMIT'] as const) {
        for (const moment of MOMENTS) {
          const cut = proxy.cutNextCommit(moment, by);
          await produce(topic, BATCHES[by]);
          await cut;
          produced += GOOD.length;
          poison += by === 'COMMIT' ? 1 : 0;
          await awaitEachOnce({ schema: consumer.schema, topic, records: produced });
        }
      }
      await until('a line for each cut', async () => (cuts().length >= 2 * MOMENTS.length ? true : undefined));
      expect(cuts()).toHaveLength(2 * MOMENTS.length);
      const letters = await query(`SELECT count(*)::int AS count FROM ${consumer.schema}.dead_letters`);
      expect(letters).toEqual([{ count: poison }]);
      await consumer.waitForHealth();
    });
  }

  testOfTransactions('and many partitions are written, each record once', async () => {
    const topic = await createTopic({ partitions: 12 });
    const { url } = await behind(mode);
    const values = Array.from({ length: 6_000 }, (_, nth) => ({ value: nth % 10 === 0 ? '{poison' : '{}' }));
    await produce(topic, values);
    const consumers = [await startConsumer({ topics: [topic], databaseUrl: url })];
    const { schema, groupId } = consumers[0] as StartedConsumer;
    consumers.push(await startConsumer({ topics: [topic], databaseUrl: url, schema, groupId }));
    // In transaction mode a session has the name of who used it last, which later is the check of the health.
    const sessions = await until('sessions of the writers', async () => {
      const found = await query<{ name: string }>(
        'SELECT DISTINCT application_name AS name FROM pg_stat_activity WHERE application_name LIKE $1',
        [`%${groupId}`],
      );
      return found.length > 0 ? found : undefined;
    });
    await awaitEachOnce({ schema, topic, records: 6_000 });
    expect(sessions).toEqual([{ name: `stream-consumer ${groupId}` }]);
  });

  testOfTransactions('and a locked table: the time-outs hold, and are not left behind in a session', async () => {
    const topic = await createTopic();
    const { url } = await behind(mode);
    const settings = { database: { statementTimeout: '1s' } };
    const consumer = await startConsumer({ topics: [topic], databaseUrl: url, settings });
    await consumer.waitForHealth();
    await withDatabase(async ({ client }) => {
      await client.query(`BEGIN; LOCK TABLE ${consumer.schema}.records IN ACCESS EXCLUSIVE MODE`);
      await produce(topic, GOOD);
      await awaitRoot(consumer, 'the lock to be given up', ({ components }) =>
        /SQLSTATE (55P03|57014)/.test(String(components['consumer']?.details?.['lastError'])),
      );
      await client.query('ROLLBACK');
    });
    await awaitEachOnce({ schema: consumer.schema, topic, records: GOOD.length });
    for (const name of ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout']) {
      expect(await query(`SHOW ${name}`, [], url)).toEqual(await query(`SHOW ${name}`));
    }
  });

  testOfTransactions('and PostgreSQL away for a while: records wait, and are written when it is back', async () => {
    const postgres = await startPrivatePostgres();
    const { url } = await behind(mode, postgres.urlWithPassword);
    const topic = await createTopic();
    const consumer = await startConsumer({ topics: [topic], databaseUrl: url });
    await consumer.waitForHealth();
    await postgres.stop('immediate');
    await produce(topic, GOOD);
    const words = /"reason":"SQLSTATE 08P01: (server login has been failing|query_wait_timeout).*PostgreSQL is away/;
    await until("PgBouncer's own words", async () => consumer.logs.all.find((line) => words.test(line)));
    await postgres.start();
    await awaitEachOnce({ schema: consumer.schema, topic, records: GOOD.length, url: postgres.urlWithPassword });
  });
});

longTest(
  'PgBouncer in transaction mode and a consumer that is frozen in the middle of a COPY: the next owner ends its session',
  async () => {
    const { url } = await startPgBouncer({ mode: 'transaction', settings: { default_pool_size: 6 } });
    const proxy = await startCommitProxy(url);
    const topic = await createTopic();
    const kafka = { sessionTimeout: '6s' };
    const frozen = await startConsumer({ topics: [topic], databaseUrl: proxy.url, settings: { kafka } });
    const { schema, groupId } = frozen;
    await frozen.waitForHealth();
    const inTheMiddle = proxy.holdNext('rows');
    await produce(topic, GOOD);
    const copy = await inTheMiddle;
    frozen.kill('SIGSTOP');
    const other = await startConsumer({ topics: [topic], databaseUrl: url, schema, groupId, settings: { kafka } });
    await other.logs.waitFor(/ended the session of a frozen writer/);
    await awaitEachOnce({ schema, topic, records: GOOD.length });
    copy();
    frozen.kill('SIGCONT');
    await produce(topic, GOOD);
    await awaitEachOnce({ schema, topic, records: 2 * GOOD.length });
  },
);

longTest('what PgBouncer does not take in database.url stops the consumer, with what to set', async () => {
  const { url } = await behind('transaction');
  const consumer = await startConsumer({
    topics: [await createTopic()],
    databaseUrl: `${url}?options=-c%20work_mem%3D8MB`,
  });
  expect(await consumer.exited).toMatchObject({ code: 1 });
  const line = JSON.parse(consumer.logs.all.find((entry) => entry.includes('"fatal"')) ?? '{}');
  expect(line).toMatchObject({
    code: 'DATABASE_REFUSED',
    msg: expect.stringMatching(/"options" out of database\.url.*ignore_startup_parameters/),
  });
});
