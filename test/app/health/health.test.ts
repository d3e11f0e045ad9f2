import { expect, test } from '@jest/globals';
import {
  aggregateStatus,
  DEFAULT_STATUS_RULES,
  httpStatusOf,
  type Status,
  statusRules,
} from '../../../app/health/health.ts';

const cases: readonly (readonly [readonly Status[], Status])[] = [
  [['UP', 'OUT_OF_SERVICE', 'DOWN'], 'DOWN'],
  [['UP', 'OUT_OF_SERVICE', 'UNKNOWN'], 'OUT_OF_SERVICE'],
  [['UNKNOWN', 'UP'], 'UP'],
  [['UNKNOWN'], 'UNKNOWN'],
  [[], 'UNKNOWN'],
];

test.each(cases)('of %j the whole is %s', (statuses, whole) => {
  expect(aggregateStatus(statuses, DEFAULT_STATUS_RULES)).toBe(whole);
});

test('only what must not be used goes out as an error', () => {
  const statuses: readonly Status[] = ['DOWN', 'OUT_OF_SERVICE', 'UP', 'UNKNOWN'];
  expect(statuses.map((status) => httpStatusOf(status, DEFAULT_STATUS_RULES))).toEqual([503, 503, 200, 200]);
});

test('an order of the settings takes the place of the usual one, and what it leaves out counts for nothing', () => {
  const rules = statusRules({ order: ['up', 'down'] }, DEFAULT_STATUS_RULES);
  expect(aggregateStatus(['DOWN', 'UP'], rules)).toBe('UP');
  expect(aggregateStatus(['OUT_OF_SERVICE', 'DOWN'], rules)).toBe('DOWN');
  expect(aggregateStatus(['OUT_OF_SERVICE'], rules)).toBe('UNKNOWN');
});

test('a mapping of the settings takes the place of the whole usual one', () => {
  const rules = statusRules({ 'http-mapping': { down: 500, unknown: 202 } }, DEFAULT_STATUS_RULES);
  const statuses: readonly Status[] = ['DOWN', 'OUT_OF_SERVICE', 'UP', 'UNKNOWN'];
  expect(statuses.map((status) => httpStatusOf(status, rules))).toEqual([500, 200, 200, 202]);
});

test('what the settings of a group leave out is as of the whole', () => {
  const whole = statusRules({ order: ['up', 'down'], 'http-mapping': { down: 500 } }, DEFAULT_STATUS_RULES);
  expect(statusRules({}, whole)).toEqual(whole);
  expect(statusRules({ 'http-mapping': {} }, whole)).toEqual(whole);
});
