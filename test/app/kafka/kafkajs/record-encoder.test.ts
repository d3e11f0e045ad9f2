import { isUtf8 } from 'node:buffer';
import { createRequire } from 'node:module';
import { expect, test } from '@jest/globals';
import { encodeRecord } from '../../../../app/kafka/kafkajs/patches.ts';

const require = createRequire(import.meta.url);

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
