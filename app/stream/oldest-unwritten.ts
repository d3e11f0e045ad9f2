import type { StreamRecord } from './record.ts';

type Moment = Pick<StreamRecord, 'offset' | 'timestamp'>;

/** Tells how long the oldest record of a partition that is not in the sink yet has been waiting. */
export class OldestUnwritten {
  /** The first record of the write under way, or of the one that failed: fetched, and still not written. */
  #tried: Moment | undefined;
  #behindSince: Date | null = null;

  /** A write begins with this record. */
  writing(first: StreamRecord | undefined): void {
    this.#tried = first;
  }

  /** What was tried is written. */
  written(): void {
    this.#tried = undefined;
    this.#behindSince = null;
  }

  /** The log was looked at, and this is the lag that it leaves. */
  looked(lag: bigint | null, now: Date): void {
    this.#behindSince = lag === null || lag === 0n ? null : (this.#behindSince ?? now);
  }

  /**
   * The timestamp of the oldest record that waits. Where none is fetched, or it has no timestamp, the time at which the
   * partition was first seen behind since it last moved on; `null` without lag.
   *
   * @param queued the oldest record that is fetched and not yet being written
   */
  since(lag: bigint | null, nextOffset: bigint, queued: Moment | undefined): Date | null {
    if (lag === null || lag === 0n) {
      return null;
    }
    const oldest = this.#tried && this.#tried.offset >= nextOffset ? this.#tried : queued;
    return oldest && oldest.timestamp >= 0n ? new Date(Number(oldest.timestamp)) : this.#behindSince;
  }
}
