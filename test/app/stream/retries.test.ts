import { expect, test } from '@jest/globals';
import { backoffMs } from '../../../app/stream/backoff.ts';

test.each([
  [1, 50, 100],
  [2, 100, 200],
  [4, 400, 800],
  [7, 2_500, 5_000],
  [1_000, 2_500, 5_000],
])('attempt %i waits between %i and %i ms', (attempt, least, most) => {
  expect(backoffMs(attempt, () => 0)).toBe(least);
  expect(backoffMs(attempt, () => 1)).toBe(most);
});
