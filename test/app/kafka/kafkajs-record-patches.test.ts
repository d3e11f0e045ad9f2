import { isUtf8 } from 'node:buffer';
import { createRequire } from 'node:module';
import { expect, test } from '@jest/globals';
import { loadKafkajs } from '../../../app/kafka/kafkajs/patches.ts';
import { encodeRecord, faultBehind } from '../../../app/kafka/kafkajs-record-patches.ts';
import type { Records } from '../../../app/records/records.ts';
import { checksummed, recordBatch } from './fetch/record-sets.ts';

const require = createRequire(import.meta.url);

interface Decoder {
  readonly offset: number;
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

interface Mark {
  readonly offset: bigint;
  readonly records: Records;
}

/** What a fetch response holds for a partition, its length first, decoded by kafkajs with the patches. */
async function decoded(recordSet: Buffer): Promise<readonly Mark[]> {
  loadKafkajs();
  const decode = require('kafkajs/src/protocol/requests/fetch/v4/decodeMessages.js') as (
    decoder: unknown,
  ) => Promise<readonly Mark[]>;
  const size = Buffer.alloc(4);
  size.writeInt32BE(recordSet.length);
  const decoder = new KafkajsDecoder(Buffer.concat([size, recordSet, Buffer.from('the next partition')]));
  const marks = await decode(decoder);
  expect(decoder.offset).toBe(size.length + recordSet.length);
  return marks;
}

test('kafkajs gets a mark for each batch, at its last offset, and the fault behind them', async () => {
  const broken = recordBatch(20, 1);
  broken.fill(0xff, 61);
  const marks = await decoded(Buffer.concat([recordBatch(5, 2), recordBatch(9, 3), checksummed(broken)]));
  expect(marks.map(({ offset, records }) => [offset, records.length])).toEqual([
    [6n, 2],
    [11n, 3],
  ]);
  expect(faultBehind(marks)).toMatchObject({ offset: 20n, code: 'CORRUPT_BATCH' });
});

test('a partition without records has no mark', async () => {
  expect(await decoded(Buffer.alloc(0))).toEqual([]);
});
