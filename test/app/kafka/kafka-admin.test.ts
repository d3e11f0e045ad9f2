import { expect, test } from '@jest/globals';
import { retentionIn } from '../../../app/kafka/kafka-admin.ts';

test.each<[string | null, string | null, number | null]>([
  ['604800000', 'delete', 604_800_000],
  ['604800000', 'compact,delete', 604_800_000],
  ['604800000', 'delete, compact', 604_800_000],
  ['0', 'delete', 0],
  ['604800000', 'compact', null],
  ['-1', 'delete', null],
  [null, 'delete', null],
  ['', 'delete', null],
  ['604800000', null, null],
])('a topic with retention.ms %s and cleanup.policy %s deletes records by time: %s', (ms, policy, expected) => {
  const entries = [
    { configName: 'cleanup.policy', configValue: policy },
    { configName: 'retention.ms', configValue: ms },
  ];
  expect(retentionIn(entries)).toBe(expected);
});

test('a broker that does not answer one of the two leaves it open', () => {
  expect(retentionIn([{ configName: 'retention.ms', configValue: '1' }])).toBeNull();
  expect(retentionIn([{ configName: 'cleanup.policy', configValue: 'delete' }])).toBeNull();
});
