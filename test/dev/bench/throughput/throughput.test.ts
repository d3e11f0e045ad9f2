import { expect, test } from '@jest/globals';
import { inTurn, median } from '../../../../dev/bench/throughput/throughput.ts';

test.each([
  [[3, 1, 2], 2],
  [[4, 1, 3, 2], 2.5],
  [[10, 9], 9.5],
  [[7], 7],
  [[], Number.NaN],
])('the median of %p is %p', (values, expected) => {
  expect(median(values)).toBe(expected);
});

test('each other repeat goes through the programs backwards, with their numbers', () => {
  const programs = ['a', 'b'].map((title) => ({ title, start: () => Promise.reject(new Error(title)) }));
  const order = (repeat: number) => inTurn(programs, repeat).map(([nth, { title }]) => `${nth} ${title}`);
  expect([order(1), order(2), order(3)]).toEqual([
    ['0 a', '1 b'],
    ['1 b', '0 a'],
    ['0 a', '1 b'],
  ]);
});
