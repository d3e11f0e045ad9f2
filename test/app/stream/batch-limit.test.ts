import { expect, test } from '@jest/globals';
import { BatchLimit } from '../../../app/stream/batch-limit.ts';

test('each failure halves what is taken, down to one record; each commit doubles it, up to the setting', () => {
  const limit = new BatchLimit(1_000);
  expect(limit.records).toBe(1_000);
  limit.failed(500);
  expect(limit.records).toBe(250);
  limit.failed(1);
  expect(limit.records).toBe(1);
  for (let commits = 0; commits < 12; commits += 1) limit.committed();
  expect(limit.records).toBe(1_000);
});

test('a failure without records leaves one', () => {
  const limit = new BatchLimit(10);
  limit.failed(0);
  expect(limit.records).toBe(1);
});
