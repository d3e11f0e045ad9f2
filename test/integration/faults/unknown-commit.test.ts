import { beforeAll, describe, expect, test } from '@jest/globals';
import { type CommitMessage, type CommitProxy, type CutMoment, startCommitProxy } from '../stack/commit-proxy.ts';
import { query } from '../stack/database.ts';
import { createTopic, produce } from '../stack/kafka-client.ts';
import { someCases } from '../stack/long-test.ts';
import { type StartedConsumer, startConsumer } from '../stack/start-consumer.ts';
import { awaitEachOnce } from '../stack/stored-rows.ts';

const GOOD = Array.from({ length: 21 }, (_, id) => ({ value: `{"id":${id}}` }));
/** What makes PostgreSQL commit each of them: dead letters belong to the same transaction, which takes more messages. */
const BATCHES: Readonly<Record<CommitMessage, typeof GOOD>> = {
  rows: GOOD,
  COMMIT: [...GOOD.slice(1), { value: '{poison' }],
};

let proxy: CommitProxy;
let topic: string;
let consumer: StartedConsumer;
let [produced, poison] = [0, 0];

const produceBatch = async (by: CommitMessage) => {
  await produce(topic, BATCHES[by]);
  produced += BATCHES[by].length;
  poison += by === 'COMMIT' ? 1 : 0;
};

beforeAll(async () => {
  proxy = await startCommitProxy();
  topic = await createTopic();
  await produceBatch('rows');
  consumer = await startConsumer({
    topics: [topic],
    databaseUrl: proxy.url,
    settings: { logging: { level: 'debug' } },
  });
  await awaitEachOnce({ schema: consumer.schema, topic, records: produced });
});

/** A failed write, but not an attempt at an offset that the cut transaction still holds. */
const FAILURE = /^(?!.*55P03).*the write failed/;
const failuresOf = ({ logs }: Pick<StartedConsumer, 'logs'>) => logs.all.filter((line) => FAILURE.test(line));

describe.each<[CommitMessage, string]>([
  ['rows', 'whose rows make PostgreSQL commit'],
  ['COMMIT', 'with a dead letter'],
])('a transaction by %s, %s', (by) => {
  test.each<[CutMoment, string]>([
    ['before', 'PostgreSQL is told to commit'],
    ['while', 'PostgreSQL commits'],
    ['after', 'PostgreSQL said that it committed'],
  ])('whose connection is cut %s %s: no record is lost or doubled', async (moment) => {
    const failedBefore = failuresOf(consumer).length;
    const cut = proxy.cutNextCommit(moment, by);
    await produceBatch(by);
    await cut;
    await produceBatch(by);
    await awaitEachOnce({ schema: consumer.schema, topic, records: produced });
    expect(failuresOf(consumer)).toHaveLength(failedBefore + 1);
    const [stored] = await query(
      `SELECT (SELECT count(*)::int FROM ${consumer.schema}.dead_letters) AS dead, next_offset::int AS next
       FROM ${consumer.schema}.offsets`,
    );
    expect(stored).toEqual({ dead: poison, next: produced });
  });
});

test.each(
  someCases<[CutMoment, string]>(1, [
    ['while', 'PostgreSQL commits'],
    ['before', 'PostgreSQL is told to commit'],
    ['after', 'PostgreSQL said that it committed'],
  ]),
)(
  'a table with a row trigger, whose COMMIT is a message of its own that is cut %s %s: no record is lost or doubled',
  async (moment) => {
    const triggered = await createTopic();
    const settings = { database: { poolSize: 1 }, logging: { level: 'debug' } };
    const { schema, groupId, ...before } = await startConsumer({
      topics: [triggered],
      databaseUrl: proxy.url,
      settings,
    });
    await before.waitForHealth();
    before.kill('SIGTERM');
    await before.exited;
    await query(`SET search_path TO ${schema};
    CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$;
    CREATE TRIGGER keeps BEFORE INSERT ON records FOR EACH ROW EXECUTE FUNCTION keep()`);
    const writing = await startConsumer({ topics: [triggered], databaseUrl: proxy.url, schema, groupId, settings });
    await writing.waitForHealth();
    const cut = proxy.cutNextCommit(moment, 'COMMIT');
    await produce(triggered, GOOD);
    await cut;
    // PostgreSQL may store the rows before the consumer notices that its connection is cut.
    await writing.logs.waitFor(FAILURE);
    await awaitEachOnce({ schema, topic: triggered, records: GOOD.length });
    expect(failuresOf(writing)).toHaveLength(1);
    writing.kill('SIGTERM');
    await writing.exited;
  },
);
