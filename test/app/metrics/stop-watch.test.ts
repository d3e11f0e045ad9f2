import { expect, test } from '@jest/globals';
import { StopWatch } from '../../../app/metrics/stop-watch.ts';

test('adds up the times between start and stop, and counts while it runs', () => {
  const clock = { now: 1_000 };
  const watch = new StopWatch(() => clock.now);
  clock.now += 5_000;
  expect(watch.seconds).toBe(0);
  watch.start();
  clock.now += 2_000;
  expect(watch.seconds).toBe(2);
  watch.start();
  clock.now += 1_000;
  watch.stop();
  watch.stop();
  clock.now += 60_000;
  expect(watch.seconds).toBe(3);
  watch.start();
  clock.now += 500;
  expect(watch.seconds).toBe(3.5);
});
