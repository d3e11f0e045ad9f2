import { setTimeout as delay } from 'node:timers/promises';
import { count, type Finding } from '../verdict/finding.ts';
import { type Positions, sumOfNext } from '../verdict/positions.ts';

const POLL_MS = 100;
const PATIENCE_MS = 60_000;

/**
 * Waits until the stored positions reach the offsets that the broker acknowledged, for as long as they move.
 *
 * @param ends the offset after the last acknowledged record, by partition.
 * @param read asks for the positions.
 * @param isAlive whether the consumer still runs: without it nothing will move.
 * @param patience milliseconds without a move after which it is given up. @default 60000
 */
export async function awaitAccounted(
  ends: ReadonlyMap<number, bigint>,
  read: () => Promise<Positions>,
  isAlive: () => boolean,
  patience: number = PATIENCE_MS,
): Promise<Finding> {
  let best = -1n;
  let movedAt = performance.now();
  for (;;) {
    const positions = await read();
    const { next } = positions;
    const behind = [...ends].filter(([partition, end]) => (next.get(partition) ?? 0n) < end);
    if (behind.length === 0) {
      return finding(ends, next, []);
    }
    if (sumOfNext(positions) > best) {
      best = sumOfNext(positions);
      movedAt = performance.now();
    }
    const given = isAlive() ? `no progress for ${patience / 1_000} s` : 'the consumer has ended';
    if (!isAlive() || performance.now() - movedAt > patience) {
      const details = behind.map(
        ([partition, end]) =>
          `partition ${partition}: stored position ${next.get(partition) ?? 'none'}, log end ${end}`,
      );
      return finding(ends, next, [given, ...details]);
    }
    await delay(POLL_MS);
  }
}

function finding(
  ends: ReadonlyMap<number, bigint>,
  next: ReadonlyMap<number, bigint>,
  details: readonly string[],
): Finding {
  const reached = [...ends].filter(([partition, end]) => (next.get(partition) ?? 0n) >= end).length;
  return {
    check: 'partitions whose stored position reached their end',
    expected: count(ends.size),
    found: count(reached),
    isWell: details.length === 0,
    details,
  };
}
