import { afterAll, expect, test } from '@jest/globals';
import type { Admin } from 'kafkajs';
import { METRICS } from '../../../contract/metrics.ts';
import type { LocalKafka } from '../../../dev/stack/local-kafka.ts';
import { query } from '../stack/database.ts';
import { groupMembers } from '../stack/group-membership.ts';
import { createTopic, kafkaClient, produce } from '../stack/kafka-client.ts';
import { IS_LONG_RUN } from '../stack/long-test.ts';
import { startPrivateKafka } from '../stack/private-servers.ts';
import { randomName } from '../stack/random-name.ts';
import { runbookCommand } from '../stack/runbook.ts';
import { type StartedConsumer, startConsumer } from '../stack/start-consumer.ts';
import { awaitEachOnce } from '../stack/stored-rows.ts';
import { awaitRoot, lagOf, type Root, values } from '../stack/told-health.ts';
import { TransactionLoad } from '../stack/transaction-load.ts';
import { until } from '../stack/until.ts';

/** Broker 1 is the controller and stays; partitions 0 prefer broker 2 as their leader, and partitions 1 broker 1. */
const REPLICAS = [
  [2, 1],
  [1, 2],
] as const;

/** Preferred leaders lead again within a second or two of their return. */
const PROPERTIES = {
  'leader.imbalance.check.interval.seconds': 1,
  'leader.imbalance.per.broker.percentage': 0,
} as const;

const SINGLE = [{ value: '1' }, { value: '2' }];

interface Site {
  readonly admin: Admin;
  readonly topics: readonly string[];
  /** A topic of broker 2 alone: nothing leads it while that is away. */
  readonly single: string;
  readonly first: LocalKafka;
  readonly second: LocalKafka;
  readonly load: TransactionLoad;
}

let site: Site | undefined;

afterAll(async () => {
  await site?.load.stop();
  await site?.admin.disconnect();
});

/** Two brokers, topics on both of them, and transactions against these. Groups and transactions stay on broker 1. */
async function startSite(): Promise<Site> {
  const first = await startPrivateKafka({ properties: PROPERTIES });
  const at = { broker: first.broker };
  const admin = kafkaClient(at).admin();
  await admin.connect();
  await groupMembers('none', at);
  await new TransactionLoad(at, [await createTopic({ ...at, partitions: 2 })]).stop();
  const second = await startPrivateKafka({ joins: first, properties: PROPERTIES });
  const topics = ['one', 'two', 'three'].map(randomName);
  const single = randomName('single');
  const replicated = topics.map((topic) => ({
    topic,
    replicaAssignment: REPLICAS.map((replicas, partition) => ({ partition, replicas: [...replicas] })),
  }));
  await admin.createTopics({
    waitForLeaders: false,
    topics: [...replicated, { topic: single, replicaAssignment: [{ partition: 0, replicas: [2] }] }],
  });
  site = { admin, topics, single, first, second, load: new TransactionLoad(at, topics) };
  return site;
}

/** Waits until the partitions of each topic are led by these brokers. */
const awaitLeaders = ({ admin, topics }: Pick<Site, 'admin' | 'topics'>, leaders: readonly number[]): Promise<true> =>
  until(`leaders ${leaders}`, async () => {
    // A broker that has just joined may not know a topic yet.
    const { topics: found } = await admin.fetchTopicMetadata({ topics: [...topics] }).catch(() => ({ topics: [] }));
    const current = found.flatMap(({ partitions }) =>
      partitions.toSorted((one, other) => one.partitionId - other.partitionId).map(({ leader }) => leader),
    );
    return String(current) === String(topics.flatMap(() => leaders)) ? true : undefined;
  });

/** Each record of the transactions in the tables of the consumer, and what is in the dead letters. */
async function written({ schema }: StartedConsumer): Promise<readonly string[]> {
  const rows = await query<{ place: string }>(
    `SELECT topic || '/' || partition || '/' || (value #>> '{}') AS place FROM ${schema}.records
       WHERE topic NOT LIKE 'single%'
     UNION ALL SELECT 'dead letter ' || topic || '/' || partition FROM ${schema}.dead_letters`,
  );
  return rows.map(({ place }) => place).toSorted();
}

/** Waits until all that is committed by now is written. */
async function awaitWritten({ load }: Site, consumer: StartedConsumer): Promise<void> {
  const committed = [...load.committed];
  await until('what is committed in the tables', async () => {
    const rows = new Set(await written(consumer));
    return committed.every((place) => rows.has(place)) ? true : undefined;
  });
}

/** Waits for more transactions, and until they are written. */
async function goesOn(site: Site, consumer: StartedConsumer): Promise<void> {
  const enough = site.load.committed.length + 18;
  await until('further transactions', async () => (site.load.committed.length > enough ? true : undefined));
  await awaitWritten(site, consumer);
}

/** Makes a broker the only replica of all partitions: the other one answers NOT_LEADER_OR_FOLLOWER from then on. */
async function moveTo(at: Site, broker: number): Promise<void> {
  const partitionAssignment = REPLICAS.map((_, partition) => ({ partition, replicas: [broker] }));
  await at.admin.alterPartitionReassignments({
    topics: at.topics.map((topic) => ({ topic, partitionAssignment })),
  });
  await awaitLeaders(at, [broker, broker]);
}

async function expectUndisturbed(consumer: StartedConsumer): Promise<void> {
  expect(consumer.logs.all.filter((line) => /"fatal"|_RECREATED|_TRUNCATED|_GONE|topics by name/.test(line))).toEqual(
    [],
  );
  consumer.kill('SIGTERM');
  expect(await consumer.exited).toMatchObject({ code: 0 });
}

const epochs = ({ schema }: StartedConsumer) =>
  query<{ epoch: number }>(
    `SELECT leader_epoch AS epoch FROM ${schema}.offsets WHERE partition = 0 AND topic NOT LIKE 'single%' ORDER BY topic`,
  );

test('leaders move between two brokers, and each committed record is written once and none of the others', async () => {
  const at = await startSite();
  const { first, second, single, load } = at;
  const topics = [...at.topics, single];
  const brokers = [first.broker, second.broker];
  const consumer = await startConsumer({ topics, brokers });
  const { groupId, schema } = consumer;
  await awaitLeaders(at, [2, 1]);
  await goesOn(at, consumer);
  await produce(single, SINGLE, { broker: first.broker });
  await awaitEachOnce({ schema, topic: single, records: SINGLE.length });
  const before = await epochs(consumer);
  // The other test of this file stops the broker in order, too.
  if (IS_LONG_RUN) {
    await second.stop();
    await awaitLeaders(at, [1, 1]);
    await goesOn(at, consumer);
    await second.start();
    await awaitLeaders(at, [2, 1]);
    await goesOn(at, consumer);
  }
  const other = await startConsumer({ topics, brokers, groupId, schema });
  await second.crash();
  await awaitLeaders(at, [1, 1]);
  await goesOn(at, consumer);
  await second.start();
  await awaitLeaders(at, [2, 1]);
  await goesOn(at, consumer);
  await produce(single, SINGLE, { broker: first.broker });
  await awaitEachOnce({ schema, topic: single, records: 2 * SINGLE.length });
  await moveTo(at, 2);
  await goesOn(at, consumer);
  await moveTo(at, 1);
  await goesOn(at, consumer);
  await load.stop();
  await awaitWritten(at, consumer);
  expect(await written(consumer)).toEqual(load.committed.toSorted());
  for (const [nth, { epoch }] of (await epochs(consumer)).entries()) {
    expect(epoch).toBeGreaterThan(before[nth]?.epoch ?? Number.NaN);
  }
  await expectUndisturbed(other);
  await expectUndisturbed(consumer);
});

/** A topic whose partition 1 has broker 2 alone, and a producer that has sent to all of its partitions once. */
async function aTopicOfBoth({ admin, first }: Site) {
  const topic = randomName('split');
  const brokers = [1, 2, 1];
  const replicaAssignment = brokers.map((broker, partition) => ({ partition, replicas: [broker] }));
  await admin.createTopics({ waitForLeaders: false, topics: [{ topic, replicaAssignment }] });
  await awaitLeaders({ admin, topics: [topic] }, brokers);
  // Each record once, though the client sends again what a broker that starts or stops has not answered.
  const producer = kafkaClient(first).producer({ idempotent: true, maxInFlightRequests: 1 });
  await producer.connect();
  const send = (...partitions: readonly number[]) =>
    producer.send({ topic, messages: partitions.map((partition) => ({ partition, value: '7' })) });
  await send(0, 1, 2);
  return { topic, send, close: () => producer.disconnect() };
}

/** The partitions that the component `consumer` lists as without a leader. */
const leaderlessIn = ({ components }: Root): readonly unknown[] =>
  [components['consumer']?.details?.['leaderless'] ?? []].flat();

const linesOf = ({ logs }: StartedConsumer, text: string, topic: string) =>
  logs.all.filter((line) => line.includes(text) && line.includes(topic));

test('a partition without a leader is named and keeps neither the others nor the health, and is read on when one leads it', async () => {
  const at = site ?? (await startSite());
  const { first, second, single } = at;
  const { topic, send, close } = await aTopicOfBoth(at);
  const brokers = [first.broker];
  const before = await startConsumer({ topics: [topic], brokers });
  await awaitEachOnce({ schema: before.schema, topic, records: 3 });
  await second.stop();
  const isNamed = (health: Root) => leaderlessIn(health).length === 1 && lagOf(health) === 0;
  const ofTopic = { topic, partition: 1, since: expect.any(String) };
  await send(0, 2);
  const named = await awaitRoot(before, 'a partition without a leader', isNamed);
  expect([named.status, leaderlessIn(named)]).toEqual(['UP', [ofTopic]]);
  expect(await values(before, METRICS.leaderlessPartitions, topic)).toEqual([1]);
  expect(await runbookCommand('PartitionLeaderless', { consumer: before })).toContain(`"partitions":[1]`);
  expect(await values(before, METRICS.recordsLag, topic)).toHaveLength(2);
  await awaitEachOnce({ schema: before.schema, topic, records: 5 });
  // One that has stored offsets, and two that have none: of this topic, and of one that nobody leads.
  before.kill('SIGTERM');
  await before.exited;
  const again = await startConsumer({ topics: [topic], brokers, groupId: before.groupId, schema: before.schema });
  const fresh = await startConsumer({ topics: [topic], brokers });
  const alone = await startConsumer({ topics: [single], brokers });
  await awaitEachOnce({ schema: fresh.schema, topic, records: 4 });
  for (const consumer of [again, fresh, alone]) {
    expect(await awaitRoot(consumer, 'UP', isLeaderlessAndUp)).toMatchObject({ status: 'UP' });
  }
  await second.start();
  await awaitEachOnce({ schema: fresh.schema, topic, records: 5 });
  await produce(topic, [{ partition: 1, value: '7' }], { broker: first.broker });
  await produce(single, SINGLE, { broker: first.broker });
  for (const { schema } of [again, fresh]) await awaitEachOnce({ schema, topic, records: 6 });
  await until('the records of a topic that nobody led', async () => {
    const [found] = await query<{ rows: number }>(`SELECT count(*)::int AS rows FROM ${alone.schema}.records`);
    return (found?.rows ?? 0) >= SINGLE.length ? true : undefined;
  });
  for (const consumer of [again, fresh]) {
    await awaitRoot(consumer, 'no partition without a leader', (health) => leaderlessIn(health).length === 0);
    expect(linesOf(consumer, 'no leader', topic)).toHaveLength(1);
    expect(linesOf(consumer, 'have a leader again', topic)).toEqual([expect.stringMatching(/"seconds":\d+/)]);
  }
  await close();
  for (const consumer of [again, fresh, alone]) await expectUndisturbed(consumer);
});

const isLeaderlessAndUp = (health: Root): boolean => health.status === 'UP' && leaderlessIn(health).length === 1;
