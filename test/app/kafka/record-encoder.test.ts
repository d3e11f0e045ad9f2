import { createRequire } from 'node:module';
import { expect, test } from '@jest/globals';
import { encodeRecord } from '../../../app/kafka/record-encoder.ts';

const require = createRequire(import.meta.url);
const Decoder = require('kafkajs/src/protocol/decoder.js') as new (buffer: Buffer) => object;
const decodeRecord = require('kafkajs/src/protocol/recordBatch/record/v0/decoder.js') as (
  decoder: object,
  context: object,
) => Record<string, unknown>;

const decoded = (record: Parameters<typeof encodeRecord>[0]) =>
  decodeRecord(new Decoder((encodeRecord(record) as unknown as { buffer: Buffer }).buffer), {
    firstOffset: '0',
    firstTimestamp: '1000',
    magicByte: 2,
  });

test('a record is read by kafkajs as it was written: key, value, headers with and without a value', () => {
  const headers = [
    { key: 'zürich', value: Buffer.from('z') },
    { key: 'none', value: null },
    { key: 'empty', value: Buffer.alloc(0) },
    { key: '1', value: Buffer.from([0, 255]) },
  ];
  const record = { offsetDelta: 5, timestampDelta: 70, key: Buffer.from([0xff]), value: Buffer.from('v'), headers };
  expect(decoded(record)).toMatchObject({
    offset: '5',
    timestamp: '1070',
    key: record.key,
    value: record.value,
    headers: { zürich: Buffer.from('z'), none: null, empty: Buffer.alloc(0), '1': Buffer.from([0, 255]) },
  });
});

test('a key and a value that are not there are not empty ones', () => {
  const record = decoded({ offsetDelta: 0, timestampDelta: 0, key: null, value: null, headers: [] });
  expect(record).toMatchObject({ key: null, value: null, headers: {} });
});
