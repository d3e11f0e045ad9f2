import { setTimeout as delay } from 'node:timers/promises';
import type { Screen } from '../run/screen.ts';
import { count } from '../verdict/finding.ts';
import { type Positions, sumOfNext } from '../verdict/positions.ts';

const INTERVAL_MS = 500;

export interface ProgressSource {
  /** Records that the broker acknowledged. */
  readonly produced: () => number;
  /** Asks for the positions. */
  readonly read: () => Promise<Positions>;
  /** The positions before the first record: what counts is what came after them. */
  readonly first: Positions;
}

/** Shows on the changing line how far all has come, until the signal is aborted. */
export async function showProgress(source: ProgressSource, screen: Screen, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      const now = await source.read();
      screen.status(progressLine(source.produced(), source.first, now));
    } catch {
      screen.status('Kafka or PostgreSQL does not answer');
    }
    await delay(INTERVAL_MS, undefined, { signal }).catch(() => undefined);
  }
  screen.endStatus();
}

/** `produced 1,000   in the table 990   dead letters 10   lag 0`. */
export function progressLine(produced: number, first: Positions, now: Positions): string {
  const deadLetters = now.deadLetters - first.deadLetters;
  const accounted = sumOfNext(now) - sumOfNext(first);
  const end = [...now.end.values()].reduce((total, offset) => total + offset, 0n);
  const parts = { produced, 'in the table': accounted - deadLetters, 'dead letters': deadLetters };
  return Object.entries({ ...parts, lag: end - sumOfNext(now) })
    .map(([label, value]) => `${label} ${count(value)}`)
    .join('   ');
}
