import { expect, test } from '@jest/globals';
import { aggregateStatus, httpStatusOf, type Status } from '../../../app/health/status.ts';

const cases: readonly (readonly [readonly Status[], Status])[] = [
  [['UP', 'OUT_OF_SERVICE', 'DOWN'], 'DOWN'],
  [['UP', 'OUT_OF_SERVICE', 'UNKNOWN'], 'OUT_OF_SERVICE'],
  [['UNKNOWN', 'UP'], 'UP'],
  [['UNKNOWN'], 'UNKNOWN'],
  [[], 'UNKNOWN'],
];

test.each(cases)('of %j the whole is %s', (statuses, whole) => {
  expect(aggregateStatus(statuses)).toBe(whole);
});

test('only what must not be used goes out as an error', () => {
  const statuses: readonly Status[] = ['DOWN', 'OUT_OF_SERVICE', 'UP', 'UNKNOWN'];
  expect(statuses.map(httpStatusOf)).toEqual([503, 503, 200, 200]);
});
