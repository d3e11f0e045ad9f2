import { expect, test } from '@jest/globals';
import { RecentSum, TimeWindowMax } from '../../../../app/metrics/exposition/time-windows.ts';

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

/** A window of a minute with a clock that a test sets. */
function minuteAt() {
  const clock = { now: 5_000 };
  return { clock, recent: new RecentSum(MINUTE, () => clock.now) };
}

test('without a value everything is 0, never "not a number"', () => {
  const { clock, recent } = minuteAt();
  const all = () => [recent.average, recent.max, recent.perSecond, recent.countPerSecond];
  expect(all()).toEqual([0, 0, 0, 0]);
  clock.now += 10 * MINUTE;
  expect(all()).toEqual([0, 0, 0, 0]);
});

test('average and maximum are of the values of the window', () => {
  const { clock, recent } = minuteAt();
  recent.add(90);
  clock.now += MINUTE;
  recent.add(10);
  recent.add(20);
  expect([recent.average, recent.max]).toEqual([15, 20]);
});

test('after a quiet window they stay at the last known ones, while the rates fall to 0', () => {
  const { clock, recent } = minuteAt();
  recent.add(30);
  recent.add(50);
  clock.now += 100 * MINUTE;
  expect([recent.average, recent.max]).toEqual([40, 50]);
  expect([recent.perSecond, recent.countPerSecond]).toEqual([0, 0]);
});

test('rates are over the whole window, and over the time since the start while that is shorter', () => {
  const { clock, recent } = minuteAt();
  clock.now += 20_000;
  recent.add(40);
  recent.add(60);
  expect([recent.perSecond, recent.countPerSecond]).toEqual([5, 0.1]);
  clock.now += 30_000;
  expect(recent.perSecond).toBe(2);
  clock.now += 500_000;
  for (let second = 0; second < 60; second += 1) {
    clock.now += 1_000;
    recent.add(7);
  }
  expect(recent.perSecond).toBeGreaterThan(6);
  expect(recent.perSecond).toBeLessThan(8);
});
