import { expect, test } from '@jest/globals';
import { OldestUnwritten } from '../../../app/stream/partition/lag.ts';
import type { FetchedRecord } from '../../../app/stream/partition/record-queue.ts';

const timeOf = (seconds: number) => new Date(1_700_000_000_000 + seconds * 1_000);
const NOW = { now: timeOf(1_000), timeOfDayNow: timeOf(1_000) };

const made = (offset: bigint, seconds: number, fetched = 900): FetchedRecord => ({
  offset,
  timestamp: BigInt(timeOf(seconds).getTime()),
  fetchedAt: timeOf(fetched),
});

test('without lag, or while it is not known, nobody waits', () => {
  const oldest = new OldestUnwritten();
  expect(oldest.since(0n, 5n, made(4n, 0), NOW)).toBeNull();
  expect(oldest.since(null, 5n, made(4n, 0), NOW)).toBeNull();
});

test('a record that is being written waits longer than those behind it', () => {
  const oldest = new OldestUnwritten();
  expect(oldest.since(9n, 5n, made(5n, 10), NOW)).toEqual(timeOf(10));
  oldest.writing(made(5n, 10));
  expect(oldest.since(9n, 5n, made(6n, 20), NOW)).toEqual(timeOf(10));
  oldest.written();
  expect(oldest.since(8n, 6n, made(6n, 20), NOW)).toEqual(timeOf(20));
});

test('a write that failed leaves its record waiting, though nothing is fetched any more', () => {
  const oldest = new OldestUnwritten();
  oldest.writing(made(5n, 10));
  oldest.looked(3n, timeOf(500));
  expect(oldest.since(3n, 5n, undefined, NOW)).toEqual(timeOf(10));
});

test('a write that is tried again and again leaves its record waiting since the first fetch', () => {
  const oldest = new OldestUnwritten();
  const tried = (fetched: number) => ({ ...made(5n, 0, fetched), timestamp: -1n });
  oldest.writing(tried(700));
  oldest.writing(tried(900));
  expect(oldest.since(3n, 5n, tried(990), NOW)).toEqual(timeOf(700));
  oldest.written();
  oldest.writing({ ...tried(950), offset: 6n });
  expect(oldest.since(3n, 6n, undefined, NOW)).toEqual(timeOf(950));
});

test('a record that another writer wrote meanwhile waits no more', () => {
  const oldest = new OldestUnwritten();
  oldest.writing(made(5n, 10));
  expect(oldest.since(3n, 7n, made(7n, 30), NOW)).toEqual(timeOf(30));
});

test('where nothing is fetched, it is since the partition was seen behind', () => {
  const oldest = new OldestUnwritten();
  oldest.looked(0n, timeOf(1));
  oldest.looked(2n, timeOf(3));
  oldest.looked(4n, timeOf(5));
  expect(oldest.since(4n, 0n, undefined, NOW)).toEqual(timeOf(3));
  oldest.written();
  oldest.looked(1n, timeOf(9));
  expect(oldest.since(1n, 3n, undefined, NOW)).toEqual(timeOf(9));
});

test.each([
  ['no timestamp', -1n],
  ['one in the future', BigInt(timeOf(10_000).getTime())],
  ['one between its fetch and now', BigInt(timeOf(950).getTime())],
  ['one beyond all dates', 8_640_000_000_000_001n],
  ['the largest that a record can have', 2n ** 63n - 1n],
])('a record with %s waits since its fetch', (_name, timestamp) => {
  const oldest = new OldestUnwritten();
  expect(oldest.since(4n, 0n, { offset: 0n, timestamp, fetchedAt: timeOf(900) }, NOW)).toEqual(timeOf(900));
});

test('a clock that is set changes nothing about how long a record has been waiting since its fetch', () => {
  const set = { now: timeOf(1_000), timeOfDayNow: timeOf(4_600) };
  const record = { ...made(0n, 0), timestamp: -1n };
  expect(new OldestUnwritten().since(4n, 0n, record, set)).toEqual(timeOf(4_500));
});
