import { timeOfDay } from './clock.ts';
import type { PartitionReport } from './consumer-state.ts';
import { OldestUnwritten } from './oldest-unwritten.ts';
import type { StreamRecord } from './record.ts';
import type { LogRange } from './record-source.ts';
import { StallWatch } from './stall-watch.ts';

/** What can be told of a partition without knowing which one it is. */
type Progress = Pick<PartitionReport, 'nextOffset' | 'lag' | 'behindSince' | 'stalledSince'>;

/** Tells how far behind a partition is, since when, and whether it stands still; decides nothing. Times are steady unless they say otherwise. */
export class PartitionProgress {
  readonly #stallWatch: StallWatch;
  readonly #oldestUnwritten = new OldestUnwritten();
  #log: LogRange | null = null;
  #isSinkAway = false;

  constructor(stallTimeoutMs: number, now: Date) {
    this.#stallWatch = new StallWatch(stallTimeoutMs, now);
  }

  /** The position was read for the first time: what was before is nobody's delay. */
  opened(now: Date): void {
    this.#stallWatch.moved(now);
  }

  /** The log was looked at. @param timeOfDayNow by which the oldest record waits */
  looked(range: LogRange, nextOffset: bigint | null, now: Date, timeOfDayNow: Date): void {
    this.#log = range;
    const lag = this.#lag(nextOffset);
    this.#stallWatch.looked(lag ?? 0n, now);
    this.#oldestUnwritten.looked(lag, timeOfDayNow);
  }

  /** A transaction begins with this record. */
  writing(first: StreamRecord | undefined): void {
    this.#oldestUnwritten.writing(first);
  }

  /** It was committed. */
  written(now: Date): void {
    this.#stallWatch.moved(now);
    this.#oldestUnwritten.written();
  }

  /** The sink could not even be asked for the position. */
  sinkIsAway(): void {
    this.#isSinkAway = true;
  }

  /** It answers. Only a sink that was away excuses the time; one that answers and refuses every write leaves a stall a stall. */
  sinkIsBack(now: Date): void {
    if (this.#isSinkAway) {
      this.#isSinkAway = false;
      this.#stallWatch.moved(now);
    }
  }

  /** @param queued the oldest record that is fetched and not yet being written */
  report(nextOffset: bigint | null, queued: StreamRecord | undefined, now: Date, timeOfDayNow: Date): Progress {
    const lag = this.#lag(nextOffset);
    const stalledSince = this.#isSinkAway ? null : this.#stallWatch.stalledSince(lag, now);
    const behindSince = this.#oldestUnwritten.since(lag, nextOffset ?? 0n, queued);
    return {
      nextOffset,
      lag,
      behindSince,
      ...(stalledSince ? { stalledSince: timeOfDay(stalledSince, now, timeOfDayNow) } : {}),
    };
  }

  #lag(nextOffset: bigint | null): bigint | null {
    if (this.#log === null || nextOffset === null) {
      return null;
    }
    const { start, end } = this.#log;
    const behind = end - (start > nextOffset ? start : nextOffset);
    return behind > 0n ? behind : 0n;
  }
}
