/** Without a look at the log for this long the brokers were away, and what follows begins anew. */
const BLIND_MS = 15_000;

/**
 * Tells whether a partition stands still: lag, and no progress for longer than the time-out. Time without lag, time in
 * which nobody could look at the log, and outages do not count.
 */
export class StallWatch {
  readonly #timeoutMs: number;
  #movedAt: Date;
  #lookedAt: Date | null = null;

  constructor(timeoutMs: number, now: Date) {
    this.#timeoutMs = timeoutMs;
    this.#movedAt = now;
  }

  /** Something was written, or an outage ended. */
  moved(now: Date): void {
    this.#movedAt = now;
  }

  /** The log was looked at, and this is the lag that it leaves. */
  looked(lag: bigint, now: Date): void {
    const wasBlind = this.#lookedAt === null || now.getTime() - this.#lookedAt.getTime() > BLIND_MS;
    if (lag === 0n || wasBlind) {
      this.#movedAt = now;
    }
    this.#lookedAt = now;
  }

  /** Since when the partition has been standing still; `null` while it is not. */
  stalledSince(lag: bigint | null, now: Date): Date | null {
    const isBehind = lag !== null && lag > 0n;
    const isBlind = this.#lookedAt === null || now.getTime() - this.#lookedAt.getTime() > BLIND_MS;
    const isLate = now.getTime() - this.#movedAt.getTime() > this.#timeoutMs;
    return isBehind && isLate && !isBlind ? this.#movedAt : null;
  }
}
