import { createRequire } from 'node:module';
import { expect, test } from '@jest/globals';
import { commitOnce, fetchWhenResumed } from '../../../app/kafka/kafkajs-consumer-patches.ts';
import { MemoryBudget } from '../../../app/stream/memory-budget.ts';

/** A consumer group as kafkajs makes it: methods on the prototype, state on the instance. */
function aGroup(maxWaitTime: number, memory = new MemoryBudget()) {
  class Group {
    readonly maxWaitTime = maxWaitTime;
    readonly active = new Set<number>();
    readonly recovered: string[] = [];
    fetched = 0;
    looked = 0;
    readonly cluster = { refreshMetadataIfNecessary: () => this.look() };
    readonly subscriptionState = { active: () => [{ partitions: [...this.active] }] };

    async fetch(): Promise<unknown[]> {
      this.fetched += 1;
      return ['batch'];
    }

    resume(partition: unknown): void {
      this.active.add(Number(partition));
    }

    async look(): Promise<void> {
      this.looked += 1;
    }

    checkForStaleAssignment(): void {
      if (this.looked > 1) throw new Error('Topic is gone');
    }

    async recoverFromFetch(error: unknown): Promise<void> {
      this.recovered.push(String(error));
    }
  }
  fetchWhenResumed(Group.prototype as unknown as Parameters<typeof fetchWhenResumed>[0], memory);
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

test('a group that stays paused still notices topics that come and go', async () => {
  const group = aGroup(5);
  await group.fetch(1);
  expect(group.recovered).toEqual([]);
  await group.fetch(1);
  expect(group.recovered).toEqual(['Error: Topic is gone']);
});

test('a group without room in memory fetches as soon as there is some, and comes back empty-handed before', async () => {
  const memory = new MemoryBudget(8_000);
  memory.hold(1_000);
  const group = aGroup(5, memory);
  group.resume(0);
  expect(await group.fetch(1)).toEqual([]);
  const patient = aGroup(FOR_EVER, memory);
  patient.resume(0);
  const fetched = patient.fetch(1);
  expect(patient.fetched).toBe(0);
  memory.release(251);
  expect(await fetched).toEqual(['batch']);
});

test('all brokers that wait are woken', async () => {
  const group = aGroup(FOR_EVER);
  const both = Promise.all([group.fetch(1), group.fetch(2)]);
  group.resume(0);
  expect(await both).toEqual([['batch'], ['batch']]);
});

const require = createRequire(import.meta.url);

interface Runner {
  running: boolean;
  commitOffsets(offsets: unknown): Promise<void>;
}

const logger = { debug: () => undefined, namespace: () => logger };

/** kafkajs's own runner, of a group that rejects the first commit with ILLEGAL_GENERATION and takes the second. */
function aRunner(isPatched: boolean) {
  const Shipped = require('kafkajs/src/consumer/runner') as new (options: unknown) => Runner;
  class Patched extends Shipped {}
  if (isPatched) {
    commitOnce(Patched.prototype as unknown as Parameters<typeof commitOnce>[0]);
  }
  const commits: unknown[] = [];
  const consumerGroup = {
    commitOffsets: async (offsets: unknown) => {
      commits.push(offsets);
      if (commits.length === 1) throw Object.assign(new Error('illegal generation'), { retriable: true });
    },
  };
  const retry = { initialRetryTime: 1, maxRetryTime: 1, retries: 5 };
  const runner = new Patched({ logger, consumerGroup, retry, concurrency: 1, onCrash: () => undefined });
  runner.running = true;
  return { runner, commits };
}

test('as shipped, a commit that failed is tried again in the next generation, which is why it is patched', async () => {
  const { runner, commits } = aRunner(false);
  await runner.commitOffsets('offsets');
  expect(commits).toEqual(['offsets', 'offsets']);
});

test('a commit that failed is not tried again, and whoever asked for it hears so', async () => {
  const { runner, commits } = aRunner(true);
  await expect(runner.commitOffsets('offsets')).rejects.toThrow('illegal generation');
  expect(commits).toEqual(['offsets']);
});

test('as shipped, a commit of a consumer that stops succeeds without being sent, which is why it is patched', async () => {
  const { runner, commits } = aRunner(false);
  runner.running = false;
  await runner.commitOffsets('offsets');
  expect(commits).toEqual([]);
});

test('a commit of a consumer that stops is refused', async () => {
  const { runner, commits } = aRunner(true);
  runner.running = false;
  await expect(runner.commitOffsets('offsets')).rejects.toThrow('not committed');
  expect(commits).toEqual([]);
});
