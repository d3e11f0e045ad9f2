import { EventEmitter } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import type { Kafka } from 'kafkajs';
import type { KafkaAdmin } from '../../../app/kafka/kafka-admin.ts';
import { KafkaSource } from '../../../app/kafka/kafka-source.ts';
import { UNWATCHED } from '../../../app/outage-log.ts';
import { systemClock } from '../../../app/stream/clock.ts';
import { MemoryBudget } from '../../../app/stream/memory-budget.ts';
import type { RecordSourceListener } from '../../../app/stream/record-source.ts';
import { load } from '../configuration/loading.ts';
import { answerBytes, topicId } from './fetch/fetch-bytes.ts';
import { recordBatch } from './fetch/record-sets.ts';
import { StubCluster } from './fetch/stub-cluster.ts';

const FETCH = 1;

const nothing = () => undefined;
const logger = { trace: nothing, debug: nothing, info: nothing, warn: nothing, error: nothing, fatal: nothing };

/** A source whose member is told by the test what it is assigned, and what it told in turn. */
async function aSource() {
  const told: string[] = [];
  const events = new EventEmitter();
  let isLooking = (_topics: { unknown: readonly string[]; partitions: ReadonlyMap<string, number> }): void => undefined;
  const stub = new StubCluster();
  const consumer = {
    events: { GROUP_JOIN: 'join', CRASH: 'crash', REBALANCING: 'rebalancing', HEARTBEAT: 'beat', REQUEST: 'request' },
    on: (name: string, listener: (event: unknown) => void) => events.on(name, listener),
    onTopics: (listener: typeof isLooking) => {
      isLooking = listener;
    },
    ...{ connect: async () => undefined, subscribe: async () => undefined, run: async () => undefined },
    disconnect: async () => void told.push('left the group'),
  };
  const kafka = {
    consumer: () => consumer,
    [Symbol('private:Kafka:createCluster')]: () => stub.cluster,
  } as unknown as Kafka;
  const admin = { missingTopics: async () => [], groupOffsets: async () => [], disconnect: async () => undefined };
  const watched =
    (name: string) =>
    (event: object = {}) =>
      void told.push(`${name} ${Object.values(event).join(' ')}`.trim());
  const source = new KafkaSource(load({}).kafka, kafka, {
    admin: admin as unknown as KafkaAdmin,
    ...{ clock: systemClock, logger, memory: new MemoryBudget(), outages: UNWATCHED },
    watcher: {
      ...{ onPoll: watched('poll'), onAnswer: nothing, onDelivered: watched('delivered'), onLogEnds: watched('ends') },
      ...{ onHeartbeat: nothing, onJoined: nothing, onCrashed: nothing, onAway: nothing },
    },
    storedPositions: async () => [],
    place: async () => ({ schema: 'orders', database: 'shop', systemIdentifier: '1' }),
  });
  await source.start({
    ...{ onAsked: nothing, onFound: nothing, onHeartbeat: nothing, onReadable: nothing, onOutOfRange: nothing },
    onAssigned: ({ added, owned }) =>
      told.push(`assigned ${added.map(({ partition }) => partition)} of ${owned.map(({ partition }) => partition)}`),
    onRevoked: async (revoked) => void told.push(`revoked ${revoked.map(({ partition }) => partition)}`),
    onTopics: (unknown, partitions) => told.push(`unknown ${unknown}, others ${[...partitions].join()}`),
    onFetched: ({ fetchedOffset, nextOffset }) => told.push(`fetched ${fetchedOffset} to ${nextOffset}`),
    onUnreadable: ({ code }) => told.push(code),
    onWaiting: (reason) => told.push(reason),
    onFatal: ({ message }) => told.push(message),
  } as RecordSourceListener);
  const join = () =>
    events.emit('join', { payload: { isLeader: true, memberAssignment: { orders: [0] }, duration: 1 } });
  return { source, stub, events, told, join, look: (of: Parameters<typeof isLooking>[0]) => isLooking(of) };
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

test('while the group is joined nothing is fetched, nor before the new assignment was sought', async () => {
  const started = await aSource();
  await open(started);
  started.events.emit('rebalancing', {});
  await answer(started);
  expect(started.told).toContain('fetched 5 to 8');
  started.join();
  await settle();
  expect(started.stub.requests).toEqual([]);
  await started.source.stop();
});

test('after a crash of the member nothing is fetched, and what was under way is dropped', async () => {
  const started = await aSource();
  await open(started);
  started.events.emit('crash', { payload: { error: new Error('session over'), restart: true } });
  await answer(started);
  expect(started.told.filter((line) => line.startsWith('fetched'))).toEqual([]);
  expect(started.told).toContain('the Kafka client starts again: session over');
  expect(started.told).toContain('revoked 0');
  expect(started.stub.requests).toEqual([]);
  await started.source.stop();
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

test('the topics that the brokers do not have are told in their order, with the partitions of the others', async () => {
  const started = await aSource();
  started.look({ unknown: ['b', 'a'], partitions: new Map([['orders', 3]]) });
  expect(started.told).toContain('unknown a,b, others orders,3');
  await started.source.stop();
});
