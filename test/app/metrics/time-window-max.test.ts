import { expect, test } from '@jest/globals';
import { TimeWindowMax } from '../../../app/metrics/time-window-max.ts';

const MINUTE = 60_000;

/** A maximum with a clock that a test sets. */
function windowAt() {
  const clock = { now: 12_345 };
  return { clock, max: new TimeWindowMax(() => clock.now) };
}

test('without a value the maximum is 0', () => {
  expect(windowAt().max.value).toBe(0);
});

test('a peak stays for two minutes and is gone after three', () => {
  const { clock, max } = windowAt();
  max.record(0.5);
  clock.now += 2 * MINUTE;
  expect(max.value).toBe(0.5);
  clock.now += MINUTE;
  expect(max.value).toBe(0);
});

test('a smaller value after the peak becomes the maximum when the peak is forgotten', () => {
  const { clock, max } = windowAt();
  max.record(0.5);
  clock.now += 2 * MINUTE;
  max.record(0.2);
  expect(max.value).toBe(0.5);
  clock.now += MINUTE;
  expect(max.value).toBe(0.2);
});

test('a long silence forgets everything', () => {
  const { clock, max } = windowAt();
  max.record(0.5);
  clock.now += 1_000_000 * MINUTE;
  expect(max.value).toBe(0);
  max.record(0.1);
  expect(max.value).toBe(0.1);
});
