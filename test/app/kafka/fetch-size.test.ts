import { expect, test } from '@jest/globals';
import { sizeFetches } from '../../../app/kafka/fetch-size.ts';
import { MemoryBudget } from '../../../app/stream/memory-budget.ts';

interface TopicPartitions {
  readonly topic: string;
  readonly partitions: readonly number[];
}

/** A consumer group as kafkajs makes it: methods on the prototype, state on the instance. */
function aGroup(assigned: readonly TopicPartitions[], brokers: readonly number[] = [1]) {
  class Group {
    maxBytes = 0;
    maxBytesPerPartition = 0;
    readonly asked: string[][] = [];

    getNodeIds(): readonly number[] {
      return brokers;
    }

    async fetch(nodeId: number): Promise<unknown[]> {
      const requested = this.filterPartitionsByNode(nodeId, assigned);
      this.asked.push(requested.flatMap(({ topic, partitions }) => partitions.map((each) => `${topic}/${each}`)));
      return [];
    }

    filterPartitionsByNode(_nodeId: number, partitions: readonly TopicPartitions[]): readonly TopicPartitions[] {
      return partitions;
    }
  }
  sizeFetches(Group.prototype as unknown as Parameters<typeof sizeFetches>[0], new MemoryBudget(2 ** 26));
  return new Group();
}

const ORDERS = { topic: 'orders', partitions: [0, 1] };
const PAYMENTS = { topic: 'payments', partitions: [0] };

test('each fetch has the size that the memory budget allows', async () => {
  const group = aGroup([ORDERS], [1, 2]);
  await group.fetch(1);
  expect([group.maxBytes, group.maxBytesPerPartition]).toEqual([2 ** 20, 2 ** 20]);
});

test('each partition is the first of a request in its turn, and none is left out', async () => {
  const group = aGroup([ORDERS, PAYMENTS]);
  for (let nth = 0; nth < 4; nth += 1) await group.fetch(1);
  expect(group.asked).toEqual([
    ['orders/0', 'orders/1', 'payments/0'],
    ['orders/1', 'orders/0', 'payments/0'],
    ['payments/0', 'orders/0', 'orders/1'],
    ['orders/0', 'orders/1', 'payments/0'],
  ]);
});

test('the turns of one broker are not those of another', async () => {
  const group = aGroup([ORDERS], [1, 2]);
  for (const node of [1, 2, 1, 2]) await group.fetch(node);
  expect(group.asked.map(([first]) => first)).toEqual(['orders/0', 'orders/0', 'orders/1', 'orders/1']);
});

test('a broker that leads no partition is asked for none', async () => {
  const group = aGroup([]);
  await group.fetch(1);
  expect(group.asked).toEqual([[]]);
});
