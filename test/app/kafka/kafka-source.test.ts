import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import type { Kafka } from 'kafkajs';
import { failureText } from '../../../app/kafka/client/kafka-errors.ts';
import type { Assignment, GroupMember, GroupMemberListener } from '../../../app/kafka/group/group-member.ts';
import type { KafkaAdmin } from '../../../app/kafka/kafka-admin.ts';
import { KafkaSource } from '../../../app/kafka/kafka-source.ts';
import { MemoryBudget } from '../../../app/memory/memory-budget.ts';
import { systemClock } from '../../../app/stream/ports/clock.ts';
import type { Position, RecordSourceListener } from '../../../app/stream/ports/record-source.ts';
import { FatalError } from '../../../app/stream/ports/stream-errors.ts';
import { ReadTopics } from '../../../app/topics/read-topics.ts';
import { load } from '../configuration/loading.ts';
import { answerBytes, topicId } from './fetch/fetch-bytes.ts';
import { recordBatch } from './fetch/record-sets.ts';
import { StubCluster } from './fetch/stub-cluster.ts';

const FETCH = 1;

const nothing = () => undefined;
const logger = { trace: nothing, debug: nothing, info: nothing, warn: nothing, error: nothing, fatal: nothing };

const ORDERS = [{ topic: 'orders', partition: 0 }];

/** A member that does nothing by itself. */
class StubMember implements GroupMember {
  readonly #told: string[];
  listener: GroupMemberListener | null = null;

  constructor(told: string[]) {
    this.#told = told;
  }

  async join(listener: GroupMemberListener): Promise<void> {
    this.listener = listener;
  }

  async handOver(timeoutMs: number): Promise<boolean> {
    this.#told.push(`hand over in ${timeoutMs}`);
    return true;
  }

  async leave(): Promise<void> {
    this.#told.push('left the group');
  }

  async commit(positions: readonly Position[], metadata: string | null): Promise<void> {
    this.#told.push(`commit ${positions.map(({ offset }) => offset)} ${metadata}`);
  }
}

/** A source whose member is told by the test what it is assigned, and what it told in turn. */
async function aSource(topics = load({}).kafka.topics) {
  const told: string[] = [];
  const member = new StubMember(told);
  const stub = new StubCluster();
  const kafka = { [Symbol('private:Kafka:createCluster')]: () => stub.cluster } as unknown as Kafka;
  const admin = {
    ...{ missingTopics: async () => [], groupOffsets: async () => [], disconnect: async () => undefined },
    listTopics: async () => {
      told.push('list');
      return ['shop.a'];
    },
  };
  const watched =
    (name: string) =>
    (event: object = {}) =>
      void told.push(`${name} ${Object.values(event).join(' ')}`.trim());
  const base = load({});
  const settings = { ...base, kafka: { ...base.kafka, topics, fetchLinger: '0ms' } };
  const source = new KafkaSource(settings.kafka, kafka, {
    topics: new ReadTopics(settings),
    admin: admin as unknown as KafkaAdmin,
    ...{ clock: systemClock, logger, memory: new MemoryBudget(), member },
    outages: { failed: (reason) => void told.push(`away ${reason}`), worked: nothing },
    watcher: {
      ...{ onPoll: watched('poll'), onAnswer: nothing, onDelivered: watched('delivered'), onLogEnds: watched('ends') },
      ...{ onHeartbeat: watched('beat'), onJoined: watched('joined'), onCrashed: watched('crashed'), onAway: nothing },
    },
    storedPositions: async () => [],
    startFrom: settings.consumer.startFrom,
    store: {
      begunTemplates: async () => new Set(),
      beginTemplates: async () => undefined,
      storedTopics: async () => [],
    },
    place: async () => ({ schema: 'orders', database: 'shop', systemIdentifier: '1' }),
  });
  await source.start({
    ...{
      onAsked: nothing,
      onFound: nothing,
      onUnlisted: nothing,
      onLog: nothing,
      onHeartbeat: nothing,
      onReadable: nothing,
      onOutOfRange: nothing,
    },
    onAssigned: ({ added, owned }) =>
      told.push(`assigned ${added.map(({ partition }) => partition)} of ${owned.map(({ partition }) => partition)}`),
    onRevoked: async (revoked) => void told.push(`revoked ${revoked.map(({ partition }) => partition)}`),
    onExpelled: () => told.push('expelled'),
    onTopics: (unknown, partitions) => told.push(`unknown ${unknown}, others ${[...partitions].join()}`),
    onFetched: ({ fetchedOffset, nextOffset }) => told.push(`fetched ${fetchedOffset} to ${nextOffset}`),
    onUnreadable: ({ code }) => told.push(code),
    onWaiting: (reason) => told.push(reason),
    onFatal: ({ message }) => told.push(message),
  } as RecordSourceListener);
  const assign = (assignment: Partial<Assignment>) =>
    member.listener?.onAssigned({
      ...{ owned: [], added: [], revoked: [], isLeader: true, milliseconds: 1 },
      ...assignment,
    });
  const join = (): void => void assign({ owned: ORDERS, added: ORDERS });
  return { source, stub, told, join, assign, member, listener: () => member.listener as GroupMemberListener };
}

type Started = Awaited<ReturnType<typeof aSource>>;

const settle = async () => {
  for (let nth = 0; nth < 10; nth += 1) await turn();
};

/** Joins, and reads the partition from offset 5 on. */
async function open({ source, stub, join }: Started): Promise<void> {
  join();
  source.seek({ topic: 'orders', partition: 0, offset: 5n, topicId: topicId(1) });
  source.resume({ topic: 'orders', partition: 0 });
  await settle();
  stub.metadata({ 1: 'one' }, { orders: [1] });
  await settle();
}

/** Answers the fetch under way. */
async function answer({ stub }: Started): Promise<void> {
  const { FetchAnswer } = await import('../../../app/kafka/fetch/fetch-answer.ts');
  const partitions = [{ partition: 0, set: recordBatch(5, 3), highWatermark: 9, lastStableOffset: 8 }];
  stub.take(FETCH).resolve(new FetchAnswer(answerBytes(13, [[topicId(1), partitions]]), 13));
  await settle();
}

test('what is assigned is fetched once it was sought and resumed, and its records are told and counted', async () => {
  const started = await aSource();
  started.join();
  await settle();
  expect(started.stub.requests.filter(({ apiKey }) => apiKey === FETCH)).toEqual([]);
  await open(started);
  await answer(started);
  // Of each record the value `7`.
  const expected = ['assigned 0 of 0', 'poll', 'ends orders 0 9 8', 'fetched 5 to 8', 'delivered orders 3 3', 'poll'];
  expect(started.told.slice(-expected.length)).toEqual(expected);
  await started.source.stop();
});

test('while the group is joined what is owned goes on, and after a generation that leaves it here', async () => {
  const started = await aSource();
  await open(started);
  started.listener().onJoining();
  await started.assign({ owned: ORDERS });
  await answer(started);
  expect(started.told).toEqual(expect.arrayContaining(['joined 1 1', 'assigned  of 0', 'fetched 5 to 8']));
  expect(started.told).not.toContain('revoked 0');
  expect(started.stub.requests).toHaveLength(1);
  await started.source.stop();
});

test('of what a generation gives to others nothing is handed over from then on, and it is told before the new ones', async () => {
  const started = await aSource();
  await open(started);
  const other = [{ topic: 'orders', partition: 1 }];
  await started.assign({ owned: other, added: other, revoked: ORDERS });
  await answer(started);
  expect(started.told.slice(-2)).toEqual(['revoked 0', 'assigned 1 of 1']);
  expect(started.told.filter((line) => line.startsWith('fetched'))).toEqual([]);
  await started.source.stop();
});

test('who is expelled fetches nothing, and what was under way is dropped', async () => {
  const started = await aSource();
  await open(started);
  started.listener().onExpelled(new Error('session over'));
  await answer(started);
  expect(started.told.filter((line) => line.startsWith('fetched'))).toEqual([]);
  expect(started.told.at(-1)).toBe('expelled');
  expect(started.stub.requests).toEqual([]);
  await started.source.stop();
});

test('what fails and is tried again is told, as an outage where the brokers are away', async () => {
  const { source, told, listener } = await aSource();
  listener().onJoining();
  listener().onTryingAgain(new Error('a surprise'), true);
  expect(told).toEqual(['crashed true false', 'the Kafka client tries again: a surprise']);
  told.splice(0);
  await source.stop();
  const away = await aSource();
  away.listener().onJoining();
  away.told.splice(0);
  away
    .listener()
    .onTryingAgain(
      Object.assign(new Error('no broker'), { name: 'KafkaJSConnectionError', broker: 'kafka-1:9092' }),
      false,
    );
  expect(away.told).toEqual([
    'away no broker (kafka-1:9092)',
    'crashed false true',
    'the Kafka client tries again: no broker',
  ]);
  await away.source.stop();
});

test('what ends the membership for good ends the source with its reason, and nothing is fetched any more', async () => {
  const started = await aSource();
  await open(started);
  const refused = Object.assign(new Error('no'), { type: 'GROUP_AUTHORIZATION_FAILED' });
  started.listener().onFatal(refused);
  await answer(started);
  expect(started.told.at(-1)).toContain('Kafka forbids the group');
  expect(started.told.filter((line) => line.startsWith('fetched'))).toEqual([]);
  started.listener().onFatal(new FatalError('GROUP_INSTANCE_REPLACED', 'another one'));
  expect(started.told.at(-1)).toBe('another one');
  await started.source.stop();
});

test('hints are committed and partitions handed over by the member', async () => {
  const { source, told } = await aSource();
  await source.commitHint([{ topic: 'orders', partition: 0, offset: 7n }]);
  expect(await source.handOver(3_000)).toBe(true);
  const place = '{"stream-consumer":{"schema":"orders","database":"shop","systemIdentifier":"1"}}';
  expect(told).toEqual([`commit 7 ${place}`, 'hand over in 3000']);
  await source.stop();
});

test('fetches end before the group is left', async () => {
  const started = await aSource();
  await open(started);
  const { told, stub, source } = started;
  const destroyed = () => stub.events.includes('destroy one:9092');
  expect(destroyed()).toBe(false);
  await source.stop();
  expect(destroyed()).toBe(true);
  await answer(started);
  expect(told.at(-1)).toBe('left the group');
});

test('the topics that the brokers do not have are told, with the partitions of the others', async () => {
  const { source, told, listener } = await aSource();
  listener().onTopics(['a', 'b'], new Map([['orders', 3]]));
  expect(told).toContain('unknown a,b, others orders,3');
  await source.stop();
});

test.each([
  ['Connection timeout', { broker: 'kafka-1:9092' }, 'Connection timeout (kafka-1:9092)'],
  ['Closed connection', { host: 'kafka-1', port: 9092 }, 'Closed connection (kafka-1:9092)'],
  ['gave up', { cause: Object.assign(new Error('lost'), { broker: 'kafka-1:9092' }) }, 'gave up (kafka-1:9092)'],
  ['connect ECONNREFUSED 10.0.0.1:9092', { broker: '10.0.0.1:9092' }, 'connect ECONNREFUSED 10.0.0.1:9092'],
  ['no broker', { broker: undefined, host: 'kafka-1' }, 'no broker'],
])('a failure names its broker once, where it has one: %s %j', (message, fields, text) => {
  expect(failureText(Object.assign(new Error(message), fields))).toBe(text);
});

test('the cluster is listed where a topic is about to be read that no list had, and that a template takes', async () => {
  const { source, told } = await aSource(['orders', 'shop.{any}']);
  told.splice(0);
  await source.requireListed(['orders', 'shop.a', 'else']);
  expect(told).toEqual([]);
  await expect(source.requireListed(['orders', 'shop.b'])).rejects.toThrow('no topic shop.b in its list yet');
  expect(told).toEqual(['list']);
  await source.stop();
});
