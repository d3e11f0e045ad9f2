import { setTimeout as delay } from 'node:timers/promises';

const PAUSE_MS = 200;

/** Offsets by topic and partition. */
export type Offsets = ReadonlyMap<string, bigint>;

/** A partition, as a key of {@link Offsets}. */
export const partitionOf = (topic: string, partition: number): string => `${topic}/${partition}`;

/** Records up to this offset were seen in Kafka at this time. */
interface Seen {
  readonly end: bigint;
  readonly at: number;
}

/**
 * How long records that are in Kafka are not in PostgreSQL, by Kafka's own ends of logs beside the stored offsets: the
 * consumer is not asked. A delay is too short by the time between two looks at most.
 */
export class Delays {
  readonly #unwritten = new Map<string, Seen[]>();
  readonly #longest = new Map<string, number>();
  readonly #measuring = new AbortController();
  #work: Promise<void> = Promise.resolve();
  #looks = 0;

  /** Measures until {@link stop}. */
  static measure(ends: () => Promise<Offsets>, stored: () => Promise<Offsets>): Delays {
    const delays = new Delays();
    delays.#work = delays.#run(ends, stored);
    return delays;
  }

  /**
   * Ends the measuring.
   *
   * @returns the longest delay of each partition in milliseconds, and how often it was looked at
   */
  async stop(): Promise<{ readonly longest: ReadonlyMap<string, number>; readonly looks: number }> {
    this.#measuring.abort();
    await this.#work;
    return { longest: this.#longest, looks: this.#looks };
  }

  async #run(ends: () => Promise<Offsets>, stored: () => Promise<Offsets>): Promise<void> {
    while (!this.#measuring.signal.aborted) {
      const inKafka = await ends();
      const seenAt = performance.now();
      this.#look(inKafka, await stored(), seenAt);
      this.#looks += 1;
      await delay(PAUSE_MS);
    }
  }

  #look(ends: Offsets, stored: Offsets, seenAt: number): void {
    for (const [partition, end] of ends) {
      const seen = this.#unwritten.get(partition) ?? [];
      const next = stored.get(partition) ?? 0n;
      const oldest = [...seen, { end, at: seenAt }].find((each) => each.end > next);
      const longest = Math.max(
        this.#longest.get(partition) ?? 0,
        oldest === undefined ? 0 : performance.now() - oldest.at,
      );
      this.#longest.set(partition, longest);
      const known = seen.at(-1)?.end ?? -1n;
      const kept = end > known ? [...seen, { end, at: seenAt }] : seen;
      this.#unwritten.set(
        partition,
        kept.filter((each) => each.end > next),
      );
    }
  }
}
