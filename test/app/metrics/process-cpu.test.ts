import { expect, test } from '@jest/globals';
import { processSources } from '../../../app/metrics/process-cpu.ts';

const current = (source: () => readonly { value: number }[]) => source()[0]?.value ?? Number.NaN;

test('the share of the processors is between 0 and 1 from the first reading on', () => {
  const { cpuUsage } = processSources();
  const share = current(cpuUsage);
  expect(share).toBeGreaterThan(0);
  expect(share).toBeLessThanOrEqual(1);
});

test('readings in quick succession repeat the share instead of guessing it from a moment', () => {
  const { cpuUsage } = processSources();
  expect(current(cpuUsage)).toBe(current(cpuUsage));
});

test('start and uptime are in seconds and together give the present', () => {
  const { startTime, uptime } = processSources();
  expect(Math.abs(current(startTime) + current(uptime) - Date.now() / 1_000)).toBeLessThan(2);
});
