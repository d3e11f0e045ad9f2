import { partitionKey, type TopicPartition } from '../records/record.ts';
import type { PartitionStream } from './partition/partition-stream.ts';
import { assignedPositions, type StartFrom } from './partition/positions.ts';
import { Retries } from './partition/retries.ts';
import type { StreamPorts } from './partition/stream-ports.ts';
import { identifiedPositions } from './partition/topic-ids.ts';
import { WaitingStreams } from './partition/waiting-topics.ts';
import type { PartitionLog, Position } from './ports/record-source.ts';
import { FatalError, type OutageError } from './ports/stream-errors.ts';

/**
 * A transaction of the stream before may still run; the compare-and-set makes it harmless, so the wait is short.
 */
const SETTLE_MS = 5_000;

/** Health awaits the position of a partition that has a leader now, so it is read soon after one was seen. */
const LED_AGAIN_MS = 100;

export interface OpeningPorts extends StreamPorts {
  /** Gets what the brokers report of each log that they are asked for. */
  readonly onLog: (log: PartitionLog) => void;
  /** The positions of partitions of these topics are read, or there are none to read. */
  readonly onOpened: (topics: readonly string[]) => void;
  /** Whether a topic waits: nothing of it is read. */
  readonly isWaiting: (topic: string) => boolean;
}

const topicsIn = (streams: Iterable<PartitionStream>): string[] => [
  ...new Set(Array.from(streams, ({ partition }) => partition.topic)),
];

/** Streams of partitions that were added together. */
interface Opening {
  /** Those that have no position yet. One that is left is none of them any more. */
  readonly streams: Set<PartitionStream>;
  /** Aborted when none is left to open. */
  readonly ending: AbortController;
}

/**
 * Opens streams in the background, those that were added together by one reading of their positions. Each such set goes
 * on for itself: what holds one up holds up no other.
 */
export class Openings {
  readonly #startFrom: (topic: string) => StartFrom;
  readonly #ports: OpeningPorts;
  readonly #openings = new Set<Opening>();
  readonly #waiting: WaitingStreams<PartitionStream>;
  readonly #background = new Set<Promise<void>>();
  /** Aborted by the next generation. */
  #generation = new AbortController();
  /** Streams that the generation kept, without those that were left since. */
  #kept = new Set<PartitionStream>();

  /** @param startFrom where a topic without a position begins */
  constructor(startFrom: (topic: string) => StartFrom, ports: OpeningPorts) {
    this.#startFrom = startFrom;
    this.#ports = ports;
    this.#waiting = new WaitingStreams(ports.clock, (streams, before) => this.open(streams, before));
  }

  /** A generation began: does for what is kept what was done before it was opened, too. */
  confirm(kept: readonly PartitionStream[], opened: readonly TopicPartition[]): void {
    this.#generation.abort();
    this.#generation = new AbortController();
    this.#kept = new Set(kept);
    this.#track(this.#confirm(kept, opened));
  }

  /** @param before what is still written of the same partitions */
  open(streams: readonly PartitionStream[], before: readonly Promise<void>[]): void {
    if (streams.length > 0) {
      this.#track(this.#open(streams, before));
    }
  }

  /**
   * Opens the stream of a topic that waits, with all others that do, when these are looked at again.
   *
   * @param before what is still written of the same partition
   */
  openLater(stream: PartitionStream, before: Promise<void> | undefined): void {
    this.#waiting.add(stream, before);
  }

  /** The stream is not opened any more. */
  leave(stream: PartitionStream): void {
    this.#kept.delete(stream);
    this.#waiting.delete(stream);
    for (const { streams, ending } of this.#openings) {
      if (streams.delete(stream) && streams.size === 0) {
        ending.abort();
      }
    }
  }

  /** Nothing is opened any more. */
  end(): void {
    this.#generation.abort();
    this.#waiting.end();
    for (const { ending } of this.#openings) {
      ending.abort();
    }
  }

  /** Resolves when nothing of it runs any more. Never rejects. */
  async ended(): Promise<void> {
    await Promise.all([...this.#background, this.#waiting.ended()]);
  }

  async #open(streams: readonly PartitionStream[], before: readonly Promise<void>[]): Promise<void> {
    const opening = { streams: new Set(streams), ending: new AbortController() };
    const { signal } = opening.ending;
    this.#openings.add(opening);
    try {
      if (before.length > 0) {
        await Promise.race([Promise.all(before), this.#ports.clock.wait(SETTLE_MS, signal)]);
      }
      if (await this.#withoutWaiting(() => this.#openOnceRead(opening), opening.streams, signal)) {
        this.#ports.onOpened(topicsIn(streams.filter(({ nextOffset }) => nextOffset !== null)));
        await this.#withoutWaiting(() => this.#openOnceLed(opening), opening.streams, signal);
      }
      // What is left then failed for a topic that is none of theirs, as where another one holds the claim.
      for (const stream of signal.aborted ? [] : opening.streams) {
        this.#waiting.add(stream, undefined);
      }
    } finally {
      this.#openings.delete(opening);
    }
  }

  /**
   * Attempts anew without the topics that have to wait, once for each of their errors: their streams are none of these
   * any more.
   *
   * @returns whether it was done; not so when an error ends the process, and when nothing is left to do it for
   */
  async #withoutWaiting(
    attempt: () => Promise<void>,
    streams: ReadonlySet<PartitionStream>,
    signal: AbortSignal,
  ): Promise<boolean> {
    for (;;) {
      const left = streams.size;
      try {
        await attempt();
        return !signal.aborted;
      } catch (error) {
        this.#unlessAborted(signal, error);
        if (signal.aborted || streams.size === left) {
          return false;
        }
      }
    }
  }

  /**
   * Reads the positions of the streams' topics, or stores first ones, once the group is known to write here and nowhere
   * else; tries again while PostgreSQL or Kafka is away. Streams that have neither a stored position nor a leader
   * remain; all others are open.
   */
  async #openOnceRead({ streams, ending: { signal } }: Opening): Promise<void> {
    const read = async (): Promise<Position[]> => {
      await this.#claim(signal);
      const partitions = Array.from(streams, ({ partition }) => partition);
      return signal.aborted ? [] : assignedPositions(this.#ports, partitions, this.#startFrom, this.#ports.onLog);
    };
    const positions = (await this.#untilDone(read, () => [...streams][0], signal)) ?? [];
    await this.#leaveMisfits(streams, signal);
    const byKey = new Map(positions.map((position) => [partitionKey(position), position]));
    for (const stream of signal.aborted ? [] : [...streams]) {
      const position = byKey.get(partitionKey(stream.partition));
      if (position !== undefined) {
        streams.delete(stream);
        stream.open(position);
      }
    }
  }

  /** A topic that may wait does so while its tables do not fit; of the tables of all others the start makes sure. */
  async #leaveMisfits(streams: ReadonlySet<PartitionStream>, signal: AbortSignal): Promise<void> {
    const { mayWait, sink, onFatal } = this.#ports;
    const topics = topicsIn(streams).filter((topic) => mayWait?.(topic) === true);
    if (topics.length === 0 || signal.aborted) {
      return;
    }
    const misfits = await this.#untilDone(
      () => sink.misfits(topics),
      () => [...streams][0],
      signal,
    );
    for (const [topic, error] of signal.aborted ? [] : (misfits ?? [])) {
      onFatal(error, topic);
    }
  }

  /**
   * Opens streams that have no position yet, each when a broker leads its partition. Nothing of them was read or
   * written before, so all their records are still ahead of the first offset, which is stored then.
   */
  async #openOnceLed(opening: Opening): Promise<void> {
    const { clock } = this.#ports;
    const { streams, ending } = opening;
    while (streams.size > 0 && !ending.signal.aborted) {
      await clock.wait(LED_AGAIN_MS, ending.signal);
      const now = clock.now();
      if ([...streams].some((stream) => stream.report(now).leaderlessSince === undefined)) {
        await this.#openOnceRead(opening);
      }
    }
  }

  /** What is found out of the group in one generation is not for the next one to rely on. */
  async #claim(signal: AbortSignal): Promise<void> {
    let generation: AbortSignal;
    do {
      generation = this.#generation.signal;
      await this.#ports.source.claim(AbortSignal.any([signal, generation]));
    } while (generation.aborted && !signal.aborted);
  }

  /**
   * Does for what is kept what an opening does for the partitions that it opens: compares the ids of their topics, and
   * claims the group where nothing is opened.
   */
  async #confirm(kept: readonly PartitionStream[], opened: readonly TopicPartition[]): Promise<void> {
    const { signal } = this.#generation;
    const isAlone = opened.length === 0;
    const compared = new Set(opened.map(({ topic }) => topic));
    const isCompared = (topic: string): boolean => compared.has(topic) || this.#ports.isWaiting(topic);
    const confirm = async (): Promise<void> => {
      if (isAlone) {
        await this.#ports.source.claim(signal);
      }
      const topics = topicsIn(this.#kept).filter((topic) => !isCompared(topic));
      if (topics.length > 0 && !signal.aborted) {
        await identifiedPositions(this.#ports, topics);
      }
    };
    const attempt = async (): Promise<void> => {
      await this.#untilDone(confirm, () => kept[0], signal);
    };
    if (await this.#withoutWaiting(attempt, this.#kept, signal)) {
      // Where all that was kept is left, the group has taken it away: what the process owns is unknown until it gives
      // some.
      const isLeft = kept.length > 0 && this.#kept.size === 0;
      if (isAlone && !isLeft && !signal.aborted) {
        this.#ports.onOpened([]);
      }
    }
  }

  /**
   * What fails is one outage until it is done or given up.
   *
   * @param first the stream that the failures are reported of
   */
  async #untilDone<T>(
    attempt: () => Promise<T>,
    first: () => PartitionStream | undefined,
    signal: AbortSignal,
  ): Promise<T | undefined> {
    const { clock, listener, onOutage } = this.#ports;
    let isOutage = false;
    const failed = (outage: OutageError): void => {
      const stream = first();
      if (stream !== undefined) {
        listener.onFailed(stream.partition, outage);
      }
      if (!isOutage) {
        isOutage = true;
        onOutage(outage);
      }
    };
    try {
      return await new Retries(clock).until(attempt, signal, { onOutage: failed, onRetry: () => listener.onRetry() });
    } finally {
      if (isOutage) {
        onOutage(null);
      }
    }
  }

  #unlessAborted(signal: AbortSignal, error: unknown): void {
    if (!signal.aborted) {
      this.#ports.onFatal(FatalError.from(error));
    }
  }

  /** Work in the background; {@link ended} waits for it. */
  #track(work: Promise<void>): void {
    const tracked = work.finally(() => this.#background.delete(tracked));
    this.#background.add(tracked);
  }
}
