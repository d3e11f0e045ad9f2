import type { LogRange, Position } from './record-source.ts';

/** Where a topic begins whose group has no stored position: the setting `consumer.startFrom`. */
export type StartFrom = 'earliest' | 'latest' | 'committed';

/** What is known about a topic when its first positions are chosen. */
export interface StartChoice {
  readonly startFrom: StartFrom;
  readonly ranges: readonly LogRange[];
  /** Kafka's committed offsets; only looked at for `committed`. */
  readonly committed: readonly Position[];
}

/**
 * First positions for the partitions that have none.
 *
 * `startFrom` is about topics, not partitions: once any partition of the topic has a position, a partition without one
 * was added later and starts at its beginning, or records written to it before we noticed would be lost.
 */
export function startPositions(choice: StartChoice, stored: ReadonlySet<number>): Position[] {
  const startFrom = stored.size > 0 ? 'earliest' : choice.startFrom;
  const committed = new Map(choice.committed.map(({ partition, offset }) => [partition, offset]));
  return choice.ranges
    .filter(({ partition }) => !stored.has(partition))
    .map(({ topic, partition, start, end }) => {
      const offsets = { earliest: start, latest: end, committed: committed.get(partition) ?? start };
      return { topic, partition, offset: offsets[startFrom] };
    });
}
