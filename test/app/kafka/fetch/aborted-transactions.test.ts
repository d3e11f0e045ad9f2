import { expect, test } from '@jest/globals';
import { withoutAborted } from '../../../../app/kafka/fetch/fetch-answer.ts';
import type { ReadBatch } from '../../../../app/kafka/fetch/record-set.ts';
import { recordsOf } from '../../../../app/records/pack-records.ts';
import { Records } from '../../../../app/records/records.ts';
import { aRecord } from '../../stream/records.ts';

const [A, B] = [7n, 8n];

/** A batch of one record of a producer; in a transaction, but for what the changes say. */
const batch = (offset: number, producerId: bigint, changes: Partial<ReadBatch> = {}): ReadBatch => ({
  firstOffset: BigInt(offset),
  nextOffset: BigInt(offset) + 1n,
  leaderEpoch: 0,
  producerId,
  isTransactional: true,
  control: null,
  records: recordsOf([aRecord(BigInt(offset))]),
  ...changes,
});

const marker = (control: 'abort' | 'commit') => (offset: number, producerId: bigint) =>
  batch(offset, producerId, { control, records: Records.NONE });

const [abortMarker, commitMarker] = [marker('abort'), marker('commit')];

const aborted = (...transactions: readonly (readonly [producerId: bigint, firstOffset: number])[]) =>
  transactions.map(([producerId, firstOffset]) => ({ producerId, firstOffset: BigInt(firstOffset) }));

const offsets = (batches: readonly ReadBatch[], transactions: ReturnType<typeof aborted>) =>
  withoutAborted(batches, transactions).flatMap(({ records }) => [...records].map(({ offset }) => Number(offset)));

test.each([
  ['Kafka, by their ends', aborted([B, 6], [A, 5])],
  ['others, in any order', aborted([A, 5], [B, 6])],
])('a transaction within another one hides none of the other, as they are listed by %s', (_, transactions) => {
  const batches = [batch(5, A), batch(6, B), abortMarker(7, B), batch(8, A), abortMarker(9, A), batch(10, A)];
  expect(offsets(batches, transactions)).toEqual([10]);
});

test('a fetch that begins within two of them leaves out the records of both', () => {
  const batches = [batch(20, B), batch(21, A), abortMarker(22, A), abortMarker(23, B), batch(24, B)];
  expect(offsets(batches, aborted([A, 3], [B, 4]))).toEqual([24]);
});

test('a batch of several records is in a transaction as a whole, also where it begins below', () => {
  const several = batch(5, A, { nextOffset: 8n, records: recordsOf([aRecord(5n), aRecord(6n), aRecord(7n)]) });
  expect(offsets([several, abortMarker(8, A), batch(9, A)], aborted([A, 5]))).toEqual([9]);
});

test('what is in no transaction, of another producer or behind a commit is left', () => {
  const batches = [batch(1, A), batch(2, B), batch(3, A, { isTransactional: false }), abortMarker(4, A)];
  expect(offsets([...batches, commitMarker(5, B), batch(6, A), abortMarker(7, A)], aborted([A, 6], [A, 1]))).toEqual([
    2, 3,
  ]);
});

test('a batch without its records still has its range of offsets', () => {
  const [left] = withoutAborted([batch(1, A)], aborted([A, 1]));
  expect(left).toMatchObject({ firstOffset: 1n, nextOffset: 2n, records: Records.NONE });
});

test('without aborted transactions all records are left', () => {
  const batches = [batch(1, A), commitMarker(2, A)];
  expect(withoutAborted(batches, [])).toEqual(batches);
});
