import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { query } from '../stack/database.ts';
import { createTopic, produce } from '../stack/kafka-client.ts';
import { randomName } from '../stack/random-name.ts';
import { databaseEnvironment, runCommand } from '../stack/run-command.ts';
import { sharedDatabaseUrl } from '../stack/shared-stack.ts';
import { startConsumer } from '../stack/start-consumer.ts';
import { awaitEachOnce } from '../stack/stored-rows.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const DOCUMENT = join(ROOT, 'docs', 'database-roles.md');

const schema = randomName('schema');
const owner = { user: `${schema}_owner`, password: 'owner-password' };
const writer = { user: `${schema}_writer`, password: 'writer-password' };

/** The document's SQL under this first line, word for word but for the names, which are this test's own. */
function documentedSql(heading: string): string {
  const blocks = [...readFileSync(DOCUMENT, 'utf8').matchAll(/```sql\n(-- [^\n]*)\n([^`]*)```/g)];
  const [, , sql] = blocks.find(([, first]) => first === `-- ${heading}`) ?? [];
  if (sql === undefined) {
    throw new Error(`${DOCUMENT} has no SQL that begins with "-- ${heading}"`);
  }
  return sql.replaceAll('stream_consumer', schema);
}

function urlOf({ user, password }: typeof owner): string {
  const url = new URL(sharedDatabaseUrl());
  url.username = user;
  url.password = password;
  return String(url);
}

/** `stream-consumer migrate` as a process of its own. */
const migrate = (url: string) => runCommand(['migrate'], { env: databaseEnvironment(url, schema) });

async function startWriter() {
  const topic = await createTopic();
  await produce(topic, [{ value: '1' }, { value: '{"poison": ' }, { value: '3' }]);
  const settings = { database: { migrate: false } };
  return { topic, consumer: await startConsumer({ topics: [topic], schema, databaseUrl: urlOf(writer), settings }) };
}

const asWriter = (sql: string) => query(sql, [], urlOf(writer));

beforeAll(() => query(documentedSql('before the first migration')));

afterAll(async () => {
  await query(`DROP SCHEMA ${schema} CASCADE`);
  await query(`DROP OWNED BY ${owner.user}, ${writer.user}`);
  await query(`DROP ROLE ${owner.user}, ${writer.user}`);
});

test('without tables a consumer that may not make them ends with code 1, and says what is missing and who makes it', async () => {
  const { consumer } = await startWriter();
  expect((await consumer.exited).code).toBe(1);
  const log = (await consumer.logs.waitFor(/DATABASE_NOT_MIGRATED/)).replaceAll('\\"', '"');
  expect(log).toContain('"code":"DATABASE_NOT_MIGRATED"');
  expect(log).toMatch(/"help":"https:[^"]+docs\/messages\.md#database_not_migrated"/);
  expect(log).toContain(
    'has none of our tables; missing: 1 (create records, offsets and dead_letters), 2 (create gaps), ' +
      '3 (add topic_id and leader_epoch to offsets), 4 (add target and target_column to dead_letters), 5 (create filled_tables), 6 (create discarded_letters), 7 (create templates)',
  );
  expect(log).toContain('stream-consumer migrate');
});

test('the writer cannot migrate', async () => {
  expect(await migrate(urlOf(writer))).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^stream-consumer migrate: PostgreSQL refused: .*permission denied for schema/),
  });
});

test('the owner migrates, and a second time finds nothing to do', async () => {
  expect(await migrate(urlOf(owner))).toEqual({
    code: 0,
    stderr: '',
    stdout: `the schema "${schema}" was brought to version 7\n`,
  });
  expect(await migrate(urlOf(owner))).toMatchObject({ code: 0, stdout: `the schema "${schema}" is up to date\n` });
});

test('the writer consumes with what is left to it after the rest was taken away', async () => {
  await query(documentedSql('after the first migration'));
  const { topic, consumer } = await startWriter();
  await awaitEachOnce({ schema, topic, records: 3 });
  consumer.kill('SIGTERM');
  await consumer.exited;
});

test('the writer accepts a topic, and the owner renames the rows of one that begins again', async () => {
  const { topic, consumer } = await startWriter();
  await awaitEachOnce({ schema, topic, records: 3 });
  consumer.kill('SIGTERM');
  await consumer.exited;
  const offsets = (url: string, ...args: readonly string[]) => {
    const env = { ...databaseEnvironment(url, schema), KAFKA_GROUP_ID: consumer.groupId };
    return runCommand(['offsets', ...args], { env });
  };
  expect(await offsets(urlOf(writer), 'accept-topic', topic)).toMatchObject({ code: 0 });
  expect(await offsets(urlOf(writer), 'begin-again', topic, '--rename-rows')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('permission denied for table'),
  });
  await awaitEachOnce({ schema, topic, records: 3 });
  expect(await offsets(urlOf(owner), 'begin-again', topic, '--rename-rows')).toMatchObject({ code: 0 });
  expect(await query(`SELECT FROM ${schema}.records WHERE topic = $1`, [topic])).toEqual([]);
});

test('the writer discards a letter, and its role is stored', async () => {
  const { topic, consumer } = await startWriter();
  await awaitEachOnce({ schema, topic, records: 3 });
  consumer.kill('SIGTERM');
  await consumer.exited;
  const env = databaseEnvironment(urlOf(writer), schema);
  const discard = ['dead-letters', 'discard', `${topic}/0/1`, '--because', 'a test'];
  expect(await runCommand(discard, { env })).toMatchObject({ code: 0 });
  expect(await query(`SELECT discarded_by FROM ${schema}.discarded_letters`)).toEqual([{ discarded_by: writer.user }]);
});

test('the writer deletes letters that expire, and without the right it ends at its start with the GRANT', async () => {
  const [topic, groupId] = [await createTopic(), randomName('group')];
  const letter = `INSERT INTO ${schema}.dead_letters
    (group_id, topic, partition, "offset", headers, reason, error, failed_at)
    VALUES ('${groupId}', '${topic}', 0, $1, '[]', 'no_value', 'e', now() - $2::interval)`;
  await query(letter, [7, '2 days']);
  await query(letter, [8, '23 hours']);
  const settings = { database: { migrate: false }, deadLetters: { keep: '1d' } };
  const start = () => startConsumer({ topics: [topic], groupId, schema, databaseUrl: urlOf(writer), settings });
  await query(`REVOKE DELETE ON ${schema}.dead_letters FROM ${writer.user}`);
  const refused = await start();
  expect((await refused.exited).code).toBe(1);
  const grant = `GRANT DELETE ON ${schema}.dead_letters TO ${writer.user}`;
  expect((await refused.logs.waitFor(/DATABASE_REFUSED/)).replaceAll('\\"', '"')).toContain(grant);
  expect(await query(`SELECT FROM ${schema}.dead_letters WHERE topic = $1`, [topic])).toHaveLength(2);
  await query(grant);
  const consumer = await start();
  expect(JSON.parse(await consumer.logs.waitFor(/older than deadLetters\.keep/))).toMatchObject({ topic, letters: 1 });
  const left = await query(`SELECT "offset"::int AS at FROM ${schema}.dead_letters WHERE topic = $1`, [topic]);
  expect(left).toEqual([{ at: 8 }]);
  const scrape = await (await consumer.get('/actuator/prometheus')).text();
  expect(scrape).toMatch(new RegExp(`^consumer_dead_letters_expired_total\\{[^}]*topic="${topic}"[^}]*\\} 1$`, 'm'));
});

test.each([
  ['records', 'UPDATE', 'UPDATE ? SET value = NULL'],
  ['records', 'DELETE', 'DELETE FROM ?'],
  ['records', 'TRUNCATE', 'TRUNCATE ?'],
  ['records', 'DROP', 'DROP TABLE ?'],
  ['offsets', 'DELETE', 'DELETE FROM ?'],
  ['filled_tables', 'DELETE', 'DELETE FROM ?'],
  ['discarded_letters', 'DELETE', 'DELETE FROM ?'],
  ['schema_migrations', 'INSERT', "INSERT INTO ? (version, name) VALUES (99, 'x')"],
  ['mine', 'CREATE', 'CREATE TABLE ? (a int)'],
])('the writer cannot touch %s with %s', async (table, _, sql) => {
  await expect(asWriter(sql.replace('?', `${schema}.${table}`))).rejects.toThrow(/permission denied|must be owner/);
});
