import { expect, test } from '@jest/globals';
import { ProcessStart } from '../../../../app/metrics/process/process.ts';

const current = (source: () => readonly { value: number }[]) => source()[0]?.value ?? Number.NaN;

test('start and uptime are in seconds and together give the present', () => {
  const { startTime, uptime } = new ProcessStart({ version: '1.2.3' }).sources;
  expect(Math.abs(current(startTime) + current(uptime) - Date.now() / 1_000)).toBeLessThan(2);
});
