import { expect, test } from '@jest/globals';
import { METRICS } from '../../../contract/metrics.ts';
import { query } from '../stack/database.ts';
import { produce } from '../stack/kafka-client.ts';
import { longTest } from '../stack/long-test.ts';
import { randomName } from '../stack/random-name.ts';
import { runCommand } from '../stack/run-command.ts';
import { runbookCommand } from '../stack/runbook.ts';
import { type StartedConsumer, startConsumer } from '../stack/start-consumer.ts';
import { root, values } from '../stack/told-health.ts';
import { createNamedTopic, recreateTopic } from '../stack/topic-changes.ts';
import { until } from '../stack/until.ts';

const TABLES = ['orders', 'items', 'bills'] as const;
type Table = (typeof TABLES)[number];

interface Waits {
  readonly topic: string;
  readonly code: string;
}

/** Three topics by one rule, each with records from 1 to 5, and a consumer of them; the tables are given. */
async function startReplica(...tables: readonly Table[]) {
  const source = randomName('source');
  const schema = randomName('replica');
  const run = (sql: string) => query(sql.replaceAll('?', schema));
  await run('CREATE SCHEMA ?');
  for (const table of tables) {
    await run(`CREATE TABLE ?.${table} (id int)`);
  }
  const topicOf = (table: Table) => `${source}.${schema}.${table}`;
  const write = (table: Table, from: number, to: number) =>
    produce(
      topicOf(table),
      Array.from({ length: to - from + 1 }, (_, nth) => ({ value: JSON.stringify({ id: from + nth }) })),
    );
  for (const table of TABLES) {
    await createNamedTopic(topicOf(table));
    await write(table, 1, 5);
  }
  const settings = { tables: [{ topic: `${source}.{schema}.{table}`, table: '{schema}.{table}' }] };
  const consumer = await startConsumer({ topics: [], settings });
  const ids = async (table: Table) => (await run(`SELECT id FROM ?.${table} ORDER BY id`)).map(({ id }) => id);
  /** Resolves when the table has each of these once. */
  const has = async (table: Table, to: number) => {
    const wanted = Array.from({ length: to }, (_, nth) => nth + 1);
    const found = await until(`${to} rows of ${table}`, async () => {
      const rows = await ids(table);
      return rows.length >= to ? rows : undefined;
    });
    expect(found).toEqual(wanted);
  };
  /** Resolves when these topics wait, with their codes. */
  const waits = (...wanted: readonly string[]) =>
    until(`${wanted.join(' and ') || 'no topic'} to wait`, async () => {
      const details = (await root(consumer)).components['consumer']?.details;
      const waiting = (details?.['waitingTopics'] ?? []) as readonly Waits[];
      const found = waiting.map(({ topic, code }) => `${topic.split('.').at(-1)} ${code}`);
      return JSON.stringify(found.sort()) === JSON.stringify([...wanted].sort()) ? true : undefined;
    });
  const letters = () => query(`SELECT topic, reason FROM ${consumer.schema}.dead_letters`);
  return { consumer, topicOf, write, has, waits, run, letters };
}

/** Lines of the log about a topic that waits, or goes on. */
const linesOf = (consumer: StartedConsumer, topic: string, words: string) =>
  consumer.logs.all.filter((line) => line.includes(`"${topic}"`) && line.includes(words));

test('a topic without a table waits while the others flow, and begins where it was once the table is there', async () => {
  const { consumer, topicOf, write, has, waits, run, letters } = await startReplica('orders', 'items');
  await consumer.waitForHealth();
  await Promise.all([has('orders', 5), has('items', 5), waits('bills TABLES_DO_NOT_FIT')]);
  expect(await values(consumer, METRICS.topicsWaiting, topicOf('bills'))).toEqual([1]);
  expect(await values(consumer, METRICS.recordsLag, topicOf('bills'))).toEqual([]);
  const shown = await runbookCommand('TopicWaits', { consumer });
  expect(shown).toContain(`"topic":"${topicOf('bills')}","code":"TABLES_DO_NOT_FIT"`);
  await write('bills', 6, 8);
  await write('orders', 6, 7);
  await has('orders', 7);
  expect(
    await query(`SELECT next_offset::int AS at FROM ${consumer.schema}.offsets WHERE topic = $1`, [topicOf('bills')]),
  ).toEqual([{ at: 0 }]);

  await run('CREATE TABLE ?.bills (id int)');
  await has('bills', 8);
  await waits();
  expect(await letters()).toEqual([]);
  expect(linesOf(consumer, topicOf('bills'), 'waits alone')).toEqual([expect.not.stringContaining('start again')]);
  expect(linesOf(consumer, topicOf('bills'), 'goes on where it was')).toHaveLength(1);
  expect(await values(consumer, METRICS.topicsWaiting)).toEqual([]);
});

longTest('a table that no longer fits makes its topic wait, and so does a topic that was created again', async () => {
  const { consumer, topicOf, write, has, waits, run, letters } = await startReplica(...TABLES);
  await Promise.all(TABLES.map((table) => has(table, 5)));
  await run('ALTER TABLE ?.orders RENAME id TO number; ALTER TABLE ?.orders ALTER number SET NOT NULL');
  await run('ALTER TABLE ?.orders ALTER number ADD GENERATED ALWAYS AS IDENTITY');
  await Promise.all([write('orders', 6, 8), write('items', 6, 8)]);
  await Promise.all([has('items', 8), waits('orders TABLES_DO_NOT_FIT')]);

  await recreateTopic(topicOf('bills'));
  await write('bills', 6, 12);
  await waits('bills TOPIC_RECREATED', 'orders TABLES_DO_NOT_FIT');
  await run('ALTER TABLE ?.orders ALTER number DROP IDENTITY; ALTER TABLE ?.orders RENAME number TO id');
  await has('orders', 8);
  const place = { env: { CONFIG_FILE: consumer.configFile } };
  const { code, stderr } = await runCommand(['offsets', 'begin-again', topicOf('bills'), '--keep-table-rows'], place);
  expect([code, stderr]).toEqual([0, expect.any(String)]);
  await has('bills', 12);
  await waits();
  expect(await letters()).toEqual([]);
  consumer.kill('SIGTERM');
  expect(await consumer.exited).toMatchObject({ code: 0 });
});
