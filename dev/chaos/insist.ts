import { setTimeout as delay } from 'node:timers/promises';

const LIMIT_MS = 60_000;
const PAUSE_MS = 200;

/**
 * Does again what fails, until it succeeds: another fault of the same step may be in its way, and what a fault changed
 * must not stay.
 *
 * @throws the last error after 60 s.
 */
export async function insist<T>(work: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + LIMIT_MS;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (performance.now() > deadline) {
        throw error;
      }
      await delay(PAUSE_MS);
    }
  }
}
