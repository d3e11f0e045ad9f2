import { createRequire } from 'node:module';
import { expect, test } from '@jest/globals';
import { type FetchedRecord, withoutAborted } from '../../../app/kafka/aborted-records.ts';
import { loadKafkajs } from '../../../app/kafka/kafkajs/patches.ts';

const require = createRequire(import.meta.url);

const [A, B] = ['7', '8'];
const ZERO = Buffer.alloc(4);

/** A record of a producer; in a transaction, but for what the changes say. */
const record = (offset: number, producerId: string, changes: Partial<FetchedRecord> = {}): FetchedRecord => ({
  offset: BigInt(offset),
  key: null,
  isControlRecord: false,
  batchContext: { producerId, inTransaction: true },
  ...changes,
});

const abortMarker = (offset: number, producerId: string) =>
  record(offset, producerId, { key: ZERO, isControlRecord: true });

const commitMarker = (offset: number, producerId: string) =>
  record(offset, producerId, { key: Buffer.from([0, 0, 0, 1]), isControlRecord: true });

const aborted = (...transactions: readonly (readonly [producerId: string, firstOffset: number])[]) =>
  transactions.map(([producerId, firstOffset]) => ({ producerId, firstOffset: String(firstOffset) }));

const offsets = (messages: readonly FetchedRecord[], abortedTransactions: ReturnType<typeof aborted>) =>
  withoutAborted({ messages, abortedTransactions })
    .filter(({ isControlRecord }) => !isControlRecord)
    .map(({ offset }) => Number(offset));

test('a transaction within another one, which brokers list first since it ended first, hides none of the other', () => {
  const messages = [record(5, A), record(6, B), abortMarker(7, B), record(8, A), abortMarker(9, A), record(10, A)];
  expect(offsets(messages, aborted([B, 6], [A, 5]))).toEqual([10]);
});

test('a fetch that begins within two of them leaves out the records of both', () => {
  const messages = [record(20, B), record(21, A), abortMarker(22, A), abortMarker(23, B), record(24, B)];
  expect(offsets(messages, aborted([A, 3], [B, 4]))).toEqual([24]);
});

test('a record whose key has the bytes of an abort marker, as an integer of 0 has, ends nothing', () => {
  const messages = [record(1, A, { key: ZERO }), record(2, A), abortMarker(3, A), record(4, A, { key: ZERO })];
  expect(offsets(messages, aborted([A, 1]))).toEqual([4]);
});

test('what is in no transaction, of another producer or behind a commit is left', () => {
  const plain = { batchContext: { producerId: A, inTransaction: false } };
  const messages = [record(1, A), record(2, B), record(3, A, plain), abortMarker(4, A), commitMarker(5, B)];
  expect(offsets([...messages, record(6, A), abortMarker(7, A)], aborted([A, 6], [A, 1]))).toEqual([2, 3]);
});

test('without aborted transactions all records are left', () => {
  const messages = [record(1, A), commitMarker(2, A)];
  expect(withoutAborted({ messages, abortedTransactions: null })).toEqual(messages);
  expect(withoutAborted({ messages })).toEqual(messages);
});

test("the consumer's batches are filtered by it", () => {
  loadKafkajs();
  const Batch = require('kafkajs/src/consumer/batch.js') as new (
    topic: string,
    fetchedOffset: string,
    data: object,
  ) => { readonly messages: readonly FetchedRecord[] };
  const messages = [record(1, A, { key: ZERO }), record(2, A), abortMarker(3, A), record(4, B)];
  const data = { partition: 0, highWatermark: '5', abortedTransactions: aborted([A, 1]), messages };
  expect(new Batch('orders', '1', data).messages.map(({ offset }) => offset)).toEqual([4n]);
});
