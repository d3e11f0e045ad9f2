import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from './stream/clock.ts';

/** The clock of the machine. */
export const systemClock: Clock = {
  now: () => new Date(),
  steady: () => new Date(performance.timeOrigin + performance.now()),
  wait: (ms, signal) => delay(ms, undefined, signal ? { signal } : {}).catch(() => undefined),
};
