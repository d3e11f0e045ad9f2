import { expect, test } from '@jest/globals';
import { RestartPace } from '../../../app/kafka/restart-pace.ts';

/** A clock on which only waits and `pass` take time; the waits are kept. */
function aClock() {
  let now = 0;
  const waits: number[] = [];
  const time = () => new Date(now);
  const wait = async (ms: number) => {
    waits.push(ms);
    now += ms;
  };
  const pass = (ms: number) => {
    now += ms;
  };
  return { clock: { now: time, steady: time, wait }, waits, pass };
}

const { signal } = new AbortController();

test('the first crash is followed by a restart at once, those after it by longer and longer pauses, of 5 s at most', async () => {
  const { clock, waits, pass } = aClock();
  const pace = new RestartPace(clock);
  for (let crash = 0; crash < 12; crash += 1) {
    await pace.afterCrash(signal);
    pass(1);
  }
  expect(waits).toHaveLength(11);
  const bounds = waits.map((_, nth) => Math.min(5_000, 100 * 2 ** nth));
  expect(waits.every((ms, nth) => ms > (bounds[nth] ?? 0) / 2 - 2 && ms <= (bounds[nth] ?? 0))).toBe(true);
  expect(Math.max(...waits)).toBeGreaterThan(2_400);
});

test('a client that tried for longer than the pause starts again at once', async () => {
  const { clock, waits, pass } = aClock();
  const pace = new RestartPace(clock);
  for (let crash = 0; crash < 12; crash += 1) {
    await pace.afterCrash(signal);
    pass(6_000);
  }
  expect(waits).toEqual([]);
});

test('a client that worked for half a minute begins with short pauses again', async () => {
  const { clock, waits, pass } = aClock();
  const pace = new RestartPace(clock);
  for (let crash = 0; crash < 12; crash += 1) await pace.afterCrash(signal);
  pass(30_000);
  waits.length = 0;
  await pace.afterCrash(signal);
  await pace.afterCrash(signal);
  expect(waits).toHaveLength(1);
  expect(waits[0]).toBeLessThanOrEqual(100);
});
