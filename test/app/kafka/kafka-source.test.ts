import { EventEmitter } from 'node:events';
import { createRequire } from 'node:module';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import type { Kafka } from 'kafkajs';
import type { KafkaAdmin } from '../../../app/kafka/kafka-admin.ts';
import { KafkaSource } from '../../../app/kafka/kafka-source.ts';
import { UNWATCHED } from '../../../app/outage-log.ts';
import { recordsOf } from '../../../app/records/pack-records.ts';
import type { FetchedRecords, RecordSourceListener } from '../../../app/stream/record-source.ts';
import { load } from '../configuration/loading.ts';
import { aRecord } from '../stream/records.ts';

interface OffsetManager {
  resolveOffset(position: { topic: string; partition: number; offset: string }): void;
}

/** kafkajs's own offset manager, in a generation that is assigned one partition of the topic `kept`. */
function anOffsetManagerOfKept(): OffsetManager {
  const Shipped = createRequire(import.meta.url)('kafkajs/src/consumer/offsetManager') as new (
    options: unknown,
  ) => OffsetManager;
  return new Shipped({ cluster: {}, memberAssignment: { kept: [0] } });
}

const nothing = () => undefined;
const logger = { trace: nothing, debug: nothing, info: nothing, warn: nothing, error: nothing, fatal: nothing };
const watcher = {
  onPoll: nothing,
  onAnswer: nothing,
  onDelivered: nothing,
  onLogEnds: nothing,
  onHeartbeat: nothing,
  onJoined: nothing,
  onCrashed: nothing,
  onAway: nothing,
};
const clock = { now: () => new Date(0), steady: () => new Date(0), wait: async () => undefined };

const storedPositions = async () => [];
const place = async () => ({ schema: 'orders', database: 'shop', systemIdentifier: '1' });

type EachBatch = (payload: unknown) => Promise<void>;

/** A source whose consumer is assigned partition 0 of `kept`, and the handler that kafkajs calls with its batches. */
async function aSourceThatOwnsKept() {
  const events = new EventEmitter();
  let eachBatch: EachBatch = async () => undefined;
  const consumer = {
    events: { GROUP_JOIN: 'join', CRASH: 'crash' },
    on: (name: string, listener: (event: unknown) => void) => events.on(name, listener),
    connect: async () => undefined,
    subscribe: async () => undefined,
    pause: nothing,
    run: async (options: { eachBatch: EachBatch }) => {
      eachBatch = options.eachBatch;
    },
  };
  const kafka = { consumer: () => consumer } as unknown as Kafka;
  const admin = { missingTopics: async () => [], groupOffsets: async () => [] } as unknown as KafkaAdmin;
  const source = new KafkaSource(load({}).kafka, kafka, {
    admin,
    clock,
    logger,
    watcher,
    outages: UNWATCHED,
    storedPositions,
    place,
  });
  const batches: FetchedRecords[] = [];
  const listener = {
    onAsked: nothing,
    onFound: nothing,
    onAssigned: nothing,
    onFetched: (batch: FetchedRecords) => batches.push(batch),
  };
  await source.start(listener as unknown as RecordSourceListener);
  events.emit('join', { payload: { memberAssignment: { kept: [0] } } });
  return { batches, eachBatch };
}

/** A batch of one record, as kafkajs hands it over. */
const delivered = (topic: string, offsets: OffsetManager) => ({
  batch: {
    topic,
    partition: 0,
    fetchedOffset: '7',
    messages: [{ records: recordsOf([aRecord(7n)]) }],
    rawMessages: [{ leaderEpoch: 4 }],
    lastOffset: () => '7',
  },
  resolveOffset: (offset: string) => offsets.resolveOffset({ topic, partition: 0, offset }),
});

test('kafkajs itself fails for good over a batch of a topic that a rebalance took away', () => {
  expect(() => delivered('lost', anOffsetManagerOfKept()).resolveOffset('7')).toThrow(TypeError);
});

test('a batch of a topic that a rebalance took away is dropped, and kafkajs keeps running', async () => {
  const { batches, eachBatch } = await aSourceThatOwnsKept();
  await eachBatch(delivered('lost', anOffsetManagerOfKept()));
  expect(batches).toEqual([]);
});

test('a batch of an owned partition is handed over with where it was fetched from and where the next one begins', async () => {
  const { batches, eachBatch } = await aSourceThatOwnsKept();
  await eachBatch(delivered('kept', anOffsetManagerOfKept()));
  const range = { fetchedOffset: 7n, nextOffset: 8n, leaderEpoch: 4 };
  expect(batches).toEqual([{ topic: 'kept', partition: 0, records: recordsOf([aRecord(7n)]), ...range }]);
});

test('when a batch is handed over, other work has its turn before the next one', async () => {
  const { eachBatch } = await aSourceThatOwnsKept();
  const others = turn('had its turn');
  const handedOver = eachBatch(delivered('kept', anOffsetManagerOfKept())).then(() => 'handed over');
  expect(await Promise.race([others, handedOver])).toBe('had its turn');
  expect(await handedOver).toBe('handed over');
});
