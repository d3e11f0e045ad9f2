import { expect, test } from '@jest/globals';
import { nearestKey } from '../../settings/problem.ts';

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

test('nothing is near when nothing is known', () => {
  expect(nearestKey('port', [])).toBeUndefined();
});
