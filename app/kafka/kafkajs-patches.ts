/**
 * Everything we change in kafkajs 2.2.4, in one place. It is done in memory, before kafkajs is loaded, so it is there
 * after any kind of installation and in the image; nothing on disk is touched. kafkajs has had no release since
 * February 2023: the exact version is pinned in package.json, and another one is refused here rather than half patched.
 *
 * 1. The record decoder folds headers into an object: the order of integer-like keys and of repeated keys is lost, and
 *    each header copies all before it. Patched: `headers` is the array of `{ key, value }` as it was sent.
 * 2. Each connection re-arms a 1 ms timer for ever, 900 wake-ups a second and a warning on Node 24
 *    (https://github.com/tulios/kafkajs/issues/1751). Patched: no timer while nothing is pending.
 * 3. An offset that the broker does not hold makes the consumer jump to the log's start or end and commit that, even
 *    with autoCommit off (https://github.com/tulios/kafkajs/issues/1119). Patched: it is only told.
 * 4. A fetch whose records are all control records, aborted or compacted is skipped without a word. Patched: the range
 *    that it stood for is told, since the stored offset has to move over it.
 */
import { EventEmitter } from 'node:events';
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
const PATCHED_VERSION = '2.2.4';

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
  readInt8(): number;
  readVarLong(): { toString(): string };
  readVarInt(): number;
  readVarIntBytes(): Buffer | null;
  readVarIntArray(decode: (decoder: Decoder) => Header): Header[];
}

interface BatchContext {
  readonly firstOffset: string;
  readonly firstTimestamp: string;
  readonly maxTimestamp?: string;
  readonly timestampType?: number;
  readonly magicByte?: number;
  readonly isControlBatch?: boolean;
}

const LOG_APPEND_TIME = 1;

const decodeHeader = require('kafkajs/src/protocol/recordBatch/header/v0/decoder.js') as (decoder: Decoder) => Header;

/** The record decoder of record format v2; its fields are read in the order of the wire format. */
function decodeRecord(decoder: Decoder, context: BatchContext) {
  const attributes = decoder.readInt8();
  const timestampDelta = BigInt(decoder.readVarLong().toString());
  const isAppendTime = context.timestampType === LOG_APPEND_TIME && context.maxTimestamp !== undefined;
  const timestamp = isAppendTime ? context.maxTimestamp : (BigInt(context.firstTimestamp) + timestampDelta).toString();
  const offset = (BigInt(context.firstOffset) + BigInt(decoder.readVarInt())).toString();
  const key = decoder.readVarIntBytes();
  const value = decoder.readVarIntBytes();
  return {
    magicByte: context.magicByte,
    attributes,
    timestamp,
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

/**
 * Loads kafkajs with the patches applied.
 *
 * @throws Error when another version than 2.2.4 is installed
 */
export function loadKafkajs(): typeof import('kafkajs') {
  const { version } = require('kafkajs/package.json') as { version: string };
  if (version !== PATCHED_VERSION) {
    throw new Error(`kafkajs ${version} is installed, but the patches are made for ${PATCHED_VERSION}: run npm ci`);
  }
  replaceModule('kafkajs/src/protocol/recordBatch/record/v0/decoder.js', decodeRecord);
  stopIdleTimer();
  tellInsteadOfJumping();
  tellSkippedRanges();
  return require('kafkajs') as typeof import('kafkajs');
}
