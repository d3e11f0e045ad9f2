import { expect, test } from '@jest/globals';
import { UpTime } from '../../../app/health/up-time.ts';

const LONGEST_PAUSE_MS = 10_000;

test('a part has been reachable since the first of its results that were UP', () => {
  const upTime = new UpTime(LONGEST_PAUSE_MS);
  expect(upTime.ms(0)).toBe(0);
  upTime.result('DOWN', 1_000);
  expect(upTime.ms(1_500)).toBe(0);
  upTime.result('UP', 3_000);
  upTime.result('UP', 8_000);
  expect(upTime.ms(9_000)).toBe(6_000);
  upTime.result('DOWN', 10_000);
  upTime.result('UP', 11_000);
  expect(upTime.ms(12_000)).toBe(1_000);
});

test('results that lie further apart than checks do, as when the process was frozen, begin anew', () => {
  const upTime = new UpTime(LONGEST_PAUSE_MS);
  upTime.result('UP', 1_000);
  expect(upTime.ms(11_000)).toBe(10_000);
  expect(upTime.ms(11_001)).toBe(0);
  upTime.result('UP', 11_001);
  expect(upTime.ms(12_001)).toBe(1_000);
});
