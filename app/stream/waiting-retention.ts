import type { FatalCode } from '../../contract/fatal-codes.ts';
import type { ConsumerReport, WaitingTopic } from './partition/consumer-state.ts';
import type { TopicRetention } from './partition/waiting-topics.ts';
import { waitAtMost } from './poll-log-ends.ts';
import type { Clock } from './ports/clock.ts';
import type { RecordSink } from './ports/record-sink.ts';
import type { LogRange, PartitionLog, Position } from './ports/record-source.ts';
import { OutageError } from './ports/stream-errors.ts';

/** Whether a topic has begun to wait is looked at after this time. Where none has, nobody is asked. */
const LOOK_AT_WAITS_MS = 5_000;

/**
 * A topic that goes on waiting is asked about again after this time: its retention may have been raised. What comes
 * into a partition meanwhile is kept for as long as the retention lasts.
 */
const ASK_AGAIN_MS = 120_000;

/** An answer that takes longer holds up no other topic. */
const ANSWERED_MS = 30_000;

/** The stored offset is none of the log, so which of its records are unread is a decision to come. */
const OF_ANOTHER_LOG: ReadonlySet<string> = new Set<FatalCode>([
  'TOPIC_RECREATED',
  'STORED_OFFSET_AHEAD',
  'LOG_TRUNCATED',
]);

/** The last moment that a `Date` can hold: a retention beyond it is none. */
const LAST_MOMENT_MS = 8.64e15;

/** What is asked of Kafka, without the group. */
interface RetainedLogs {
  /** @returns milliseconds; `null` where the topic deletes no record by time, or does not say */
  retentionMs(topic: string): Promise<number | null>;
  logRanges(topic: string): Promise<readonly PartitionLog[]>;
  /**
   * The timestamps of the first record in each range, in milliseconds, by partition. `null`: not known. A range without
   * a record is left out.
   */
  firstTimestamps(
    topic: string,
    ranges: readonly LogRange[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<number, number | null>>;
}

interface RetentionPorts {
  readonly logs: RetainedLogs;
  readonly sink: Pick<RecordSink, 'positions'>;
  readonly clock: Clock;
}

/** What is known of a topic since it began to wait. */
interface RetentionWait {
  /** A steady time; `null` before the first question. */
  askedAt: number | null;
  /** The partitions that it was asked for: those that the process owned. */
  partitions: string;
  keptUntil: Date | undefined;
  /** Timestamps of first unread records by partition and offset: they stay what they are while the topic waits. */
  readonly timestamps: Map<string, number>;
}

const placeOf = ({ partition, start }: LogRange): string => `${partition}@${start}`;

/**
 * Of each owned partition what is unread. A partition without a stored offset begins at the beginning of its log, as
 * topics of templates do.
 *
 * @returns none where everything was read; `undefined` where that of a partition is not known
 */
function unreadRanges(
  owned: readonly number[],
  logs: readonly PartitionLog[],
  stored: readonly Position[],
): readonly LogRange[] | undefined {
  const offsets = new Map(stored.map(({ partition, offset }) => [partition, offset]));
  const ranges = owned.flatMap((partition) => logs.find((log) => log.partition === partition) ?? []);
  const led = ranges.filter((log) => !log.isLeaderless);
  if (led.length < owned.length) {
    return undefined;
  }
  const unread = led.map((log) => {
    const next = offsets.get(log.partition) ?? log.start;
    return next > log.start ? { ...log, start: next } : log;
  });
  return unread.filter(({ start, end }) => start < end);
}

/**
 * Until when Kafka keeps the unread records of topics that wait, as far as time decides. A broker deletes whole
 * segments of a log, the oldest first, and each only when its last record is older than `retention.ms`. So no unread
 * record goes before the first one is as old. `retention.bytes` may take it sooner, and is not looked at.
 *
 * Nothing is read by the group, moved or written here, so nothing can be lost by it. What fails is no outage of the
 * consumer's, and is asked again later.
 */
export class WaitingRetention implements TopicRetention {
  readonly #ports: RetentionPorts;
  readonly #waits = new Map<string, RetentionWait>();

  constructor(ports: RetentionPorts) {
    this.#ports = ports;
  }

  begins({ topic, code, isIgnored }: WaitingTopic): void {
    if (isIgnored || OF_ANOTHER_LOG.has(code)) {
      this.#waits.delete(topic);
    } else {
      this.#waits.set(topic, { askedAt: null, partitions: '', keptUntil: undefined, timestamps: new Map() });
    }
  }

  keptUntil(topic: string): Date | undefined {
    return this.#waits.get(topic)?.keptUntil;
  }

  /** Asks about topics that wait again and again, until the signal is aborted. Never rejects. */
  async watch(pipeline: { report(): ConsumerReport }, signal: AbortSignal): Promise<void> {
    const { clock } = this.#ports;
    while (!signal.aborted) {
      await clock.wait(LOOK_AT_WAITS_MS, signal);
      const { waiting = [], partitions } = pipeline.report();
      for (const topic of this.#waits.keys()) {
        if (!waiting.some((waits) => waits.topic === topic)) {
          this.#waits.delete(topic);
        }
      }
      for (const [topic, wait] of signal.aborted ? [] : [...this.#waits]) {
        const owned = partitions.filter((each) => each.topic === topic).map(({ partition }) => partition);
        if (!signal.aborted && this.#isDue(wait, owned)) {
          await waitAtMost(ANSWERED_MS, this.#askOf(topic, wait, owned, signal), { clock, signal });
        }
      }
    }
  }

  /** Where a generation changed what the process owns, what was known is not of that. */
  #isDue(wait: RetentionWait, owned: readonly number[]): boolean {
    const now = this.#ports.clock.steady().getTime();
    const partitions = owned.toSorted((one, other) => one - other).join();
    if (wait.partitions !== partitions) {
      wait.partitions = partitions;
      wait.keptUntil = undefined;
      wait.askedAt = null;
    }
    const isDue = owned.length > 0 && (wait.askedAt === null || now - wait.askedAt >= ASK_AGAIN_MS);
    wait.askedAt = isDue ? now : wait.askedAt;
    return isDue;
  }

  /** In an outage what was known stays: the first unread record is the same, as nothing is written meanwhile. */
  async #askOf(topic: string, wait: RetentionWait, owned: readonly number[], signal: AbortSignal): Promise<void> {
    const { partitions, keptUntil: before } = wait;
    const found = await this.#ask(topic, wait, owned, signal).catch((error: unknown) =>
      error instanceof OutageError ? before : undefined,
    );
    if (!signal.aborted && wait.partitions === partitions) {
      wait.keptUntil = found;
    }
  }

  async #ask(
    topic: string,
    wait: RetentionWait,
    owned: readonly number[],
    signal: AbortSignal,
  ): Promise<Date | undefined> {
    const { logs, sink } = this.#ports;
    const retentionMs = await logs.retentionMs(topic);
    if (retentionMs === null) {
      return undefined;
    }
    const [stored, ranges] = await Promise.all([sink.positions([topic]), logs.logRanges(topic)]);
    const unread = unreadRanges(owned, ranges, stored);
    if (unread === undefined) {
      return undefined;
    }
    const firsts = await this.#firstTimestamps(topic, unread, wait, signal);
    // Infinite where there is none, and NaN where one is not known.
    const until = Math.min(...firsts.map((first) => first ?? Number.NaN)) + retentionMs;
    return until <= LAST_MOMENT_MS ? new Date(until) : undefined;
  }

  /** Those of the ranges that have a record. Each that is known is read once: what cannot be read now may be later. */
  async #firstTimestamps(
    topic: string,
    unread: readonly LogRange[],
    { timestamps }: RetentionWait,
    signal: AbortSignal,
  ): Promise<readonly (number | null)[]> {
    const lacking = unread.filter((range) => !timestamps.has(placeOf(range)));
    const found = await this.#ports.logs.firstTimestamps(topic, lacking, signal);
    for (const range of lacking) {
      const first = found.get(range.partition) ?? null;
      if (first !== null) {
        timestamps.set(placeOf(range), first);
      }
    }
    return unread.flatMap((range) => {
      const first = timestamps.get(placeOf(range)) ?? found.get(range.partition);
      return first === undefined ? [] : [first];
    });
  }
}
