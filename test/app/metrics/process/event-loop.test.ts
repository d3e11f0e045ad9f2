import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, expect, test } from '@jest/globals';
import { EventLoopLag } from '../../../../app/metrics/process/runtime.ts';

let lag: EventLoopLag | undefined;
afterEach(() => lag?.stop());

function watching() {
  let now = 0;
  lag = new EventLoopLag(() => now);
  const { eventLoopLagMax } = lag.sources;
  const pass = (ms: number): void => {
    now += ms;
  };
  return { lag, pass, read: () => eventLoopLagMax()[0]?.value };
}

/** Keeps the thread busy, as a task without an end does. */
function block(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

const nextLook = () => delay(500);

test('nothing is reported before the start; a block counts with its length, for three minutes, however often it is read', async () => {
  const { lag: watched, pass, read } = watching();
  expect(read()).toBeUndefined();
  const began = performance.now();
  watched.start();
  await nextLook();
  block(800);
  await nextLook();
  const seen = read() ?? 0;
  expect(seen).toBeGreaterThan(0.5);
  // A block that counted twice would be more than the time that was not waited for.
  expect(seen).toBeLessThan((performance.now() - began) / 1_000 - 0.75);
  pass(119_000);
  expect(read()).toBe(seen);
  pass(121_000);
  expect(read()).toBeLessThan(0.45);
});

test('a block counts that begins right after a reading, or right after the start', async () => {
  const { lag: watched, pass, read } = watching();
  watched.start();
  block(800);
  await nextLook();
  expect(read()).toBeGreaterThan(0.5);
  pass(180_000);
  read();
  block(800);
  await nextLook();
  expect(read()).toBeGreaterThan(0.5);
});

test('a block counts in the reading that follows it at once', () => {
  const { lag: watched, read } = watching();
  watched.start();
  block(800);
  expect(read()).toBeGreaterThan(0.5);
});

test('the time from one look to the next is no delay', async () => {
  const { lag: watched, pass, read } = watching();
  watched.start();
  expect(read()).toBeLessThan(0.45);
  const seen: number[] = [];
  // A busy machine is late by itself now and then.
  for (let look = 0; look < 20 && Math.min(...seen) >= 0.09; look += 1) {
    await nextLook();
    seen.push(read() ?? 0);
    pass(180_000);
  }
  expect(Math.min(...seen)).toBeLessThan(0.09);
});
