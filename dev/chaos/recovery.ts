import { setTimeout as delay } from 'node:timers/promises';
import type { Positions } from '../verdict/positions.ts';

const POLL_MS = 100;

type Offsets = ReadonlyMap<number, bigint>;

/**
 * Waits until records that were produced to every partition after the call are in PostgreSQL, and so is all before them.
 * What was there at the time of the call would not do: a partition may have been up to date when its consumer died.
 *
 * @param read asks for the positions; while it fails, nothing is known and it is asked again.
 * @param limit milliseconds to wait.
 * @param pollMs milliseconds between two questions. @default 100
 * @returns the milliseconds that it took; undefined when the limit was reached.
 */
export async function timeToRecover(
  read: () => Promise<Positions>,
  limit: number,
  pollMs: number = POLL_MS,
): Promise<number | undefined> {
  const startedAt = performance.now();
  let before: Offsets | undefined;
  let target: Offsets | undefined;
  for (;;) {
    const positions = await read().catch(() => undefined);
    if (positions) {
      before ??= positions.end;
      target ??= isBeyond(positions.end, before) ? positions.end : undefined;
    }
    const elapsed = performance.now() - startedAt;
    if (positions && target && reaches(positions.next, target)) {
      return elapsed;
    }
    if (elapsed > limit) {
      return undefined;
    }
    await delay(pollMs);
  }
}

const reaches = (offsets: Offsets, target: Offsets): boolean =>
  [...target].every(([partition, offset]) => (offsets.get(partition) ?? 0n) >= offset);

const isBeyond = (offsets: Offsets, before: Offsets): boolean =>
  [...before].every(([partition, offset]) => (offsets.get(partition) ?? 0n) > offset);
