import { expect, test } from '@jest/globals';
import { StallWatch } from '../../../app/stream/stall-watch.ts';

const at = (seconds: number) => new Date(seconds * 1_000);

/** A watch with a time-out of 60 s, looked at every 5 s from 0 s on with the lag given. */
function watchUntil(end: number, lagAt: (second: number) => bigint): StallWatch {
  const watch = new StallWatch(60_000, at(0));
  for (let second = 0; second <= end; second += 5) {
    watch.looked(lagAt(second), at(second));
  }
  return watch;
}

test('lag without progress for longer than the time-out is a stall, from when it last moved', () => {
  const watch = watchUntil(65, () => 9n);
  expect(watch.stalledSince(9n, at(60))).toBeNull();
  expect(watch.stalledSince(9n, at(66))).toEqual(at(0));
});

test('progress begins the time anew', () => {
  const watch = watchUntil(65, () => 9n);
  watch.moved(at(50));
  expect(watch.stalledSince(9n, at(66))).toBeNull();
});

test('time without lag does not count: the first record after a quiet hour is no stall', () => {
  const watch = watchUntil(3_600, (second) => (second < 3_590 ? 0n : 1n));
  expect(watch.stalledSince(1n, at(3_601))).toBeNull();
});

test('a partition without lag, or whose lag is unknown, is not stalled', () => {
  const watch = watchUntil(65, () => 9n);
  expect(watch.stalledSince(0n, at(66))).toBeNull();
  expect(watch.stalledSince(null, at(66))).toBeNull();
});

test('nobody is stalled while the log cannot be looked at, nor right after', () => {
  const watch = watchUntil(65, () => 9n);
  expect(watch.stalledSince(9n, at(90))).toBeNull();
  watch.looked(9n, at(90));
  expect(watch.stalledSince(9n, at(91))).toBeNull();
});
