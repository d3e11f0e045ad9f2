import { createRequire } from 'node:module';
import { expect, test } from '@jest/globals';
import { joinKey } from '../../../../app/kafka/kafkajs/internals.ts';
import { commitOnce, joinAsMember, waitInsteadOfFetching } from '../../../../app/kafka/kafkajs/membership-patches.ts';

/** A consumer group as kafkajs makes it: methods on the prototype, state on the instance. */
function aGroup() {
  class Group {
    readonly maxWaitTime = 5;
    readonly recovered: string[] = [];
    readonly brokerPool = { metadata: {} };
    fetched = 0;
    compared = 0;
    isStale = false;
    readonly cluster = { brokerPool: this.brokerPool, refreshMetadataIfNecessary: async () => undefined };

    async fetch(_nodeId: number): Promise<unknown[]> {
      this.fetched += 1;
      return ['batch'];
    }

    checkForStaleAssignment(): void {
      this.compared += 1;
      if (this.isStale) throw new Error('Topic is gone');
    }

    async recoverFromFetch(error: unknown): Promise<void> {
      this.recovered.push(String(error));
    }
  }
  waitInsteadOfFetching(Group.prototype as unknown as Parameters<typeof waitInsteadOfFetching>[0]);
  return new Group();
}

test('a group fetches nothing, and comes back empty-handed after a while, so that it can send its heartbeat', async () => {
  const group = aGroup();
  const began = performance.now();
  expect(await group.fetch(1)).toEqual([]);
  // A timer may end a millisecond early.
  expect(performance.now() - began).toBeGreaterThanOrEqual(4);
  expect(group.fetched).toBe(0);
});

test('a group notices topics that come and go, and compares its assignment with new metadata alone', async () => {
  const group = aGroup();
  await group.fetch(1);
  await group.fetch(1);
  expect([group.compared, group.recovered]).toEqual([1, []]);
  group.brokerPool.metadata = {};
  group.isStale = true;
  await group.fetch(1);
  expect(group.recovered).toEqual(['Error: Topic is gone']);
  await group.fetch(1);
  expect(group.recovered).toHaveLength(2);
});

/** A group whose coordinator gives each member without an id the next one, as kafkajs makes it for each start. */
function aMemberOf() {
  const told: string[] = [];
  let ids = 0;
  class Group {
    readonly groupId = 'group';
    memberId: string | null = null;
    readonly cluster: object;
    readonly instrumentationEmitter = { emit: (event: string) => void told.push(event) };

    constructor(cluster: object) {
      this.cluster = cluster;
    }

    async [joinKey()](): Promise<void> {
      ids += this.memberId === null ? 1 : 0;
      this.memberId ??= `member-${ids}`;
      told.push(`joined as ${this.memberId}`);
    }

    async joinAndSync(): Promise<void> {
      const join = Reflect.get(this, joinKey()) as () => Promise<void>;
      await join.call(this);
    }

    async leave(): Promise<void> {
      this.memberId = null;
    }
  }
  class Runner {
    async stop(): Promise<void> {
      // Nothing runs.
    }
  }
  joinAsMember(Group.prototype as never, Runner.prototype as never, {
    findGroupCoordinator: async () => ({}) as never,
  });
  return { told, start: (cluster: object) => new Group(cluster) };
}

test('each join is reported when it begins, and one after a restart is that of the same member', async () => {
  const { told, start } = aMemberOf();
  const cluster = {};
  await start(cluster).joinAndSync();
  const again = start(cluster);
  await again.joinAndSync();
  const joins = ['consumer.rebalancing', 'joined as member-1'];
  expect(told).toEqual([...joins, ...joins]);
  await again.leave();
  await start(cluster).joinAndSync();
  await start({}).joinAndSync();
  expect(told.filter((line) => line.startsWith('joined')).slice(2)).toEqual([
    'joined as member-2',
    'joined as member-3',
  ]);
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
