import { EventEmitter } from 'node:events';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { compileFunction } from 'node:vm';
import { GiveWay } from './event-loop-turns.ts';
import { commitOnce, coordinatorComesBack, fetchWhenResumed } from './kafkajs-consumer-patches.ts';
import { encodeRecord, recordSetDecoder } from './kafkajs-record-patches.ts';

/**
 * Everything we change in kafkajs 2.2.4, in one place. It is done in memory, before kafkajs is loaded, so it is there
 * after any kind of installation and in the image; nothing on disk is touched. kafkajs has had no release since
 * February 2023: the exact version is pinned in package.json, and another one is refused here rather than half patched.
 *
 * 1. The record decoder folds headers into an object: the order of integer-like keys and of repeated keys is lost, and
 *    each header copies all before it. Patched: `headers` is the array of `{ key, value }` as it was sent. Offset and
 *    timestamp are bigints, which kafkajs's own arithmetic takes as well as the strings it would make.
 * 2. Each connection re-arms a 1 ms timer for ever, 900 wake-ups a second and a warning on Node 24
 *    (https://github.com/tulios/kafkajs/issues/1751). Patched: no timer while nothing is pending.
 * 3. An offset that the broker does not hold makes the consumer jump to the log's start or end and commit that, even
 *    with autoCommit off (https://github.com/tulios/kafkajs/issues/1119). Patched: it is only told.
 * 4. A fetch whose records are all control records, aborted or compacted is skipped without a word. Patched: the range
 *    that it stood for is told, since the stored offset has to move over it.
 * 5. The record encoder takes headers as an object as well, and fails on a header without a value. Patched: headers are an
 *    array there, too, so a record can be produced again with the headers it came with.
 * 6. A consumer that starts again after an outage joins as somebody new, and the group waits for its old self until that
 *    one's session times out. Patched: it joins as the member it was.
 * 7. A consumer whose partitions are all paused sleeps for the whole of maxWaitTimeInMs before it looks again. Patched: it
 *    fetches as soon as one is resumed (fetch-when-resumed.ts).
 * 8. A batch whose last records, or all of them, were compacted away is taken to end at the last one left: the fetch steps
 *    forward offset by offset, or never. Patched: such a batch ends with a control record at its real last offset.
 * 9. A group coordinator that no broker knows counts as an error that never passes, and the consumer stops for good in a
 *    restart of Kafka. Patched: it is tried again (coordinator-away.ts).
 * 10. Offsets that could not be committed are tried again under the generation of the next rebalance, and none are committed,
 *    without a word, while the consumer stops. Patched: once, and told (commit-once.ts).
 * 11. Each connection looks for overdue requests ten times a second. Patched: once (rare-timeout-checks.ts).
 * 12. A fetch is decoded in one go, however many partitions it has. Patched: other work has its turn in between (give-way.ts).
 * 13. A batch of more than some 125,000 records overflows the stack. Patched: there is no such limit (record-set.ts).
 * 14. Heartbeats and time-outs go by the time of day. Patched: by a clock that is never set (monotonic-time.ts).
 */

const require = createRequire(import.meta.url);

/** A fetch asked for an offset that the broker does not hold. */
export interface OffsetOutOfRange {
  readonly groupId: string;
  readonly topic: string;
  readonly partition: number;
}

/** A fetch held offsets, but no record that is for a reader. */
export interface SkippedRange {
  readonly groupId: string;
  readonly topic: string;
  readonly partition: number;
  readonly fetchedOffset: string;
  readonly lastOffset: string;
}

/** Tells what kafkajs itself keeps to itself. */
export const kafkajsEvents = new EventEmitter<{ outOfRange: [OffsetOutOfRange]; skipped: [SkippedRange] }>();

interface Header {
  readonly key: string;
  readonly value: Buffer | null;
}

interface Decoder {
  readonly buffer: Buffer;
  offset: number;
  readInt8(): number;
  readVarInt(): number;
  readVarIntBytes(): Buffer | null;
  readVarIntArray(decode: (decoder: Decoder) => Header): Header[];
}

interface BatchContext {
  readonly firstOffset: string;
  readonly firstTimestamp: string;
  readonly maxTimestamp?: string;
  readonly timestampType?: number;
  readonly isControlBatch?: boolean;
}

/** What the records of a batch are counted from, parsed once for all of them. */
interface BatchStart {
  readonly offset: bigint;
  readonly timestamp: bigint;
  /** The broker's own time for the whole batch, where the topic says so; the deltas of its records mean nothing then. */
  readonly appendTime: bigint | null;
}

const LOG_APPEND_TIME = 1;

const starts = new WeakMap<BatchContext, BatchStart>();

function startOf(context: BatchContext): BatchStart {
  const known = starts.get(context);
  if (known) {
    return known;
  }
  const { firstOffset, firstTimestamp, maxTimestamp, timestampType } = context;
  const appendTime = timestampType === LOG_APPEND_TIME && maxTimestamp !== undefined ? BigInt(maxTimestamp) : null;
  const start = { offset: BigInt(firstOffset), timestamp: BigInt(firstTimestamp), appendTime };
  starts.set(context, start);
  return start;
}

/** A zigzag varlong (Kafka's record format): plain numbers while they are exact, which five bytes always are. */
function readVarLong(decoder: Decoder): bigint {
  const { buffer } = decoder;
  let end = decoder.offset;
  while ((buffer[end] ?? 0) >= 0x80) {
    end += 1;
  }
  let raw = 0n;
  let small = 0;
  if (end - decoder.offset < 5) {
    for (let at = end; at >= decoder.offset; at -= 1) {
      small = small * 0x80 + ((buffer[at] ?? 0) & 0x7f);
    }
    raw = BigInt(small);
  } else {
    for (let at = end; at >= decoder.offset; at -= 1) {
      raw = (raw << 7n) | BigInt((buffer[at] ?? 0) & 0x7f);
    }
  }
  decoder.offset = end + 1;
  return (raw >> 1n) ^ -(raw & 1n);
}

const decodeHeader = require('kafkajs/src/protocol/recordBatch/header/v0/decoder.js') as (decoder: Decoder) => Header;

/** The record decoder of record format v2; its fields are read in the order of the wire format. */
function decodeRecord(decoder: Decoder, context: BatchContext) {
  const start = startOf(context);
  const attributes = decoder.readInt8();
  const timestampDelta = readVarLong(decoder);
  const offset = start.offset + BigInt(decoder.readVarInt());
  const key = decoder.readVarIntBytes();
  const value = decoder.readVarIntBytes();
  return {
    attributes,
    timestamp: start.appendTime ?? start.timestamp + timestampDelta,
    offset,
    key,
    value,
    headers: decoder.readVarIntArray(decodeHeader),
    isControlRecord: context.isControlBatch ?? false,
    batchContext: context,
  };
}

function replaceModule(path: string, replacement: unknown): void {
  const file = require.resolve(path);
  require(file);
  const loaded = require.cache[file];
  if (!loaded) {
    throw new Error(`${path} of kafkajs could not be replaced: it is not in the module cache`);
  }
  loaded.exports = replacement;
}

interface RecordBatch {
  readonly firstOffset: string;
  readonly lastOffsetDelta: number;
  readonly records: { offset: bigint }[];
}

function decodeBatchByBatch(): void {
  const path = 'kafkajs/src/protocol/recordBatch/v0/decoder.js';
  const decode = require(path) as (decoder: Decoder) => Promise<RecordBatch & BatchContext>;
  const turns = new GiveWay();
  replaceModule(path, async (decoder: Decoder) => {
    await turns.afterTurn();
    const batch = await decode(decoder);
    const { firstOffset, lastOffsetDelta, firstTimestamp, records } = batch;
    const offset = BigInt(firstOffset) + BigInt(lastOffsetDelta);
    if ((records.at(-1)?.offset ?? -1n) < offset) {
      const end = { attributes: 0, timestamp: BigInt(firstTimestamp), offset, key: null, value: null, headers: [] };
      records.push(Object.assign(end, { isControlRecord: true, batchContext: batch }));
    }
    return batch;
  });
}

function decodeLargeBatches(): void {
  const path = 'kafkajs/src/protocol/requests/fetch/v4/decodeMessages.js';
  replaceModule(path, recordSetDecoder(require(path), require('kafkajs/src/protocol/recordBatch/v0/decoder.js')));
}

interface RequestQueue {
  readonly pending: readonly unknown[];
  scheduleCheckPendingRequests(): void;
}

function stopIdleTimer(): void {
  const { prototype } = require('kafkajs/src/network/requestQueue') as { prototype: RequestQueue };
  const schedule = prototype.scheduleCheckPendingRequests;
  prototype.scheduleCheckPendingRequests = function scheduleWhilePending(this: RequestQueue) {
    if (this.pending.length > 0) {
      schedule.call(this);
    }
  };
}

interface ConsumerGroup {
  readonly groupId: string;
  readonly cluster: object;
  memberId: string | null;
  joinAndSync(): Promise<void>;
  leave(): Promise<void>;
  recoverFromOffsetOutOfRange(error: { topic: string; partition: number }): Promise<void>;
}

function tellInsteadOfJumping(): void {
  const { prototype } = require('kafkajs/src/consumer/consumerGroup') as { prototype: ConsumerGroup };
  prototype.recoverFromOffsetOutOfRange = async function tell(this: ConsumerGroup, { topic, partition }) {
    kafkajsEvents.emit('outOfRange', { groupId: this.groupId, topic, partition });
  };
}

interface FetchedBatch {
  readonly topic: string;
  readonly partition: number;
  readonly fetchedOffset: string;
  isEmptyDueToFiltering(): boolean;
  lastOffset(): string;
}

interface Runner {
  readonly running: boolean;
  readonly consumerGroup: ConsumerGroup;
  handleBatch(batch: FetchedBatch): Promise<void>;
}

function tellSkippedRanges(): void {
  const { prototype } = require('kafkajs/src/consumer/runner') as { prototype: Runner };
  const handleBatch = prototype.handleBatch;
  prototype.handleBatch = function tell(this: Runner, batch) {
    if (this.running && batch.isEmptyDueToFiltering()) {
      const { topic, partition, fetchedOffset } = batch;
      const { groupId } = this.consumerGroup;
      kafkajsEvents.emit('skipped', { groupId, topic, partition, fetchedOffset, lastOffset: batch.lastOffset() });
    }
    return handleBatch.call(this, batch);
  };
}

/** A consumer keeps its cluster over a restart, and nothing else that would tell that it is the same one. */
function joinAgainAsTheSameMember(): void {
  const { prototype } = require('kafkajs/src/consumer/consumerGroup') as { prototype: ConsumerGroup };
  const { joinAndSync, leave } = prototype;
  const memberIds = new WeakMap<object, string>();
  prototype.joinAndSync = async function joinAgain(this: ConsumerGroup) {
    this.memberId ??= memberIds.get(this.cluster) ?? null;
    await joinAndSync.call(this);
    if (this.memberId !== null) {
      memberIds.set(this.cluster, this.memberId);
    }
  };
  prototype.leave = async function leaveForGood(this: ConsumerGroup) {
    await leave.call(this);
    memberIds.delete(this.cluster);
  };
}

/**
 * Loads kafkajs with the patches applied.
 *
 * @throws Error when another version than 2.2.4 is installed
 */
export function loadKafkajs(): typeof import('kafkajs') {
  const { version } = require('kafkajs/package.json') as { version: string };
  if (version !== KAFKAJS_VERSION) {
    throw new Error(`kafkajs ${version} is installed, but the patches are made for ${KAFKAJS_VERSION}: run npm ci`);
  }
  measureMonotonically(replaceModule);
  replaceModule('kafkajs/src/protocol/recordBatch/record/v0/decoder.js', decodeRecord);
  replaceModule('kafkajs/src/protocol/recordBatch/record/v0/index.js', encodeRecord);
  decodeBatchByBatch();
  decodeLargeBatches();
  stopIdleTimer();
  tellInsteadOfJumping();
  tellSkippedRanges();
  joinAgainAsTheSameMember();
  fetchWhenResumed(require('kafkajs/src/consumer/consumerGroup').prototype);
  coordinatorComesBack(require('kafkajs/src/cluster').prototype);
  commitOnce(require('kafkajs/src/consumer/runner').prototype);
  checkTimeoutsRarely(require('kafkajs/src/network/requestQueue').prototype);
  return require('kafkajs') as typeof import('kafkajs');
}

const requireMeasuring = createRequire(import.meta.url);

/** kafkajs's modules that measure durations by `Date.now()`, and use `Date` for nothing else. Each comes before those that load it. */
export const MEASURING_MODULES = [
  'kafkajs/src/network/requestQueue/socketRequest.js',
  'kafkajs/src/network/requestQueue/index.js',
  'kafkajs/src/cluster/brokerPool.js',
  'kafkajs/src/consumer/offsetManager/index.js',
  'kafkajs/src/consumer/consumerGroup.js',
  'kafkajs/src/consumer/runner.js',
] as const;

/** Milliseconds of a clock that never goes back, in the place of `Date`. */
const MONOTONIC_DATE = { now: (): number => Math.floor(performance.now()) };

/**
 * Lets kafkajs measure by a clock that is never set: when heartbeats are due, requests overdue, metadata stale, brokers to be
 * left alone. As shipped it asks for the time of day: a clock set back by an hour silences the heartbeats for an hour, and
 * one that is set forward spends all patience at once. Timestamps of records stay the time of day.
 *
 * @param replace puts a module in the place of another; called in the order in which the modules load each other
 */
function measureMonotonically(replace: (path: string, exports: unknown) => void): void {
  for (const path of MEASURING_MODULES) {
    const file = requireMeasuring.resolve(path);
    const run = compileFunction(
      readFileSync(file, 'utf8'),
      ['exports', 'require', 'module', '__filename', '__dirname', 'Date'],
      { filename: file },
    );
    const module = { exports: {} };
    run(module.exports, createRequire(file), module, file, dirname(file), MONOTONIC_DATE);
    replace(path, module.exports);
  }
}

/** Requests may take 30 s: when one takes longer, a second more does not matter. */
const CHECK_MS = 1_000;

interface SocketRequest {
  /** By the monotonic clock (monotonic-time.ts). */
  readonly sentAt: number;
  readonly requestTimeout: number;
  timeoutRequest(): void;
}

/** The part of kafkajs's request queue, one per connection, that gives up on requests. */
interface TimedRequestQueue {
  readonly enforceRequestTimeout: boolean;
  readonly inflight: ReadonlyMap<unknown, SocketRequest>;
  readonly isConnected: () => boolean;
  requestTimeoutIntervalId?: NodeJS.Timeout;
  destroy(): void;
  scheduleRequestTimeoutCheck(): void;
}

/**
 * Looks once a second whether a request was left without an answer for too long. As shipped each connection looks ten times
 * a second, whether or not anything was asked.
 */
function checkTimeoutsRarely(prototype: TimedRequestQueue): void {
  prototype.scheduleRequestTimeoutCheck = function scheduleRarely(this: TimedRequestQueue) {
    if (!this.enforceRequestTimeout) {
      return;
    }
    this.destroy();
    this.requestTimeoutIntervalId = setInterval(() => {
      for (const request of [...this.inflight.values()]) {
        if (performance.now() - request.sentAt > request.requestTimeout) {
          request.timeoutRequest();
        }
      }
      if (!this.isConnected()) {
        this.destroy();
      }
    }, CHECK_MS);
  };
}

/** The version of kafkajs that the patches are made for, and the only one that is loaded. */
export const KAFKAJS_VERSION = '2.2.4';
