import { expect, test } from '@jest/globals';
import { processCpuSources } from '../../../../app/metrics/process/process.ts';

const current = (source: () => readonly { value: number }[]) => source()[0]?.value ?? Number.NaN;

test('the share of the processors is between 0 and 1 from the first reading on', () => {
  const { cpuUsage } = processCpuSources();
  const share = current(cpuUsage);
  expect(share).toBeGreaterThan(0);
  expect(share).toBeLessThanOrEqual(1);
});

test('readings in quick succession repeat the share instead of guessing it from a moment', () => {
  const { cpuUsage } = processCpuSources();
  expect(current(cpuUsage)).toBe(current(cpuUsage));
});
