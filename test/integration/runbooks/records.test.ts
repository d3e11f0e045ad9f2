import { beforeAll, expect, test } from '@jest/globals';
import type { LocalPostgres } from '../../../dev/stack/local-postgres.ts';
import { query } from '../stack/database.ts';
import { createTopic, kafkaClient, produce } from '../stack/kafka-client.ts';
import { startPrivatePostgres } from '../stack/private-servers.ts';
import { runbookCommand } from '../stack/runbook.ts';
import { type ConsumerUnderTest, startConsumer } from '../stack/start-consumer.ts';
import { awaitEachOnce } from '../stack/stored-rows.ts';
import { deleteTopic } from '../stack/topic-changes.ts';
import { until } from '../stack/until.ts';

/** The default of `database.schema`, which the runbooks' statements name. */
const SCHEMA = 'stream_consumer';

let postgres: LocalPostgres;
let databaseUrl: string;

beforeAll(async () => {
  postgres = await startPrivatePostgres();
  databaseUrl = postgres.urlWithPassword;
});

/** A consumer that has read the one record of a topic of its own. */
async function caughtUp(settings: ConsumerUnderTest['settings'] = {}) {
  const topic = await createTopic();
  await produce(topic, [{ value: '{}' }]);
  const consumer = await startConsumer({ topics: [topic], databaseUrl, schema: SCHEMA, settings });
  await awaitEachOnce({ schema: SCHEMA, topic, records: 1, url: databaseUrl });
  return { consumer, topic, reader: { consumer, databaseUrl } };
}

test('a value that is no JSON: DeadLettersHigh shows the reason, in the log and in the table', async () => {
  const { consumer, topic, reader } = await caughtUp();
  await produce(topic, [{ value: '{' }]);
  await consumer.logs.waitFor(/records became dead letters/);
  expect(await runbookCommand('DeadLettersHigh', reader)).toMatch(/"reasons":\{"invalid_json":1\}/);
  expect(await runbookCommand('DeadLettersHigh', reader, 'psql')).toMatch(
    new RegExp(`${topic} *\\| *\\| *\\| invalid_json *\\| *1`),
  );
  expect(await runbookCommand('DeadLettersWaiting', reader)).toMatch(
    new RegExp(`${topic} *\\| *\\| *\\| invalid_json *\\| *1`),
  );
});

test('a field that does not fit its column: the query of DeadLettersHigh shows table and column', async () => {
  const topic = await createTopic();
  const table = 'public.numbers_of_runbook';
  await query(`CREATE TABLE ${table} (amount int)`, [], databaseUrl);
  await produce(topic, [{ value: '{"amount":"hunter2"}' }]);
  const settings = { tables: [{ topic, table }] };
  const consumer = await startConsumer({ topics: [], databaseUrl, schema: SCHEMA, settings });
  await consumer.logs.waitFor(/records became dead letters/);
  expect(await runbookCommand('DeadLettersHigh', { consumer, databaseUrl }, 'psql')).toMatch(
    new RegExp(`${topic} *\\| ${table} *\\| amount *\\| value_does_not_fit *\\| *1`),
  );
});

test('records that were deleted before they were read: RecordsSkipped shows which, in the log and in the table', async () => {
  const { consumer: first, topic } = await caughtUp();
  first.kill('SIGTERM');
  await first.exited;
  await produce(
    topic,
    Array.from({ length: 9 }, () => ({ value: '{}' })),
  );
  const admin = kafkaClient().admin();
  await admin.connect();
  await admin.fetchTopicOffsets(topic);
  await admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: '5' }] });
  await admin.disconnect();
  const { groupId } = first;
  const settings = { consumer: { onGap: 'skip' } };
  const consumer = await startConsumer({ topics: [topic], groupId, databaseUrl, schema: SCHEMA, settings });
  await consumer.logs.waitFor(/deleted before they were read/);
  const reader = { consumer, databaseUrl };
  expect(await runbookCommand('RecordsSkipped', reader)).toMatch(
    new RegExp(`"topic":"${topic}".*"from":"1","nextOffset":"5"`),
  );
  expect(await runbookCommand('RecordsSkipped', reader, 'psql')).toContain(topic);
});

test('another writer: WriterFenced shows the partition, and the sessions of both', async () => {
  const { consumer, topic, reader } = await caughtUp();
  // It goes on: what comes first once, right after the partition was won, is a handover.
  await until('another writer to count', async () => {
    const moving = `UPDATE ${SCHEMA}.offsets SET next_offset = next_offset + 1 WHERE topic = '${topic}'`;
    await query(moving, [], databaseUrl);
    await produce(topic, [{ value: '{}' }]);
    return consumer.logs.all.some((line) => line.includes('another writer moved the offset')) || undefined;
  });
  expect(await runbookCommand('WriterFenced', reader)).toContain(`"topic":"${topic}","partition":0`);
  expect(await runbookCommand('WriterFenced', reader, 'psql')).toContain(`stream-consumer ${consumer.groupId}`);
});

test('a topic that was deleted: TopicGone shows it, in the log and in the health', async () => {
  const { consumer, topic, reader } = await caughtUp();
  await deleteTopic(topic);
  await consumer.logs.waitFor(/Kafka does not have these topics/);
  expect(await runbookCommand('TopicGone', reader)).toContain(`"topics":["${topic}"]`);
  await until('the health to tell it', async () =>
    (await runbookCommand('TopicGone', reader, 'ask')).includes(`"goneTopics":["${topic}"]`) ? true : undefined,
  );
});
