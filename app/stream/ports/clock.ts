import { setTimeout as delay } from 'node:timers/promises';

/** Time, as the pipeline sees it; injected, so that tests need none to pass. */
export interface Clock {
  /** The time of day, for people and for what they compare with it; it may be set at any time. */
  now(): Date;
  /** A time that goes on evenly and is never set: what lies between two of them is a duration. It is shown nowhere. */
  steady(): Date;
  /** Resolves after `ms`, or at once when the signal is (or gets) aborted. Never rejects. */
  wait(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The time of day of an earlier `steady` time, by the time of day now. */
export const timeOfDay = (steady: Date, steadyNow: Date, now: Date): Date =>
  new Date(now.getTime() - (steadyNow.getTime() - steady.getTime()));

let steadyNow = new Date(0);

/** One object for each millisecond: it is asked for several times a batch. */
function steady(): Date {
  const time = Math.trunc(performance.timeOrigin + performance.now());
  if (time !== steadyNow.getTime()) {
    steadyNow = new Date(time);
  }
  return steadyNow;
}

/** The clock of the machine. */
export const systemClock: Clock = {
  now: () => new Date(),
  steady,
  wait: (ms, signal) => delay(ms, undefined, signal ? { signal } : {}).catch(() => undefined),
};
