import type { StreamRecord } from '../../records/record.ts';
import { timeOfDay } from '../ports/clock.ts';
import type { LogRange, PartitionLog } from '../ports/record-source.ts';
import { type Awaited, type PartitionReport, SchemaWait } from './consumer-state.ts';
import type { FetchedRecord } from './record-queue.ts';

/** The part of a partition's report that needs neither its topic nor its number. */
type ProgressReport = Omit<PartitionReport, 'topic' | 'partition'>;

/** The position of a partition, as its stream knows it. */
interface KnownPosition {
  readonly nextOffset: bigint | null;
  /** Whether the broker does not hold that offset, and why is being found out. */
  readonly isSought: boolean;
}

/** A look at a log; times are steady. */
interface Look {
  /** The log is as it was then, or later. */
  readonly askedAt: Date;
  readonly now: Date;
  /** Whether a write is under way. */
  readonly isWriting: boolean;
  readonly nextOffset: bigint | null;
}

/** Without lag the log is looked at every few seconds only, however short the time-out is. */
const BLIND_MS = 15_000;

/** Poll interval without lag: only a new record can change it, and that one is fetched anyway. */
export const POLL_WITHOUT_LAG_MS = 4_000;

/** A look at a log that is younger is not repeated: a fetch shows it after 1 to 2 s, by its wait and its linger. */
export const FRESH_MS = 2_300;

/** From one look at a log without lag to the next, with the time that the broker's answer takes. */
const NEXT_LOOK_MS = FRESH_MS + POLL_WITHOUT_LAG_MS + 1_000;

/** An end of the log that is older shows no lag any more. */
const LOG_END_KNOWN_MS = 60_000;

/**
 * Measures how far behind a partition is, since when, and whether it stalls; decides nothing. Times are steady,
 * except those named `timeOfDay`.
 */
export class PartitionProgress {
  readonly #stallTimeoutMs: number;
  readonly #oldestUnwritten = new OldestUnwritten();
  readonly schemaWait = new SchemaWait();
  #log: Pick<LogRange, 'start' | 'end'> | null = null;
  /** When the log was looked at; the assignment, before the first time. */
  #lookedAt: Date;
  /** The position at the last look: a log that ends below it later was cut, or made anew. */
  #lookedFrom: bigint | null = null;
  #isCut = false;
  /** When something was written, or the log's end was seen to be reached. */
  #wellAt: Date;
  /** Unknown from the opening until the log is looked at. */
  #isBehind: boolean | null = null;
  #isUnread = false;
  #leaderlessSince: Date | null = null;

  constructor(stallTimeoutMs: number, now: Date) {
    this.#stallTimeoutMs = stallTimeoutMs;
    this.#lookedAt = now;
    this.#wellAt = now;
  }

  /**
   * The position was read for the first time: the time before does not count as a stall. A log that was looked at
   * before may end below it, for the owner before wrote meanwhile.
   */
  opened(nextOffset: bigint, now: Date): void {
    this.#log = null;
    this.#lookedFrom = nextOffset;
    this.#isBehind = null;
    this.#wellAt = now;
  }

  /** A log as the brokers report it. What was asked for before the last look says less, though it comes now. */
  observe(log: PartitionLog, { askedAt, now, isWriting, nextOffset }: Look): void {
    if (this.#lookedAt.getTime() > askedAt.getTime()) {
      return;
    }
    log.isLeaderless ? this.lookedWithoutLeader(isWriting, now) : this.looked(log, nextOffset, now);
  }

  /** The log was looked at. */
  looked(range: LogRange, nextOffset: bigint | null, now: Date): void {
    this.#leaderlessSince = null;
    this.#log = { start: range.start, end: range.end };
    this.#lookedAt = now;
    this.#isCut = this.#lookedFrom !== null && range.end < this.#lookedFrom;
    this.#lookedFrom = nextOffset;
    const lag = this.#lag(nextOffset);
    this.#seen(lag, now);
    this.#oldestUnwritten.looked(lag, now);
  }

  /**
   * The brokers reported that none of them leads it. Of what they hold nothing can be written, so that time is no
   * stall; but a write that is under way may be one.
   */
  lookedWithoutLeader(isWriting: boolean, now: Date): void {
    this.#leaderlessSince ??= now;
    this.#log = null;
    this.#lookedAt = now;
    this.#wellAt = isWriting ? this.#wellAt : now;
    this.#oldestUnwritten.looked(null, now);
  }

  /** The log goes at least so far. */
  fetched(end: bigint, nextOffset: bigint | null, now: Date): void {
    if (this.#log !== null && end > this.#log.end) {
      this.#log = { start: this.#log.start, end };
      this.#seen(this.#lag(nextOffset), now);
    }
  }

  /**
   * Without lag all is well: once there is lag, the time before it does not count. Time in which nothing was known of
   * the log, or of the position, may have been a stall.
   */
  #seen(lag: bigint | null, now: Date): void {
    if (lag === null || this.#isUnread) {
      return;
    }
    const isNews = this.#isBehind === false && now.getTime() - this.#wellAt.getTime() <= NEXT_LOOK_MS;
    this.#wellAt = lag === 0n || isNews ? now : this.#wellAt;
    this.#isBehind = lag > 0n;
  }

  /** A transaction begins with this record. */
  writing(first: Pick<StreamRecord, 'offset' | 'timestamp'> | null, fetchedAt: Date): void {
    this.#oldestUnwritten.writing(
      first === null ? undefined : { offset: first.offset, timestamp: first.timestamp, fetchedAt },
    );
  }

  /** It was committed. */
  written(now: Date): void {
    this.#wellAt = now;
    this.#oldestUnwritten.written();
  }

  /** The sink could not even be asked for the position: a lag that is 0 by the one known before excuses nothing. */
  positionIsUnread(): void {
    this.#isUnread = true;
  }

  /** It answers. That is no progress: a sink that answers and refuses every write leaves a stall a stall. */
  positionIsRead(): void {
    this.#isUnread = false;
  }

  /** @param queued the oldest record that is fetched and not yet being written */
  report(position: KnownPosition, queued: FetchedRecord | undefined, now: Date, timeOfDayNow: Date): ProgressReport {
    const { nextOffset } = position;
    const logEndAgeMs = now.getTime() - this.#lookedAt.getTime();
    const leaderlessSince = logEndAgeMs > BLIND_MS ? null : this.#leaderlessSince;
    const awaits = leaderlessSince ? undefined : this.#awaits(position);
    const lag = logEndAgeMs > LOG_END_KNOWN_MS || awaits ? null : this.#lag(nextOffset);
    const timeoutMs = this.#isBehind ? this.#stallTimeoutMs : Math.max(this.#stallTimeoutMs, BLIND_MS);
    const isLate = now.getTime() - this.#wellAt.getTime() > timeoutMs;
    return {
      nextOffset,
      lag,
      logEndAgeMs,
      ...(awaits && { awaits }),
      ...(leaderlessSince && { leaderlessSince: timeOfDay(leaderlessSince, now, timeOfDayNow) }),
      ...this.schemaWait.report(now, timeOfDayNow),
      behindSince: this.#oldestUnwritten.since(lag, nextOffset ?? 0n, queued, { now, timeOfDayNow }),
      ...(isLate && nextOffset !== null ? { stalledSince: timeOfDay(this.#wellAt, now, timeOfDayNow) } : {}),
    };
  }

  #awaits({ nextOffset, isSought }: KnownPosition): Awaited | undefined {
    if (nextOffset === null) {
      return 'stored offset';
    }
    if (isSought || this.#isCut) {
      return 'next offset in the log';
    }
    return this.#log === null && this.#leaderlessSince === null ? 'log end' : undefined;
  }

  #lag(nextOffset: bigint | null): bigint | null {
    if (this.#log === null || nextOffset === null || this.#isCut) {
      return null;
    }
    const { start, end } = this.#log;
    const behind = end - (start > nextOffset ? start : nextOffset);
    return behind > 0n ? behind : 0n;
  }
}

/** Now, by both clocks. */
interface BothClocks {
  readonly now: Date;
  readonly timeOfDayNow: Date;
}

/** Measures how long the oldest record of a partition that is not in the sink yet has been waiting. */
export class OldestUnwritten {
  /** The first record of the write under way, or of the one that failed: fetched, and still not written. */
  #tried: FetchedRecord | undefined;
  #behindSince: Date | null = null;

  /** A write begins with this record; one that was tried before has been waiting since its first fetch. */
  writing(first: FetchedRecord | undefined): void {
    const isRetry = first !== undefined && first.offset === this.#tried?.offset;
    this.#tried = isRetry ? this.#tried : first;
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
   * The timestamp of the oldest record that waits, or when it was fetched where that is earlier: a timestamp may lie in
   * the future, or beyond all dates. Where none is fetched, the time at which the partition was first seen behind since
   * it last moved on; `null` where no record is known to wait.
   *
   * @param lag @default unknown
   * @param queued the oldest record that is fetched and not yet being written
   */
  since(
    lag: bigint | null,
    nextOffset: bigint,
    queued: FetchedRecord | undefined,
    { now, timeOfDayNow }: BothClocks,
  ): Date | null {
    const oldest = [this.#tried, queued].find((record) => record !== undefined && record.offset >= nextOffset);
    if (oldest === undefined) {
      const behindSince = lag === null || lag === 0n ? null : this.#behindSince;
      return behindSince && timeOfDay(behindSince, now, timeOfDayNow);
    }
    const fetched = timeOfDay(oldest.fetchedAt, now, timeOfDayNow);
    const isOlder = oldest.timestamp >= 0n && oldest.timestamp < BigInt(Math.ceil(fetched.getTime()));
    return isOlder ? new Date(Number(oldest.timestamp)) : fetched;
  }
}
