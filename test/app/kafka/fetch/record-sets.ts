import { createRequire } from 'node:module';
import { gzipSync } from 'node:zlib';
import type { BatchRoom } from '../../../../app/kafka/fetch/batch-memory.ts';
import { RecordSetReader } from '../../../../app/kafka/fetch/record-set.ts';
import { EventLoopTurns } from '../../../../app/memory/event-loop-turns.ts';
import { MemoryBudget } from '../../../../app/memory/memory-budget.ts';
import { Records } from '../../../../app/records/records.ts';

const require = createRequire(import.meta.url);
const crc32c = require('kafkajs/src/protocol/recordBatch/crc32C') as (bytes: Buffer) => number;

const ANY_ROOM: BatchRoom = { heapBytes: Number.MAX_SAFE_INTEGER, bytes: Number.MAX_SAFE_INTEGER };

/** The batches of a set, their records as objects, and what is wrong behind them. @param room @default any */
export async function readSet(set: Buffer, room = ANY_ROOM) {
  const reader = new RecordSetReader(new MemoryBudget(), new EventLoopTurns(), room);
  const { batches, fault } = await reader.read(set, {});
  return { batches, records: batches.flatMap((batch) => [...batch.records]), fault };
}

/** The records of a set, in the memory of sets of this budget where they are more than some kilobytes. */
export async function recordsIn(memory: MemoryBudget, set: Buffer): Promise<Records> {
  const { batches } = await new RecordSetReader(memory).read(set, {});
  return new Records(batches.flatMap(({ records }) => records.parts));
}

/** Whether the next set may be written where these records are. */
export function isGivenBack(memory: MemoryBudget, { parts }: Records): boolean {
  const [part] = parts;
  return part !== undefined && memory.sets.take(part.batch.bytes.length).buffer === part.batch.bytes.buffer;
}

/** Bytes of a batch of record format v2 before its first record. */
export const BATCH_HEAD_BYTES = 61;
const GZIP = 1;
const CRC_OFFSET = 17;
const CRC_START = 21;

function varInt(value: number): number[] {
  const bytes: number[] = [];
  let rest = value * 2;
  for (; rest > 0x7f; rest = Math.floor(rest / 0x80)) {
    bytes.push((rest & 0x7f) | 0x80);
  }
  return [...bytes, rest];
}

const varBytes = (bytes: Buffer): number[] => [...varInt(bytes.length), ...bytes];

/** A record of record format v2: no key, the value `7`, and headers of the keys given, without values. */
function record(offsetDelta: number, headerKeys: readonly Buffer[]): number[] {
  const headers = headerKeys.flatMap((key) => [...varBytes(key), 1]);
  const body = [0, 0, ...varInt(offsetDelta), 1, 2, '7'.charCodeAt(0), ...varInt(headerKeys.length), ...headers];
  return [...varInt(body.length), ...body];
}

/** Puts the checksum of its content into a batch of record format v2. */
export function checksummed(batch: Buffer): Buffer {
  batch.writeUInt32BE(crc32c(batch.subarray(CRC_START)), CRC_OFFSET);
  return batch;
}

/** A batch of record format v2 as a fetch brings it, uncompressed. */
export function recordBatch(firstOffset: number, records: number, headerKeys: readonly Buffer[] = []): Buffer {
  const content = Buffer.concat(Array.from({ length: records }, (_, delta) => Buffer.from(record(delta, headerKeys))));
  return batchOf(content, { firstOffset, records });
}

interface BatchHead {
  /** @default 0 */
  readonly firstOffset?: number;
  /** The count, whether or not the content holds as many. */
  readonly records: number;
  /** Whether gzip packs the content. @default false */
  readonly isPacked?: boolean;
}

/** A batch of record format v2 with any content, without a producer's id. */
export function batchOf(content: Buffer, { firstOffset = 0, records, isPacked = false }: BatchHead): Buffer {
  const packed = isPacked ? gzipSync(content) : content;
  const head = Buffer.alloc(BATCH_HEAD_BYTES);
  head.writeBigInt64BE(BigInt(firstOffset), 0);
  head.writeInt32BE(head.length - 12 + packed.length, 8);
  head.writeInt8(2, 16);
  head.writeInt16BE(isPacked ? GZIP : 0, 21);
  head.writeInt32BE(records - 1, 23);
  head.fill(0xff, 43, 57);
  head.writeInt32BE(records, 57);
  return checksummed(Buffer.concat([head, packed]));
}

/** A record without a key, with the value `7` and so many headers, each of the bytes given. */
export function recordWithHeaders(count: number, header: readonly number[]): Buffer {
  const headers = Buffer.alloc(header.length * count, Buffer.from(header));
  const start = Buffer.from([0, 0, 0, 1, 2, '7'.charCodeAt(0), ...varInt(count)]);
  return Buffer.concat([Buffer.from(varInt(start.length + headers.length)), start, headers]);
}

/** Records that end with the bytes given: a key, a value and headers. */
export function tinyRecords(count: number, end: readonly number[]): Buffer {
  const content = Buffer.alloc(count * (end.length + 8));
  let at = 0;
  for (let delta = 0; delta < count; delta += 1) {
    const offset = varInt(delta);
    at = content.writeUInt8((2 + offset.length + end.length) * 2, at) + 2;
    for (const byte of [...offset, ...end]) {
      at = content.writeUInt8(byte, at);
    }
  }
  return content.subarray(0, at);
}

interface OldMessage {
  readonly version: 0 | 1;
  readonly key?: string | null;
  readonly value: string | Buffer | null;
  /** Only format v1 has one. */
  readonly timestamp?: number;
}

const encodeMessage = require('kafkajs/src/protocol/message') as (options: {
  version: number;
}) => (entry: object) => { readonly buffer: Buffer };

/** A message of format v0 or v1 as a broker before 0.11 stored it, by kafkajs's own encoder. */
export function oldMessage(offset: number, { version, key = null, ...fields }: OldMessage, compression = 0): Buffer {
  const { buffer } = encodeMessage({ version })({ ...fields, key, compression });
  const head = Buffer.alloc(12);
  head.writeBigInt64BE(BigInt(offset), 0);
  head.writeInt32BE(buffer.length, 8);
  return Buffer.concat([head, buffer]);
}

/** Messages compressed into one by gzip, each at its own offset inside, as the format v1 counts and v0 tells. */
export function compressedMessages(
  offset: number,
  version: 0 | 1,
  inner: readonly (readonly [number, OldMessage])[],
  timestamp = 0,
): Buffer {
  const set = Buffer.concat(inner.map(([at, message]) => oldMessage(at, message)));
  return oldMessage(offset, { version, value: gzipSync(set), timestamp }, GZIP);
}
