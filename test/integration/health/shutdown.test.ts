import { expect, test } from '@jest/globals';
import { query } from '../stack/database.ts';
import { createTopic, produce } from '../stack/kafka-client.ts';
import { longTest, someCases } from '../stack/long-test.ts';
import { freezePostgres, startPrivatePostgres } from '../stack/private-servers.ts';
import { sharedDatabaseUrl } from '../stack/shared-stack.ts';
import { startConsumer } from '../stack/start-consumer.ts';
import { awaitEachOnce } from '../stack/stored-rows.ts';
import { until } from '../stack/until.ts';

const orders = (count: number) =>
  Array.from({ length: count }, (_, id) => ({ value: `{"id":${id},"pad":"${'x'.repeat(100)}"}` }));

/** Of 5,000 records: 30 transactions, of which the first one was seen when the signal comes. */
const BATCHES = 3;

test.each(someCases(1, ['SIGTERM', 'SIGINT'] as const))(
  '%s under load: drained, exit code 0, nothing lost or doubled',
  async (signal) => {
    const topic = await createTopic();
    for (let batch = 0; batch < BATCHES; batch += 1) {
      await produce(topic, orders(5_000));
    }
    const settings = { consumer: { maxBatchRecords: 500 } };
    const first = await startConsumer({ topics: [topic], settings });
    const { schema, groupId } = first;
    await until('the first rows', async () => {
      const [row] = await query<{ n: number }>(`SELECT count(*)::int AS n FROM ${schema}.records`).catch(() => []);
      return row?.n ? true : undefined;
    });
    first.kill(signal);
    expect(await first.exited).toMatchObject({ code: 0 });
    const [stored] = await query<{ rows: number; next: number }>(
      `SELECT (SELECT count(*)::int FROM ${schema}.records) AS rows, next_offset::int AS next FROM ${schema}.offsets`,
    );
    expect(stored?.rows).toBe(stored?.next);
    await startConsumer({ topics: [topic], schema, groupId, settings });
    await awaitEachOnce({ schema, topic, records: BATCHES * 5_000 });
  },
);

test('the log tells the order of the shutdown, in JSON lines', async () => {
  const topic = await createTopic();
  const consumer = await startConsumer({ topics: [topic] });
  await consumer.waitForHealth();
  consumer.kill('SIGTERM');
  await consumer.exited;
  const lines = consumer.logs.all.map((line) => JSON.parse(line) as { level: string; msg: string; reason?: string });
  const ending = lines.filter(({ msg }) => msg === 'draining' || msg === 'stopped');
  expect(ending).toEqual([
    expect.objectContaining({ level: 'info', msg: 'draining', reason: 'SIGTERM' }),
    expect.objectContaining({ level: 'info', msg: 'stopped', exitCode: 0 }),
  ]);
});

test('SIGTERM at the start logs no outage: the consumer closed the connections itself', async () => {
  const topic = await createTopic();
  for (let times = 0; times < 3; times += 1) {
    const consumer = await startConsumer({ topics: [topic] });
    await consumer.logs.waitFor(/"listening"/);
    consumer.kill('SIGTERM');
    expect(await consumer.exited).toMatchObject({ code: 0 });
    expect(consumer.logs.all.filter((line) => / is away|waiting for/.test(line))).toEqual([]);
  }
});

test('SIGTERM in an outage of PostgreSQL ends at once with exit code 0; what was not written is still there', async () => {
  const postgres = await startPrivatePostgres();
  const topic = await createTopic();
  const databaseUrl = postgres.urlWithPassword;
  const settings = { logging: { level: 'debug' } };
  const first = await startConsumer({ topics: [topic], databaseUrl, settings });
  const { schema, groupId } = first;
  await first.waitForHealth();
  await postgres.stop('immediate');
  await produce(topic, orders(10));
  await first.logs.waitFor(/the write failed/);
  first.kill('SIGTERM');
  expect(await first.exited).toMatchObject({ code: 0 });
  await postgres.start();
  await startConsumer({ topics: [topic], schema, groupId, databaseUrl });
  await awaitEachOnce({ schema, topic, records: 10, url: databaseUrl });
});

test('a frozen PostgreSQL cannot hold up the end beyond shutdown.timeout', async () => {
  const postgres = await startPrivatePostgres();
  const topic = await createTopic();
  const settings = { shutdown: { timeout: '4s' } };
  const consumer = await startConsumer({ topics: [topic], databaseUrl: postgres.urlWithPassword, settings });
  await consumer.waitForHealth();
  const thaw = await freezePostgres(postgres);
  await produce(topic, orders(10));
  await consumer.waitForHealth(503);
  const began = Date.now();
  consumer.kill('SIGTERM');
  expect(await consumer.exited).toMatchObject({ code: 0 });
  expect(Date.now() - began).toBeLessThan(10_000);
  const gaveUp = consumer.logs.all.find((line) => line.includes('gave up draining'));
  expect(gaveUp).toContain(`"positions":["${topic}/0@0"]`);
  thaw();
});

test('a port that is taken is said in one line, with exit code 1', async () => {
  const topic = await createTopic();
  const first = await startConsumer({ topics: [topic] });
  await first.waitForHealth();
  const second = await startConsumer({ topics: [topic], port: first.port });
  expect(await second.exited).toMatchObject({ code: 1 });
  const fatal = second.logs.all.filter((line) => line.includes('"fatal"'));
  expect(fatal).toHaveLength(1);
  expect(fatal[0]).toContain(String(first.port));
});

longTest('a wrong password ends the consumer with exit code 1 and is not printed', async () => {
  const topic = await createTopic();
  const url = new URL(sharedDatabaseUrl());
  url.password = '';
  const settings = { database: { password: 'not-the-secret' } };
  const consumer = await startConsumer({ topics: [topic], databaseUrl: url.href, settings });
  expect(await consumer.exited).toMatchObject({ code: 1 });
  const said = consumer.logs.all.join('\n');
  expect(said).toContain('DATABASE_REFUSED');
  expect(said).not.toContain('not-the-secret');
});
