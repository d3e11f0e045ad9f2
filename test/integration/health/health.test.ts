import { expect, test } from '@jest/globals';
import { MIGRATION_LOCK } from '../../../app/store/tables/migrations.ts';
import { METRICS } from '../../../contract/metrics.ts';
import { query } from '../stack/database.ts';
import { createTopic, produce } from '../stack/kafka-client.ts';
import { freezePostgres, startPrivatePostgres } from '../stack/private-servers.ts';
import { type StartedConsumer, startConsumer } from '../stack/start-consumer.ts';
import { awaitEachOnce } from '../stack/stored-rows.ts';
import { until } from '../stack/until.ts';

/** Longest that an answer may take, as the promise has it. */
const ANSWERED_WITHIN_MS = 1_000;

interface Answer {
  readonly code: number;
  readonly tookMs: number;
  readonly body: { readonly status: string; readonly components?: Readonly<Record<string, { status: string }>> };
}

async function ask(consumer: StartedConsumer, path: string): Promise<Answer> {
  const began = performance.now();
  const answer = await consumer.get(path);
  const body = (await answer.json()) as Answer['body'];
  return { code: answer.status, tookMs: performance.now() - began, body };
}

const lagOf = async (consumer: StartedConsumer): Promise<number> => {
  const scrape = await (await consumer.get(consumer.endpoint.prometheusPath)).text();
  const series = scrape.split('\n').filter((line) => line.startsWith(`${METRICS.recordsLag.name}{`));
  return series.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
};

/** Status codes of the components, as a scrape has them. */
const scrapedStatuses = async (consumer: StartedConsumer): Promise<Readonly<Record<string, number>>> => {
  const scrape = await (await consumer.get(consumer.endpoint.prometheusPath)).text();
  const found = [...scrape.matchAll(/^health\{.*component="(\w+)".*\} (\d)$/gm)];
  return Object.fromEntries(found.map(([, component = '', code]) => [component, Number(code)]));
};

test('a frozen PostgreSQL: health answers within 1 s all the time, goes DOWN and comes back, the lag is the true one', async () => {
  const postgres = await startPrivatePostgres();
  const topic = await createTopic({ partitions: 2 });
  await produce(topic, [{ value: '{}' }]);
  const settings = { consumer: { stallTimeout: '10m' } };
  const consumer = await startConsumer({ topics: [topic], databaseUrl: postgres.urlWithPassword, settings });
  const { healthPath, livenessPath } = consumer.endpoint;
  await consumer.waitForHealth();
  await awaitEachOnce({ schema: consumer.schema, topic, records: 1, url: postgres.urlWithPassword });
  const { components = {} } = (await ask(consumer, healthPath)).body;
  const allUp = Object.fromEntries(Object.keys(components).map((name) => [name, 3]));
  expect(await scrapedStatuses(consumer)).toEqual(allUp);

  const thaw = await freezePostgres(postgres);
  const answers: Answer[] = [];
  const awaitRoot = (status: string) =>
    until(`the root to be ${status}`, async () => {
      const answer = await ask(consumer, healthPath);
      answers.push(answer);
      return answer.body.status === status ? answer : undefined;
    });
  await produce(
    topic,
    Array.from({ length: 500 }, (_, id) => ({ partition: id % 2, value: `{"id":${id}}` })),
  );
  const down = await awaitRoot('DOWN');
  expect(down).toMatchObject({ code: 503, body: { components: { db: { status: 'DOWN' } } } });
  expect(await scrapedStatuses(consumer)).toEqual({ ...allUp, db: 1 });
  expect((await ask(consumer, livenessPath)).code).toBe(200);
  await until('the lag of the records that wait', async () => ((await lagOf(consumer)) === 500 ? true : undefined));

  thaw();
  await awaitRoot('UP');
  await awaitEachOnce({ schema: consumer.schema, topic, records: 501, url: postgres.urlWithPassword });
  // None waits for PostgreSQL; a busy machine may hold up a few.
  const late = answers.filter(({ tookMs }) => tookMs >= ANSWERED_WITHIN_MS);
  expect(late.length).toBeLessThanOrEqual(answers.length / 20);
});

test('before the tables are there, neither the whole nor readiness is UP', async () => {
  const topic = await createTopic();
  const postgres = await startPrivatePostgres();
  // A migration waits for this lock.
  const lock = 'SELECT pg_advisory_lock($1), pg_sleep(600)';
  const holder = query(lock, [MIGRATION_LOCK], postgres.urlWithPassword).catch((error: unknown) => error);
  await until('the lock to be held', async () => {
    const held = await query(`SELECT 1 FROM pg_locks WHERE locktype = 'advisory'`, [], postgres.urlWithPassword);
    return held[0];
  });
  const consumer = await startConsumer({ topics: [topic], databaseUrl: postgres.urlWithPassword });
  const { healthPath, readinessPath, livenessPath } = consumer.endpoint;
  await until('the database to be reached', async () =>
    (await ask(consumer, `${healthPath}/db`)).code === 200 ? true : undefined,
  );
  const root = await ask(consumer, healthPath);
  expect(root).toMatchObject({ code: 503, body: { status: 'OUT_OF_SERVICE' } });
  expect((await ask(consumer, readinessPath)).code).toBe(503);
  expect((await ask(consumer, livenessPath)).code).toBe(200);
  await query(
    'SELECT pg_terminate_backend(pid) FROM pg_locks WHERE granted AND locktype = $1',
    ['advisory'],
    postgres.urlWithPassword,
  );
  expect(await holder).toMatchObject({ code: '57P01' });
  await consumer.waitForHealth();
  expect(await query(`SELECT * FROM ${consumer.schema}.records`, [], postgres.urlWithPassword)).toEqual([]);
});

test('SIGTERM takes readiness out of service while what is queued is being written; liveness stays UP', async () => {
  const postgres = await startPrivatePostgres();
  const topic = await createTopic();
  const consumer = await startConsumer({ topics: [topic], databaseUrl: postgres.urlWithPassword });
  const { healthPath, livenessPath, readinessPath } = consumer.endpoint;
  await consumer.waitForHealth();
  const thaw = await freezePostgres(postgres);
  await produce(topic, [{ value: '{}' }]);
  consumer.kill('SIGTERM');
  await consumer.logs.waitFor(/"draining"/);
  expect(await ask(consumer, readinessPath)).toMatchObject({ code: 503 });
  expect((await ask(consumer, `${healthPath}/readinessState`)).body.status).toBe('OUT_OF_SERVICE');
  expect(await ask(consumer, livenessPath)).toMatchObject({ code: 200, body: { status: 'UP' } });
  thaw();
  expect(await consumer.exited).toMatchObject({ code: 0 });
});

test('the components db, kafka and consumer tell an on-call person what to do', async () => {
  const topic = await createTopic({ partitions: 2 });
  await produce(topic, [{ value: '{}' }]);
  const consumer = await startConsumer({ topics: [topic] });
  await consumer.waitForHealth();
  await awaitEachOnce({ schema: consumer.schema, topic, records: 1 });
  const { components } = (await ask(consumer, consumer.endpoint.healthPath)).body;
  expect(components).toMatchObject({
    db: { status: 'UP', details: { database: 'PostgreSQL', validationQuery: 'isValid()' } },
    kafka: { status: 'UP', details: { clusterId: expect.any(String), brokers: 1 } },
    consumer: {
      status: 'UP',
      details: {
        state: 'running',
        groupId: consumer.groupId,
        assignedPartitions: { [topic]: [0, 1] },
        lag: expect.any(Number),
        lastProgressAt: expect.any(String),
      },
    },
  });
});
