import { createRequire } from 'node:module';
import { expect, test } from '@jest/globals';
import { loadKafkajs } from '../../../app/kafka/kafkajs-patches.ts';
import { encodeRecord } from '../../../app/kafka/kafkajs-record-patches.ts';

const require = createRequire(import.meta.url);
const RECORDS = 1_000_000;

interface DecodedRecord {
  readonly offset: bigint;
  readonly value: Buffer | null;
}

function varInt(value: number): number[] {
  const bytes: number[] = [];
  let rest = value * 2;
  for (; rest > 0x7f; rest = Math.floor(rest / 0x80)) {
    bytes.push((rest & 0x7f) | 0x80);
  }
  return [...bytes, rest];
}

/** A record of record format v2: no key, no headers, the value `7`. */
function record(offsetDelta: number): number[] {
  const body = [0, 0, ...varInt(offsetDelta), 1, 2, '7'.charCodeAt(0), 0];
  return [...varInt(body.length), ...body];
}

/** A batch of record format v2 as a fetch brings it, uncompressed. */
function recordBatch(firstOffset: number, records: number): Buffer {
  const content = Buffer.concat(Array.from({ length: records }, (_, delta) => Buffer.from(record(delta))));
  const head = Buffer.alloc(61);
  head.writeBigInt64BE(BigInt(firstOffset), 0);
  head.writeInt32BE(head.length - 12 + content.length, 8);
  head.writeInt8(2, 16);
  head.writeInt32BE(records - 1, 23);
  head.writeInt32BE(records, 57);
  return Buffer.concat([head, content]);
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

test('a message set, the format of brokers before 0.11, is still decoded', async () => {
  const encode = require('kafkajs/src/protocol/messageSet') as (set: object) => { readonly buffer: Buffer };
  const { buffer } = encode({ messageVersion: 1, entries: [{ key: null, value: '7', timestamp: 1 }] });
  expect(await decoded(buffer)).toEqual([expect.objectContaining({ value: Buffer.from('7') })]);
});

interface Decoder {
  readInt8(): number;
  readVarInt(): number;
  readVarLong(): { toString(): string };
  readVarIntBytes(): Buffer | null;
  readVarIntArray(decode: unknown): readonly unknown[];
  canReadBytes(bytes: number): boolean;
}

const KafkajsDecoder = require('kafkajs/src/protocol/decoder.js') as new (buffer: Buffer) => Decoder;
const decodeHeader: unknown = require('kafkajs/src/protocol/recordBatch/header/v0/decoder.js');

/** The fields in the order of the record format, read by kafkajs's decoder. */
function readBack(record: Parameters<typeof encodeRecord>[0]) {
  const { buffer } = encodeRecord(record) as unknown as { buffer: Buffer };
  const decoder = new KafkajsDecoder(buffer);
  const length = decoder.readVarInt();
  const attributes = decoder.readInt8();
  const timestampDelta = Number(decoder.readVarLong().toString());
  const offsetDelta = decoder.readVarInt();
  const [key, value] = [decoder.readVarIntBytes(), decoder.readVarIntBytes()];
  const headers = decoder.readVarIntArray(decodeHeader);
  const isAtEnd = !decoder.canReadBytes(1);
  return { length, attributes, timestampDelta, offsetDelta, key, value, headers, isAtEnd, bytes: buffer.length };
}

test('a record has key, value and headers as they were given: order, repetitions and missing values too', () => {
  const headers = [
    { key: 'zürich', value: Buffer.from('z') },
    { key: '2', value: null },
    { key: 'zürich', value: Buffer.alloc(0) },
    { key: '1', value: Buffer.from([0, 255]) },
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
