import { expect, test } from '@jest/globals';
import { nearestKey } from '../../../settings/schema/problem.ts';

const KNOWN = ['brokers', 'topics', 'groupId', 'clientId', 'sessionTimeout', 'ssl'];

test.each([
  ['group-id', 'groupId'],
  ['GROUP_ID', 'groupId'],
  ['groupid', 'groupId'],
  ['broker', 'brokers'],
  ['bootstrapBrokers', undefined],
  ['topik', 'topics'],
  ['session', 'sessionTimeout'],
  ['sslEnabled', 'ssl'],
  ['password', undefined],
  ['x', undefined],
  ['---', undefined],
])('%s is near to %s', (unknown, expected) => {
  expect(nearestKey(unknown, KNOWN)).toBe(expected);
});

test('a name of two letters is not near to all that begin with them', () => {
  expect(nearestKey('topologySpreadConstraints', ['to', 'as'])).toBeUndefined();
});

test('within a smaller share of the letters neither a likeness nor a beginning is enough', () => {
  expect(nearestKey('broker', ['brokers'], 0.2)).toBe('brokers');
  expect(nearestKey('topik', KNOWN, 0.2)).toBeUndefined();
  expect(nearestKey('session', KNOWN, 0.2)).toBeUndefined();
});

test('nothing is near when nothing is known', () => {
  expect(nearestKey('port', [])).toBeUndefined();
});
