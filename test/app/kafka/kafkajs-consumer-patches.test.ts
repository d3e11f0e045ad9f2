import { expect, test } from '@jest/globals';
import { fetchWhenResumed } from '../../../app/kafka/kafkajs-consumer-patches.ts';

/** A consumer group as kafkajs makes it: methods on the prototype, state on the instance. */
function aGroup(maxWaitTime: number) {
  class Group {
    readonly maxWaitTime = maxWaitTime;
    readonly active = new Set<number>();
    fetched = 0;
    readonly subscriptionState = { active: () => [{ partitions: [...this.active] }] };

    async fetch(): Promise<unknown[]> {
      this.fetched += 1;
      return ['batch'];
    }

    resume(partition: unknown): void {
      this.active.add(Number(partition));
    }
  }
  fetchWhenResumed(Group.prototype as unknown as Parameters<typeof fetchWhenResumed>[0]);
  return new Group() as Group & { fetch(nodeId: number): Promise<unknown[]> };
}

const FOR_EVER = 2 ** 31 - 1;

test('a group that has nothing active fetches as soon as a partition is resumed, not after the whole wait', async () => {
  const group = aGroup(FOR_EVER);
  const fetched = group.fetch(1);
  expect(group.fetched).toBe(0);
  group.resume(0);
  expect(await fetched).toEqual(['batch']);
});

test('a group with something active fetches at once', async () => {
  const group = aGroup(FOR_EVER);
  group.resume(0);
  expect(await group.fetch(1)).toEqual(['batch']);
});

test('a group that stays paused comes back empty-handed after the wait, so that it can send its heartbeat', async () => {
  const group = aGroup(5);
  expect(await group.fetch(1)).toEqual([]);
  expect(group.fetched).toBe(0);
});

test('all brokers that wait are woken', async () => {
  const group = aGroup(FOR_EVER);
  const both = Promise.all([group.fetch(1), group.fetch(2)]);
  group.resume(0);
  expect(await both).toEqual([['batch'], ['batch']]);
});
