import type { Status } from './health.ts';

/** Tells for how long every result of a check has been UP. Times are milliseconds of a clock that is never set. */
export class UpTime {
  readonly #longestPauseMs: number;
  #upSince: number | null = null;
  #lastAt = Number.NEGATIVE_INFINITY;

  /** @param longestPauseMs two results that lie further apart, as when the process was frozen, say nothing in between */
  constructor(longestPauseMs: number) {
    this.#longestPauseMs = longestPauseMs;
  }

  /** A check has ended. */
  result(status: Status, now: number): void {
    const wasUp = this.ms(now) > 0;
    this.#lastAt = now;
    if (status !== 'UP') {
      this.#upSince = null;
    } else if (!wasUp) {
      this.#upSince = now;
    }
  }

  /** For how long the part has been reachable; 0 where it is not, or is not known to be. */
  ms(now: number): number {
    const isKnown = now - this.#lastAt <= this.#longestPauseMs;
    return this.#upSince === null || !isKnown ? 0 : now - this.#upSince;
  }
}
