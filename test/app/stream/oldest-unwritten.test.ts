import { expect, test } from '@jest/globals';
import { OldestUnwritten } from '../../../app/stream/oldest-unwritten.ts';
import { aRecord } from './records.ts';

const at = (seconds: number) => new Date(1_700_000_000_000 + seconds * 1_000);

const made = (offset: bigint, seconds: number) => aRecord(offset, { timestamp: BigInt(at(seconds).getTime()) });

test('without lag, or while it is not known, nobody waits', () => {
  const oldest = new OldestUnwritten();
  expect(oldest.since(0n, 5n, made(4n, 0))).toBeNull();
  expect(oldest.since(null, 5n, made(4n, 0))).toBeNull();
});

test('a record that is being written waits longer than those behind it', () => {
  const oldest = new OldestUnwritten();
  expect(oldest.since(9n, 5n, made(5n, 10))).toEqual(at(10));
  oldest.writing(made(5n, 10));
  expect(oldest.since(9n, 5n, made(6n, 20))).toEqual(at(10));
  oldest.written();
  expect(oldest.since(8n, 6n, made(6n, 20))).toEqual(at(20));
});

test('a write that failed leaves its record waiting, though nothing is fetched any more', () => {
  const oldest = new OldestUnwritten();
  oldest.writing(made(5n, 10));
  oldest.looked(3n, at(500));
  expect(oldest.since(3n, 5n, undefined)).toEqual(at(10));
});

test('a record that another writer wrote meanwhile waits no more', () => {
  const oldest = new OldestUnwritten();
  oldest.writing(made(5n, 10));
  expect(oldest.since(3n, 7n, made(7n, 30))).toEqual(at(30));
});

test('where nothing is fetched, or there is no timestamp, it is since the partition was seen behind', () => {
  const oldest = new OldestUnwritten();
  oldest.looked(0n, at(1));
  oldest.looked(2n, at(3));
  oldest.looked(4n, at(5));
  expect(oldest.since(4n, 0n, undefined)).toEqual(at(3));
  expect(oldest.since(4n, 0n, aRecord(0n, { timestamp: -1n }))).toEqual(at(3));
  oldest.written();
  oldest.looked(1n, at(9));
  expect(oldest.since(1n, 3n, undefined)).toEqual(at(9));
});
