import { expect, test } from '@jest/globals';
import { partitionKey } from '../../../app/records/record.ts';

test('each partition has another key, also of more topics than keys are kept of', () => {
  const topics = Array.from({ length: 10_002 }, (_, nth) => `topic-${nth}`);
  const keysOf = (partition: number) => topics.map((topic) => partitionKey({ topic, partition }));
  const keys = [...keysOf(0), ...keysOf(2_147_483_647)];
  expect(new Set(keys).size).toBe(20_004);
  expect([...keysOf(0), ...keysOf(2_147_483_647)]).toEqual(keys);
  expect(keys.at(-1)).toBe('topic-10001/2147483647');
});
