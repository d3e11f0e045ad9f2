import { setTimeout as delay } from 'node:timers/promises';
import type { Positions } from '../start/positions.ts';

const POLL_MS = 100;

/**
 * Waits until everything that Kafka holds at the time of the call is in PostgreSQL.
 *
 * @param read asks for the positions; while it fails, nothing is known and it is asked again.
 * @param limit milliseconds to wait.
 * @returns the milliseconds that it took; undefined when the limit was reached.
 */
export async function timeToCatchUp(read: () => Promise<Positions>, limit: number): Promise<number | undefined> {
  const startedAt = performance.now();
  let ends: ReadonlyMap<number, bigint> | undefined;
  for (;;) {
    const positions = await read().catch(() => undefined);
    ends ??= positions?.end;
    const elapsed = performance.now() - startedAt;
    if (positions && ends && reaches(positions, ends)) {
      return elapsed;
    }
    if (elapsed > limit) {
      return undefined;
    }
    await delay(POLL_MS);
  }
}

const reaches = ({ next }: Positions, ends: ReadonlyMap<number, bigint>): boolean =>
  [...ends].every(([partition, end]) => (next.get(partition) ?? 0n) >= end);
