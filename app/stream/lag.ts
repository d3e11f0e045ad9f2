import { type Clock, timeOfDay } from './clock.ts';
import type { ConsumerReport, PartitionReport } from './consumer-state.ts';
import type { StreamRecord } from './record.ts';
import type { LogRange, RecordSource } from './record-source.ts';

/** The part of a partition's report that needs neither its topic nor its number. */
type Progress = Pick<PartitionReport, 'nextOffset' | 'lag' | 'behindSince' | 'stalledSince'>;

/**
 * Tells how far behind a partition is, since when, and whether it stands still; decides nothing. Times are steady
 * unless they say otherwise.
 */
export class PartitionProgress {
  readonly #stallWatch: StallWatch;
  readonly #oldestUnwritten = new OldestUnwritten();
  #log: LogRange | null = null;
  #isSinkAway = false;

  constructor(stallTimeoutMs: number, now: Date) {
    this.#stallWatch = new StallWatch(stallTimeoutMs, now);
  }

  /** The position was read for the first time: the time before does not count as a stall. */
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

  /**
   * It answers. Time without a sink does not count; a sink that answers and refuses every write leaves a stall a stall.
   */
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

  /** The write is committed. */
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

/** Without an answer about the log for this long the brokers were away, and the time-out begins anew. */
const BLIND_MS = 15_000;

/**
 * Tells whether a partition stands still: lag, and no progress for longer than the time-out. Time without lag, time
 * without an answer about the log, and outages do not count.
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

/** Poll interval while a partition is behind. */
const POLL_MS = 2_000;
/** Poll interval without lag: only a new record can change it, and that one is fetched anyway. */
const QUIET_MS = 4_000;
/** Before the first assignment no broker is asked, and the start waits for the first answer after it. */
const STARTING_MS = 20;
/** Right after an assignment the lag is unknown, and health waits for it. */
const EAGER_MS = 100;

/**
 * Keeps asking the brokers for the log ranges of the owned topics, until the signal is aborted: an idle, paused or
 * stuck partition brings no batch that would tell its lag. While the brokers are away the last answer stays.
 */
export async function pollLogEnds(
  source: Pick<RecordSource, 'logRanges'>,
  pipeline: { report(): ConsumerReport; observeLog(range: LogRange): void },
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const topics = new Set(pipeline.report().partitions.map(({ topic }) => topic));
    const ranges = await Promise.all([...topics].map((topic) => source.logRanges(topic).catch((): LogRange[] => [])));
    for (const range of ranges.flat()) {
      pipeline.observeLog(range);
    }
    await clock.wait(pauseMs(pipeline.report()), signal);
  }
}

function pauseMs({ state, partitions }: ConsumerReport): number {
  if (state === 'starting') {
    return STARTING_MS;
  }
  if (partitions.length === 0 || partitions.some(({ lag }) => lag === null)) {
    return EAGER_MS;
  }
  return partitions.every(({ lag }) => lag === 0n) ? QUIET_MS : POLL_MS;
}
