import type { Clock } from '../ports/clock.ts';
import { FatalError, OutageError, outageOnly } from '../ports/stream-errors.ts';

const FIRST_RETRY_MS = 100;
const LONGEST_RETRY_MS = 5_000;

/**
 * How long to wait before attempt `attempt` (1 is the first retry): exponential from 100 ms to 5 s, the upper half of
 * it at random so that the writers of many partitions do not come back at the same instant.
 */
export function backoffMs(attempt: number, random: () => number = Math.random): number {
  const ceiling = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(attempt - 1, 16));
  return ceiling / 2 + (random() * ceiling) / 2;
}

/** Events between attempts. */
export interface RetryListener {
  /** An attempt failed, and another one follows unless that was one too many. */
  readonly onOutage?: (outage: OutageError) => void;
  /** The wait before an attempt is over. */
  readonly onRetry?: () => void;
}

/**
 * Attempts at one thing that fail for reasons outside, further apart the more of them have failed in a row.
 *
 * An outage that is not known to be one, with a bound of {@link OutageError.attempts}, counts apart: as many in a row
 * are the end. A known outage and a success end that row.
 */
export class Retries {
  readonly #clock: Clock;
  #failures = 0;
  #unknownInARow = 0;
  #leastPauseMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Something failed: the next attempt has to wait.
   *
   * @param outage @default a failure that is no outage and does not change the number of those in a row
   * @throws FatalError `DATABASE_REFUSED` when with this outage there are as many unknown ones in a row as it allows,
   * `TABLE_REFUSES_ROWS` where it is about one table
   */
  failed(outage?: OutageError): void {
    this.#failures += 1;
    this.#leastPauseMs = outage?.retryAfterMs ?? 0;
    if (outage === undefined) {
      return;
    }
    this.#unknownInARow = Number.isFinite(outage.attempts) ? this.#unknownInARow + 1 : 0;
    if (this.#unknownInARow >= outage.attempts) {
      const message = `${outage.message}; it failed ${this.#unknownInARow} times in a row`;
      if (outage.table === undefined) {
        throw new FatalError('DATABASE_REFUSED', message, { cause: outage });
      }
      const remedy = 'Mend the table, or what its triggers and functions use, then start again';
      throw new FatalError('TABLE_REFUSES_ROWS', `${message}. ${remedy}`, { cause: outage });
    }
  }

  succeeded(): void {
    this.#failures = 0;
    this.#unknownInARow = 0;
  }

  /**
   * Attempts until one does not fail with an outage; waits before each one that follows a failure. Its success is not
   * counted as one: the write that the attempts are for may still fail.
   *
   * @returns what the attempt answered; undefined once the signal is aborted
   * @throws FatalError as {@link failed} does, and whatever else an attempt throws
   */
  async until<T>(
    attempt: () => Promise<T>,
    signal: AbortSignal,
    { onOutage, onRetry }: RetryListener = {},
  ): Promise<T | undefined> {
    while (!signal.aborted) {
      if (this.#failures > 0) {
        await this.#clock.wait(Math.max(backoffMs(this.#failures), this.#leastPauseMs), signal);
        if (signal.aborted) {
          break;
        }
        onRetry?.();
      }
      const answer = await attempt().catch(outageOnly);
      if (!(answer instanceof OutageError)) {
        return answer;
      }
      onOutage?.(answer);
      this.failed(answer);
    }
    return undefined;
  }
}
