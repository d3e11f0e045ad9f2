const FIRST_MS = 100;
const LONGEST_MS = 5_000;

/**
 * How long to wait before attempt `attempt` (1 is the first retry): exponential from 100 ms to 5 s, the upper half of it
 * at random so that the writers of many partitions do not come back at the same instant.
 */
export function backoffMs(attempt: number, random: () => number = Math.random): number {
  const ceiling = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(attempt - 1, 16));
  return ceiling / 2 + (random() * ceiling) / 2;
}
