import { beforeAll, expect, test } from '@jest/globals';
import { type CommitProxy, type CutMoment, startCommitProxy } from '../stack/commit-proxy.ts';
import { query } from '../stack/database.ts';
import { createTopic, produce } from '../stack/kafka-client.ts';
import { type StartedConsumer, startConsumer } from '../stack/start-consumer.ts';
import { awaitEachOnce } from '../stack/stored-rows.ts';

/** One of them is poison: dead letters belong to the same transaction. */
const BATCH = [...Array.from({ length: 20 }, (_, id) => ({ value: `{"id":${id}}` })), { value: '{poison' }];

let proxy: CommitProxy;
let topic: string;
let consumer: StartedConsumer;
let produced = 0;

const produceBatch = async () => {
  await produce(topic, BATCH);
  produced += BATCH.length;
};

beforeAll(async () => {
  proxy = await startCommitProxy();
  topic = await createTopic();
  await produceBatch();
  consumer = await startConsumer({ topics: [topic], databaseUrl: proxy.url });
  await awaitEachOnce({ schema: consumer.schema, topic, records: produced });
});

const failures = () => consumer.logs.all.filter((line) => line.includes('the write failed')).length;

test.each<[CutMoment, string]>([
  ['before', 'PostgreSQL has the COMMIT'],
  ['while', 'PostgreSQL works on the COMMIT'],
  ['after', 'PostgreSQL answered the COMMIT'],
])('a connection cut %s %s: no record is lost or doubled', async (moment) => {
  const failedBefore = failures();
  const cut = proxy.cutNextCommit(moment);
  await produceBatch();
  await cut;
  await produceBatch();
  await awaitEachOnce({ schema: consumer.schema, topic, records: produced });
  expect(failures()).toBe(failedBefore + 1);
  const [stored] = await query(
    `SELECT (SELECT count(*)::int FROM ${consumer.schema}.dead_letters) AS dead, next_offset::int AS next
     FROM ${consumer.schema}.offsets`,
  );
  expect(stored).toEqual({ dead: produced / BATCH.length, next: produced });
});
