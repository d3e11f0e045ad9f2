import { beforeEach, expect, test } from '@jest/globals';
import { type Figures, History, meanOf, POINTS, type Points } from '../../../../app/management/page/history.ts';
import type { Sample } from '../../../../app/metrics/exposition/metric-source.ts';
import type { ConsumerReport, PartitionReport } from '../../../../app/stream/partition/consumer-state.ts';

const STEP_MS = 10_000;
const UNKNOWN = Number.NaN;

let now: number;
let partitions: PartitionReport[];
let consumed: Map<string, number>;
let tables: Sample[];
let rows: Sample[];
let history: History;

const owned = (partition: number, lag: bigint | null): PartitionReport => ({
  ...{ topic: 'orders', partition, nextOffset: 0n, lag },
});

beforeEach(() => {
  now = 0;
  partitions = [owned(0, 0n), owned(1, 5n)];
  consumed = new Map([
    ['0', 0],
    ['1', 100],
  ]);
  tables = [];
  rows = [];
  const figures: Pick<Figures, 'recordsConsumed' | 'tableRecords' | 'rowsWritten'> = {
    recordsConsumed: () =>
      [...consumed].map(([partition, value]) => ({ labels: { topic: 'orders', partition }, value })),
    tableRecords: () => tables,
    rowsWritten: () => rows,
  };
  const report = (): ConsumerReport => ({
    ...{ state: 'running', groupId: 'orders-consumer', partitions, lastProgressAt: null, lastError: null },
  });
  history = new History({ report, figures, recordTopics: ['orders'], now: () => now });
});

function look(afterMs: number = STEP_MS): void {
  now += afterMs;
  history.look();
}

const last = (points: Points | undefined, count: number) => points?.slice(-count);

test('remembers lag and records a second of each partition, of the topic and of all', () => {
  look(0);
  consumed.set('0', 50).set('1', 300);
  partitions = [owned(0, 7n), owned(1, 8n)];
  look();
  expect(last(history.ofPartition(owned(0, 0n))?.lag, 3)).toEqual([UNKNOWN, 0, 7]);
  expect(last(history.ofPartition(owned(0, 0n))?.perSecond, 3)).toEqual([UNKNOWN, UNKNOWN, 5]);
  expect(last(history.ofPartition(owned(1, 0n))?.perSecond, 1)).toEqual([20]);
  expect(last(history.ofTopic('orders')?.lag, 2)).toEqual([5, 15]);
  expect(last(history.ofAll.perSecond, 2)).toEqual([UNKNOWN, 25]);
});

test('a lag that is not known is none, and neither is a sum with it', () => {
  look(0);
  partitions = [owned(0, null), owned(1, 8n)];
  look();
  expect(last(history.ofPartition(owned(0, null))?.lag, 2)).toEqual([0, UNKNOWN]);
  expect(last(history.ofTopic('orders')?.lag, 2)).toEqual([5, UNKNOWN]);
  expect(last(history.ofAll.lag, 2)).toEqual([5, UNKNOWN]);
});

test('keeps ten minutes, the newest last', () => {
  for (let nth = 0; nth < 3 * POINTS; nth += 1) {
    partitions = [owned(0, BigInt(nth))];
    look();
  }
  const { lag } = history.ofAll;
  expect(lag).toEqual(Array.from({ length: POINTS }, (_, index) => 2 * POINTS + index));
});

test('what is revoked is forgotten, and begins anew when it comes back', () => {
  look(0);
  partitions = [owned(1, 5n)];
  look();
  expect(history.ofPartition(owned(0, 0n))).toBeUndefined();
  partitions = [owned(0, 3n), owned(1, 5n)];
  consumed.set('0', 1_000);
  look();
  expect(last(history.ofPartition(owned(0, 0n))?.lag, 2)).toEqual([UNKNOWN, 3]);
  expect(last(history.ofPartition(owned(0, 0n))?.perSecond, 1)).toEqual([UNKNOWN]);
  partitions = [];
  look();
  expect(history.ofTopic('orders')).toBeUndefined();
  expect(last(history.ofAll.lag, 1)).toEqual([UNKNOWN]);
});

test('a process that slept knows nothing of that time, and its rate is over all of it', () => {
  look(0);
  consumed.set('1', 500);
  look(4 * STEP_MS);
  expect(last(history.ofPartition(owned(1, 0n))?.lag, 5)).toEqual([5, UNKNOWN, UNKNOWN, UNKNOWN, 5]);
  expect(last(history.ofPartition(owned(1, 0n))?.perSecond, 1)).toEqual([10]);
  look(1_000 * STEP_MS);
  expect(last(history.ofPartition(owned(1, 0n))?.lag, POINTS)).toEqual([...new Array(POINTS - 1).fill(UNKNOWN), 5]);
});

test('rows a second of a table leave out what was skipped', () => {
  const done = (operation: string, value: number): Sample => ({ labels: { table: 'shop.orders', operation }, value });
  look(0);
  tables = [done('upsert', 0), done('delete', 0), done('skip', 0)];
  rows = [{ labels: { topic: 'orders', method: 'copy' }, value: 0 }];
  look();
  tables = [done('upsert', 30), done('delete', 10), done('skip', 900)];
  rows = [
    { labels: { topic: 'orders', method: 'copy' }, value: 50 },
    { labels: { topic: 'in a table of its own', method: 'copy' }, value: 7_000 },
  ];
  look();
  expect(last(history.ofTable('shop.orders'), 1)).toEqual([4]);
  expect(last(history.ofTable('records'), 1)).toEqual([5]);
  expect(history.ofTable('nowhere')).toBeUndefined();
});

test('a mean is that of what is known, and none where nothing is', () => {
  expect(meanOf([UNKNOWN, 2, 4])).toBe(3);
  expect(meanOf([UNKNOWN])).toBeUndefined();
});
