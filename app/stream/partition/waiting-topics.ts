import type { FatalCode } from '../../../contract/fatal-codes.ts';
import { type Clock, timeOfDay } from '../ports/clock.ts';
import type { FatalError, OutageError } from '../ports/stream-errors.ts';
import type { PartitionReport, WaitingTopic } from './consumer-state.ts';

/** A topic that waits is looked at again after this time. */
const LOOK_AGAIN_MS = 10_000;

/** A topic that has been read for so long without a failure goes on, though nothing came of it to be written. */
const GOES_ON_AFTER_MS = 60_000;

/** What an opening compares before it opens a topic: once it has, these are mended. */
const COMPARED_BEFORE: ReadonlySet<string> = new Set<FatalCode>([
  'TABLES_DO_NOT_FIT',
  'GROUP_MEETS_ANOTHER',
  'TOPIC_RECREATED',
]);

/** Until when Kafka keeps what is unread of topics that wait. */
export interface TopicRetention {
  /** The topic begins to wait, or the reason becomes another one: what was known of it is of another wait. */
  begins(waiting: WaitingTopic): void;
  /** `undefined`: not known, or there is no limit, or no unread record. */
  keptUntil(topic: string): Date | undefined;
}

/** Which topics may wait, and what is done when they do. */
export interface WaitingOptions {
  /**
   * Whether a topic waits where the process would end for any other one. @default none may
   */
  readonly mayWait?: (topic: string) => boolean;
  /** Called when a topic begins to wait, and when the reason becomes another one. @default nothing is called */
  readonly onWaits?: (waiting: WaitingTopic) => void;
  /** Called when it goes on. @default nothing is called */
  readonly onGoesOn?: (topic: string, waitedSeconds: number) => void;
  /** @default not known of any topic */
  readonly retention?: TopicRetention;
}

interface Waiting extends Pick<WaitingTopic, 'code' | 'message' | 'isIgnored'> {
  /** Steady times. `readSince`: `null` while nothing of it is read. */
  readonly since: Date;
  readonly readSince: Date | null;
}

/** Which topics wait, why and since when. Each goes on once it was shown that it can. */
export class WaitingTopics {
  readonly #options: WaitingOptions;
  readonly #clock: Clock;
  readonly #waiting = new Map<string, Waiting>();
  /** Of these, those that the process does not own, and that Kafka forbids. */
  #forbidden: ReadonlySet<string> = new Set();

  constructor(options: WaitingOptions, clock: Clock) {
    this.#options = options;
    this.#clock = clock;
  }

  readonly mayWait = (topic: string): boolean => this.#options.mayWait?.(topic) === true;

  has(topic: string): boolean {
    return this.#waiting.has(topic);
  }

  /** Nothing of the topic is read any more before it is {@link opened}. */
  failed(topic: string, { code, messageWithoutStart: message, isIgnored }: FatalError): void {
    this.#set(topic, { code, message, isIgnored, readSince: null });
  }

  /** Its table takes no rows for now. It is read, and its writes are tried again. What it waits for already stays. */
  heldUp(topic: string, { reason, message, table, isBrief }: OutageError): void {
    if (table !== undefined && !isBrief && this.mayWait(topic) && !this.#waiting.has(topic)) {
      this.#set(topic, { code: reason, message, isIgnored: false, readSince: this.#clock.steady() });
    }
  }

  /** The topic is read from its stored offsets on. */
  opened(topic: string): void {
    const waiting = this.#waiting.get(topic);
    if (waiting !== undefined) {
      this.#waiting.set(topic, { ...waiting, readSince: this.#clock.steady() });
      if (COMPARED_BEFORE.has(waiting.code)) {
        this.#goesOn(topic);
      }
    }
  }

  /** Something of it was committed; while nothing is read of it, that was read before. */
  committed(topic: string): void {
    if (this.#isRead(topic)) {
      this.#goesOn(topic);
    }
  }

  /** A fetch of it was answered that Kafka forbade before. */
  allowed(topic: string): void {
    if (this.#isRead(topic) && this.#waiting.get(topic)?.code === 'TOPIC_FORBIDDEN') {
      this.#goesOn(topic);
    }
  }

  /** It was looked at: where nothing comes, nothing is committed either. */
  looked(topic: string): void {
    const readSince = this.#waiting.get(topic)?.readSince ?? null;
    if (readSince !== null && this.#clock.steady().getTime() - readSince.getTime() >= GOES_ON_AFTER_MS) {
      this.#goesOn(topic);
    }
  }

  /**
   * Kafka forbids these topics, and no others. They are reported as topics that wait, though the process owns none.
   *
   * @param gone topics that Kafka does not have: none of them goes on
   */
  unlisted(forbidden: ReadonlyMap<string, FatalError>, gone: ReadonlySet<string>): void {
    const before = this.#forbidden;
    this.#forbidden = new Set(forbidden.keys());
    for (const topic of before) {
      if (!forbidden.has(topic) && this.#waiting.get(topic)?.code === 'TOPIC_FORBIDDEN') {
        gone.has(topic) ? this.#waiting.delete(topic) : this.#goesOn(topic);
      }
    }
    for (const [topic, error] of forbidden) {
      this.failed(topic, error);
    }
  }

  /** The process owns partitions of these topics alone. */
  keep(topics: ReadonlySet<string>): void {
    for (const topic of this.#waiting.keys()) {
      if (!topics.has(topic) && !this.#forbidden.has(topic)) {
        this.#waiting.delete(topic);
      }
    }
  }

  /** A partition for the report. Of one whose topic waits, neither lag nor stall counts, and nothing is awaited. */
  shown(report: PartitionReport): PartitionReport {
    const { topic, partition, nextOffset, logEndAgeMs = 0 } = report;
    const waiting = this.#waiting.get(topic);
    return waiting === undefined
      ? report
      : { topic, partition, nextOffset, lag: null, logEndAgeMs, topicWaitsSince: this.#timeOfDay(waiting.since) };
  }

  report(): readonly WaitingTopic[] {
    return Array.from(this.#waiting, ([topic, waiting]) => this.#asReported(topic, waiting));
  }

  #isRead(topic: string): boolean {
    return (this.#waiting.get(topic)?.readSince ?? null) !== null;
  }

  #set(topic: string, waiting: Omit<Waiting, 'since'>): void {
    const before = this.#waiting.get(topic);
    const now = { ...waiting, since: before?.since ?? this.#clock.steady() };
    this.#waiting.set(topic, now);
    if (before?.code !== now.code || (COMPARED_BEFORE.has(now.code) && before.message !== now.message)) {
      this.#options.retention?.begins(this.#asReported(topic, now));
      this.#options.onWaits?.(this.#asReported(topic, now));
    }
  }

  #goesOn(topic: string): void {
    const waiting = this.#waiting.get(topic);
    if (waiting !== undefined) {
      this.#waiting.delete(topic);
      const seconds = (this.#clock.steady().getTime() - waiting.since.getTime()) / 1_000;
      this.#options.onGoesOn?.(topic, seconds);
    }
  }

  #asReported(topic: string, { since, readSince: _, ...waiting }: Waiting): WaitingTopic {
    const keptUntil = this.#options.retention?.keptUntil(topic);
    return { topic, ...waiting, since: this.#timeOfDay(since), ...(keptUntil && { keptUntil }) };
  }

  #timeOfDay(since: Date): Date {
    return timeOfDay(since, this.#clock.steady(), this.#clock.now());
  }
}

/** Streams of topics that wait: opened together, so that many of them cost one look. */
export class WaitingStreams<Stream> {
  readonly #clock: Clock;
  readonly #open: (streams: readonly Stream[], before: readonly Promise<void>[]) => void;
  /** Each with what is still written of its partition. */
  readonly #streams = new Map<Stream, Promise<void> | undefined>();
  readonly #ending = new AbortController();
  #looking: Promise<void> | null = null;

  constructor(clock: Clock, open: (streams: readonly Stream[], before: readonly Promise<void>[]) => void) {
    this.#clock = clock;
    this.#open = open;
  }

  /** Opens the stream when topics are looked at again, in 10 s at most. */
  add(stream: Stream, before: Promise<void> | undefined): void {
    this.#streams.set(stream, before);
    this.#looking ??= this.#lookAgain();
  }

  delete(stream: Stream): void {
    this.#streams.delete(stream);
  }

  /** Nothing is opened any more. */
  end(): void {
    this.#ending.abort();
  }

  /** Resolves when nothing of it runs any more. Never rejects. */
  async ended(): Promise<void> {
    await this.#looking;
  }

  async #lookAgain(): Promise<void> {
    await this.#clock.wait(LOOK_AGAIN_MS, this.#ending.signal);
    this.#looking = null;
    const before = [...this.#streams.values()].flatMap((each) => each ?? []);
    const streams = [...this.#streams.keys()];
    this.#streams.clear();
    if (!this.#ending.signal.aborted) {
      this.#open(streams, before);
    }
  }
}
