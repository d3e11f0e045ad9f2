import { isUtf8 } from 'node:buffer';
import { createRequire } from 'node:module';
import { expect, test } from '@jest/globals';
import { crc32c } from '../../../app/kafka/crc32c.ts';
import { loadKafkajs } from '../../../app/kafka/kafkajs/patches.ts';
import { encodeRecord, faultBehind, recordSetDecoder } from '../../../app/kafka/kafkajs-record-patches.ts';
import { MemoryBudget } from '../../../app/stream/memory-budget.ts';
import type { StreamRecord } from '../../../app/stream/record.ts';
import { BATCH_HEAD_BYTES, checksummed, compressedMessages, oldMessage, recordBatch } from './record-sets.ts';

const require = createRequire(import.meta.url);
const RECORDS = 1_000_000;

interface DecodedRecord {
  readonly offset: bigint;
  readonly timestamp: bigint;
  readonly value: Buffer | null;
  readonly headers: readonly { readonly key: string | Buffer }[];
}

/** What a fetch response holds for a partition, its length first, decoded by kafkajs with the patches. */
async function decoded(recordSet: Buffer): Promise<readonly DecodedRecord[]> {
  loadKafkajs();
  const decode = require('kafkajs/src/protocol/requests/fetch/v4/decodeMessages.js') as (
    decoder: unknown,
  ) => Promise<readonly DecodedRecord[]>;
  const Decoder = require('kafkajs/src/protocol/decoder.js') as new (buffer: Buffer) => { offset: number };
  const size = Buffer.alloc(4);
  size.writeInt32BE(recordSet.length);
  const decoder = new Decoder(Buffer.concat([size, recordSet, Buffer.from('the next partition')]));
  const records = await decode(decoder);
  expect(decoder.offset).toBe(size.length + recordSet.length);
  return records;
}

test('a batch of a million records is decoded whole', async () => {
  const records = await decoded(recordBatch(5, RECORDS));
  expect(records).toHaveLength(RECORDS);
  expect(records.at(-1)).toMatchObject({ offset: BigInt(RECORDS + 4), value: Buffer.from('7') });
});

test('records of several batches come in order, and a last batch that the fetch cut off is left for the next one', async () => {
  const cut = recordBatch(30, 10);
  const records = await decoded(
    Buffer.concat([recordBatch(10, 2), recordBatch(20, 3), cut.subarray(0, cut.length - 1)]),
  );
  expect(records.map(({ offset }) => Number(offset))).toEqual([10, 11, 20, 21, 22]);
});

test('a partition without records, and one whose first batch the fetch cut off within its head, have none', async () => {
  expect(await decoded(Buffer.alloc(0))).toEqual([]);
  expect(await decoded(recordBatch(0, 1).subarray(0, 30))).toEqual([]);
});

/** Bytes with one bit flipped. */
function damaged(bytes: Buffer, at: number): Buffer {
  const copy = Buffer.from(bytes);
  copy.writeUInt8(copy.readUInt8(at) ^ 1, at);
  return copy;
}

const offsets = (records: readonly DecodedRecord[]) => records.map(({ offset }) => Number(offset));

test('the checksum of any bytes is the one that kafkajs puts into what it produces', () => {
  const shipped = require('kafkajs/src/protocol/recordBatch/crc32C') as (bytes: Buffer) => number;
  const bytes = Buffer.from(Array.from({ length: 200 }, (_, at) => (at * 7_919) >>> 3));
  for (let from = 0; from <= bytes.length; from += 1) {
    expect(crc32c(bytes.subarray(from))).toBe(shipped(bytes.subarray(from)));
  }
});

test.each([
  ['its checksum', 17],
  ['its attributes', 22],
  ['its last offset', 26],
  ['its count', 60],
  ['the first byte of its records', BATCH_HEAD_BYTES],
  ['the last byte of its records', recordBatch(20, 3).length - 1],
])('a batch with a flipped bit in %s is refused and named, behind the records before it', async (_, at) => {
  const records = await decoded(
    Buffer.concat([recordBatch(10, 2), damaged(recordBatch(20, 3), at), recordBatch(30, 1)]),
  );
  expect(offsets(records)).toEqual([10, 11]);
  expect(faultBehind(records)).toMatchObject({ offset: 20n, code: 'CORRUPT_BATCH' });
  expect(faultBehind(records)?.reason).toMatch(/^its CRC-32C is [0-9a-f]+, and [0-9a-f]+ is stored with it$/);
});

test('content with the right checksum that is no record is refused as well, and does not fail the fetch', async () => {
  const batch = recordBatch(20, 1);
  batch.fill(0xff, BATCH_HEAD_BYTES);
  const records = await decoded(checksummed(batch));
  expect(records).toEqual([]);
  expect(faultBehind(records)).toMatchObject({ offset: 20n, code: 'CORRUPT_BATCH' });
});

test('a batch whose size leaves no room for its head is refused', async () => {
  const batch = recordBatch(20, 1);
  batch.writeInt32BE(-1, 8);
  const records = await decoded(batch);
  expect(faultBehind(records)).toMatchObject({ offset: 20n, reason: expect.stringContaining('its size is') });
});

test('a record format of the future is refused by its number', async () => {
  const batch = recordBatch(20, 1);
  batch.writeInt8(3, 16);
  const records = await decoded(batch);
  const reason = 'its record format is 3, and 0 to 2 are known';
  expect(faultBehind(records)).toMatchObject({ offset: 20n, nextOffset: null, code: 'UNKNOWN_RECORD_FORMAT', reason });
});

test('a batch that is whole has no fault behind it', async () => {
  expect(faultBehind(await decoded(recordBatch(20, 1)))).toBeUndefined();
});

test('messages of the formats v0 and v1 are records like others, before and behind batches of the format v2', async () => {
  const records = await decoded(
    Buffer.concat([
      oldMessage(5, { version: 0, key: 'k', value: '0' }),
      oldMessage(6, { version: 1, value: null, timestamp: 1_234 }),
      recordBatch(7, 1),
      oldMessage(8, { version: 1, value: '3', timestamp: 1_235 }),
    ]),
  );
  expect(faultBehind(records)).toBeUndefined();
  expect(offsets(records)).toEqual([5, 6, 7, 8]);
  const old = { headers: [], isControlRecord: false, batchContext: { producerId: '-1', inTransaction: false } };
  expect(records[0]).toEqual({ ...old, offset: 5n, timestamp: -1n, key: Buffer.from('k'), value: Buffer.from('0') });
  expect(records[1]).toEqual({ ...old, offset: 6n, timestamp: 1_234n, key: null, value: null });
});

test('compressed messages have the offsets inside in the format v0, and those up to the one outside in v1', async () => {
  const of = (version: 0 | 1, value: string) => ({ version, value, timestamp: 5 });
  const records = await decoded(
    Buffer.concat([
      compressedMessages(11, 0, [
        [10, of(0, 'a')],
        [11, of(0, 'b')],
      ]),
      compressedMessages(23, 1, [
        [0, of(1, 'c')],
        [3, of(1, 'd')],
      ]),
    ]),
  );
  expect(offsets(records)).toEqual([10, 11, 20, 23]);
  expect(records.map(({ value }) => String(value)).join('')).toBe('abcd');
  expect(records.map(({ timestamp }) => Number(timestamp))).toEqual([-1, -1, 5, 5]);
});

test.each([
  ['a message with a flipped bit', damaged(oldMessage(6, { version: 1, value: 'value', timestamp: 1 }), 36)],
  ['a compressed message that holds none', compressedMessages(6, 1, [])],
  ['a compressed message that holds another format', compressedMessages(6, 1, [[0, { version: 0, value: '1' }]])],
])('%s is refused and named, behind the messages before it', async (_, message) => {
  const records = await decoded(Buffer.concat([oldMessage(5, { version: 1, value: '1', timestamp: 1 }), message]));
  expect(offsets(records)).toEqual([5]);
  expect(faultBehind(records)).toMatchObject({ offset: 6n, code: 'CORRUPT_BATCH' });
});

test('a key of a header is text when it is UTF-8, a replacement character too, and else its bytes', async () => {
  const keys = [Buffer.from('zürich'), Buffer.from('\ufffd'), Buffer.from([0x6b, 0xff]), Buffer.alloc(0)];
  const [record] = await decoded(recordBatch(0, 1, keys));
  expect(record?.headers.map(({ key }) => key)).toEqual(['zürich', '\ufffd', Buffer.from([0x6b, 0xff]), '']);
});

interface Decoder {
  readInt8(): number;
  readVarInt(): number;
  readVarLong(): { toString(): string };
  readVarIntBytes(): Buffer | null;
  readVarIntArray(decode: (decoder: Decoder) => unknown): readonly unknown[];
  canReadBytes(bytes: number): boolean;
}

const KafkajsDecoder = require('kafkajs/src/protocol/decoder.js') as new (buffer: Buffer) => Decoder;

/** The fields in the order of the record format, read by kafkajs's decoder. */
function readBack(record: Parameters<typeof encodeRecord>[0]) {
  const { buffer } = encodeRecord(record) as unknown as { buffer: Buffer };
  const decoder = new KafkajsDecoder(buffer);
  const length = decoder.readVarInt();
  const attributes = decoder.readInt8();
  const timestampDelta = Number(decoder.readVarLong().toString());
  const offsetDelta = decoder.readVarInt();
  const [key, value] = [decoder.readVarIntBytes(), decoder.readVarIntBytes()];
  const headers = decoder.readVarIntArray((of) => {
    const [key, value] = [of.readVarIntBytes(), of.readVarIntBytes()];
    return { key: key && isUtf8(key) ? key.toString() : key, value };
  });
  const isAtEnd = !decoder.canReadBytes(1);
  return { length, attributes, timestampDelta, offsetDelta, key, value, headers, isAtEnd, bytes: buffer.length };
}

test('a record has key, value and headers as they were given: order, repetitions and missing values too', () => {
  const headers = [
    { key: 'zürich', value: Buffer.from('z') },
    { key: '2', value: null },
    { key: 'zürich', value: Buffer.alloc(0) },
    { key: '1', value: Buffer.from([0, 255]) },
    { key: Buffer.from([0x6b, 0xff]), value: null },
  ];
  const record = { offsetDelta: 5, timestampDelta: 70, key: Buffer.from([0xff]), value: Buffer.from('v'), headers };
  expect(readBack(record)).toMatchObject({ ...record, attributes: 0, isAtEnd: true });
});

test('a key and a value that are not there are not empty ones', () => {
  const record = { offsetDelta: 0, timestampDelta: 0, key: null, value: null, headers: [] };
  expect(readBack(record)).toMatchObject({ key: null, value: null, headers: [], isAtEnd: true });
});

test('the length that a record begins with is that of all that follows', () => {
  const value = Buffer.alloc(1_000);
  const { length, bytes } = readBack({ offsetDelta: 0, timestampDelta: 0, key: null, value, headers: [] });
  expect(length).toBe(bytes - 2);
});

/** Record sets of partitions in one response, decoded one after the other within a memory budget. */
async function decodedWithin(
  memory: MemoryBudget,
  sets: readonly Buffer[],
): Promise<readonly (readonly StreamRecord[])[]> {
  loadKafkajs();
  const decode = recordSetDecoder(memory);
  const Decoder = require('kafkajs/src/protocol/decoder.js') as new (buffer: Buffer) => Parameters<typeof decode>[0];
  const decoder = new Decoder(Buffer.concat(sets.flatMap((set) => [lengthOf(set), set])));
  const records: (readonly StreamRecord[])[] = [];
  for (const _ of sets) records.push(await decode(decoder));
  return records;
}

function lengthOf(set: Buffer): Buffer {
  const size = Buffer.alloc(4);
  size.writeInt32BE(set.length);
  return size;
}

test('the batch that fills the memory for a response is its last one, for all of its partitions; the first is always read', async () => {
  const set = Buffer.concat([recordBatch(0, 10), recordBatch(10, 10)]);
  const roomy = await decodedWithin(new MemoryBudget(), [set, set]);
  expect(roomy.map(({ length }) => length)).toEqual([20, 20]);
  const narrow = await decodedWithin(new MemoryBudget(1), [set, set]);
  expect(narrow.map(({ length }) => length)).toEqual([10, 0]);
  expect(narrow[0]?.at(-1)?.offset).toBe(9n);
});

test('a record keeps no more in memory than the batch that it came in', async () => {
  // Larger than what Node.js takes from a slab that it shares out.
  const batch = recordBatch(0, 10_000);
  expect(batch.length).toBeGreaterThan(Buffer.poolSize);
  const [records] = await decodedWithin(new MemoryBudget(), [Buffer.concat([batch, recordBatch(10_000, 10_000)])]);
  expect(records?.[0]?.value?.buffer.byteLength).toBeLessThanOrEqual(batch.length);
});
