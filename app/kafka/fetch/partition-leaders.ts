import type { TopicPartition } from '../../records/record.ts';
import type { Clock } from '../../stream/ports/clock.ts';
import type { BrokerConnections } from './broker-connections.ts';
import { NO_LEADER } from './fetched-partition.ts';

/** Milliseconds before brokers are asked again: they double from one attempt to the next one, up to 1 s. */
export const brokerBackoffMs = (before: number): number => Math.min(1_000, 100 * 2 ** before);

/** Looks that are further apart do not follow each other. */
const CALM_MS = 5_000;

/** What the leaders are looked up for. */
export interface LeaderSearch {
  /** Topics that are fetched. */
  readonly topics: () => readonly string[];
  /** Brokers that have not answered a fetch for some time. */
  readonly silent: () => ReadonlySet<number>;
  /** Leaders are known anew. @returns whether a partition has none */
  readonly onFound: () => boolean;
  readonly onFailed: (error: unknown) => void;
}

/**
 * Which broker leads a partition, as the brokers answered last. They are asked when a partition has none, or another
 * one.
 */
export class PartitionLeaders {
  readonly #connections: Pick<BrokerConnections, 'metadata'>;
  readonly #clock: Clock;
  readonly #search: LeaderSearch;
  readonly #ending = new AbortController();
  #leaders: ReadonlyMap<string, ReadonlyMap<number, number>> = new Map();
  #looking: Promise<void> | null = null;
  #isAskedAgain = false;
  #looks = 0;
  #lookedAt = Number.NEGATIVE_INFINITY;

  constructor(connections: Pick<BrokerConnections, 'metadata'>, clock: Clock, search: LeaderSearch) {
    this.#connections = connections;
    this.#clock = clock;
    this.#search = search;
  }

  of({ topic, partition }: TopicPartition): number {
    return this.#leaders.get(topic)?.get(partition) ?? NO_LEADER;
  }

  /** Asks the brokers soon, and goes on for as long as a partition has no leader. */
  look(): void {
    this.#isAskedAgain = true;
    this.#looking ??= this.#lookOn();
  }

  /** Asks for nothing any more; an answer under way is dropped. */
  stop(): void {
    this.#ending.abort();
  }

  async #lookOn(): Promise<void> {
    const { signal } = this.#ending;
    for (let isMissing = false; (this.#isAskedAgain || isMissing) && !signal.aborted; ) {
      const pause = this.#pause();
      await (pause > 0 && this.#clock.wait(pause, signal));
      this.#isAskedAgain = false;
      isMissing = await this.#look(signal);
    }
    // At once: who asks in the next microtask would otherwise be taken for one that is waited for.
    this.#looking = null;
  }

  #pause(): number {
    const now = this.#clock.steady().getTime();
    this.#looks = now - this.#lookedAt < CALM_MS ? this.#looks + 1 : 0;
    this.#lookedAt = now;
    return this.#looks === 0 ? 0 : brokerBackoffMs(this.#looks - 1);
  }

  /** @returns whether a leader is missing */
  async #look(signal: AbortSignal): Promise<boolean> {
    const topics = this.#search.topics();
    if (signal.aborted || topics.length === 0) {
      return false;
    }
    try {
      const { topicMetadata } = await this.#connections.metadata(topics, this.#search.silent());
      this.#leaders = new Map(
        topicMetadata.map(({ topic, partitionMetadata }) => [
          topic,
          new Map(partitionMetadata.map(({ partitionId, leader }) => [partitionId, leader])),
        ]),
      );
      return !signal.aborted && this.#search.onFound();
    } catch (error) {
      if (!signal.aborted) {
        this.#search.onFailed(error);
      }
      return true;
    }
  }
}
