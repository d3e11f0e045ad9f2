import type { MemoryBudget } from '../stream/memory-budget.ts';

/** Partitions of a topic. */
interface TopicPartitions {
  readonly topic: string;
  readonly partitions: readonly number[];
}

/** The part of kafkajs's consumer group that asks for records, and how many. */
interface ConsumerGroup {
  maxBytes: number;
  maxBytesPerPartition: number;
  getNodeIds(): readonly number[];
  fetch(nodeId: number): Promise<unknown[]>;
  filterPartitionsByNode(nodeId: number, partitions: readonly TopicPartitions[]): readonly TopicPartitions[];
}

const count = (topics: readonly TopicPartitions[]): number =>
  topics.reduce((partitions, topic) => partitions + topic.partitions.length, 0);

/** The same partitions, those of a topic together, from another one on. */
function startingAt(topics: readonly TopicPartitions[], nth: number): readonly TopicPartitions[] {
  let before = nth;
  for (const [index, { topic, partitions }] of topics.entries()) {
    if (before < partitions.length) {
      const first = { topic, partitions: [...partitions.slice(before), ...partitions.slice(0, before)] };
      return [first, ...topics.slice(index + 1), ...topics.slice(0, index)];
    }
    before -= partitions.length;
  }
  return topics;
}

/**
 * Sizes each fetch by the memory budget, and lets each partition be the first of a request in its turn. As shipped sizes
 * never change, and the order of the partitions neither: a broker fills its answer from the first one on, and sends only
 * the first one a batch that is larger than asked for, so the last ones get nothing while the first ones have much.
 */
export function sizeFetches(prototype: ConsumerGroup, memory: MemoryBudget): void {
  const { fetch, filterPartitionsByNode } = prototype;
  const turns = new WeakMap<ConsumerGroup, Map<number, number>>();
  prototype.fetch = function fetchSized(this: ConsumerGroup, nodeId) {
    Object.assign(this, memory.fetchBytes(this.getNodeIds().length));
    return fetch.call(this, nodeId);
  };
  prototype.filterPartitionsByNode = function filterInTurn(this: ConsumerGroup, nodeId, partitions) {
    const byNode = turns.get(this) ?? new Map<number, number>();
    const turn = byNode.get(nodeId) ?? 0;
    turns.set(this, byNode.set(nodeId, turn + 1));
    const filtered = filterPartitionsByNode.call(this, nodeId, partitions);
    return startingAt(filtered, turn % Math.max(1, count(filtered)));
  };
}
