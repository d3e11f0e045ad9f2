import { describe, expect, test } from '@jest/globals';
import { progressLine, Rate, statusLine } from '../../../dev/start/progress.ts';
import type { Positions } from '../../../dev/verdict/positions.ts';

const at = (next: [number, bigint][], deadLetters: bigint): Positions => ({
  next: new Map(next),
  start: new Map([
    [0, 100n],
    [1, 0n],
  ]),
  end: new Map([
    [0, 2_600n],
    [1, 50n],
  ]),
  deadLetters,
});

const first = at([[1, 10n]], 2n);
const now = at(
  [
    [0, 1_600n],
    [1, 30n],
  ],
  7n,
);
const known = {
  produced: 2_540,
  positions: now,
  tables: [],
  replica: undefined,
  silent: undefined,
  perSecond: 499.6,
};
const unknown = {
  produced: 2_540,
  positions: undefined,
  tables: [],
  replica: undefined,
  silent: 'PostgreSQL',
  perSecond: undefined,
} as const;

describe('the line of progress', () => {
  test('counts what came after the first look, dead letters apart, and what is still to come', () => {
    expect(progressLine(first, known)).toBe('produced 2,540   in the table 1,515   dead letters 5   lag 1,020');
  });

  test('tells the rows of the tables behind all else', () => {
    const tables = [
      { table: 'orders', rows: 1_500n },
      { table: 'customers', rows: 845n },
    ];
    expect(progressLine(first, { ...known, tables })).toMatch(/lag 1,020 {3}orders 1,500 rows {3}customers 845 rows$/);
    expect(statusLine(first, { ...known, tables, health: 'UP' })).toMatch(
      /in the table 1,515 {3}orders 1,500 rows {3}customers 845 rows {3}produced 2,540$/,
    );
  });

  test('counts the changes at a source and its events that are not in the replica yet', () => {
    const replica = { changes: 1_200, ahead: 12n };
    expect(progressLine(first, { ...known, replica })).toMatch(
      /lag 1,020 {3}changes at the source 1,200 {3}events ahead 12$/,
    );
  });

  test('tells no number that is not known', () => {
    expect(progressLine(first, unknown)).toBe('produced 2,540   PostgreSQL does not answer');
  });
});

describe('the line of a terminal', () => {
  test('tells health, rate, lag and dead letters first', () => {
    expect(statusLine(first, { ...known, health: 'UP' })).toBe(
      'health UP   500 records/s   lag 1,020   dead letters 5   in the table 1,515   produced 2,540',
    );
  });

  test('tells no number that is not known', () => {
    expect(statusLine(first, { ...unknown, health: undefined })).toBe(
      'health does not answer   PostgreSQL does not answer   produced 2,540',
    );
  });
});

test('the rate is that of the last five seconds, and not known at the first look', () => {
  const clock = { now: 0 };
  const rate = new Rate(() => clock.now);
  expect(rate.of(1_000n)).toBeUndefined();
  for (clock.now = 500; clock.now <= 10_000; clock.now += 500) {
    rate.of(1_000n);
  }
  expect(rate.of(3_500n)).toBe(500);
});
