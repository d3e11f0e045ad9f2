import { setTimeout as delay } from 'node:timers/promises';

const POLL_MS = 100;

/**
 * Asks again and again until the answer is not undefined, and gives that answer.
 *
 * @param what names in the error what was waited for.
 * @param timeout milliseconds. @default 60000
 * @throws Error when the time is over; its cause is the last failure of `ask`.
 */
export async function until<T>(what: string, ask: () => Promise<T | undefined>, timeout = 60_000): Promise<T> {
  const deadline = Date.now() + timeout;
  for (;;) {
    const asked = performance.now();
    let failure: unknown;
    try {
      const answer = await ask();
      if (answer !== undefined) {
        return answer;
      }
    } catch (error) {
      failure = error;
    }
    if (Date.now() > deadline) {
      throw new Error(`waited ${timeout} ms in vain for ${what}`, { cause: failure });
    }
    // What takes long to answer is asked less often: half of the time belongs to what is waited for.
    await delay(Math.max(POLL_MS, performance.now() - asked));
  }
}
