import { createRequire } from 'node:module';
import { expect, jest, test } from '@jest/globals';
import type { Broker, Cluster } from '../../../../app/kafka/kafkajs/classes.ts';
import {
  beatWhileFetching,
  connectCoordinatorApart,
  retryCoordinatorLookup,
} from '../../../../app/kafka/kafkajs/coordinator-patches.ts';

/** A broker of the pool, or one that the pool makes. */
const aBroker = (nodeId: number, host: string, onEnd = () => undefined): Broker =>
  ({
    nodeId,
    versions: {},
    connectionPool: { host, port: 9092 },
    disconnect: async () => onEnd(),
  }) as unknown as Broker;

/** A cluster whose coordinator may move, and what became of the connections that were made to it. */
function aCluster() {
  const made: { readonly host: string; isConnected: boolean }[] = [];
  const cluster = {
    coordinator: aBroker(1, 'first'),
    rootLogger: {},
    connectionPoolBuilder: { build: async (address: { host: string; port: number }) => address },
    brokerPool: {
      createBroker: ({ nodeId, connectionPool }: Broker) => {
        const state = { host: connectionPool.host, isConnected: false };
        made.push(state);
        const broker = aBroker(nodeId, connectionPool.host, () => {
          state.isConnected = false;
        });
        return Object.assign(broker, { state });
      },
      connectBroker: async (broker: Broker) => {
        (broker as Broker & { state: { isConnected: boolean } }).state.isConnected = true;
      },
    },
    findGroupCoordinator: async () => cluster.coordinator,
    findBroker: async ({ nodeId }: Pick<Broker, 'nodeId'>) => aBroker(nodeId, 'pool'),
    disconnect: async () => undefined,
  };
  connectCoordinatorApart({ cluster: cluster as unknown as Cluster });
  return { cluster: cluster as unknown as Cluster & { coordinator: Broker }, made };
}

test('the coordinator has a connection and an id that no broker of the pool has, and keeps them', async () => {
  const { cluster, made } = aCluster();
  const found = await cluster.findGroupCoordinator({ groupId: 'group' });
  expect(await cluster.findGroupCoordinator({ groupId: 'group' })).toBe(found);
  expect(await cluster.findBroker(found)).toBe(found);
  expect(await cluster.findBroker({ nodeId: 1 })).toMatchObject({ connectionPool: { host: 'pool' } });
  expect(made).toEqual([{ host: 'first', isConnected: true }]);
});

test('the connection follows a coordinator that moves, and the one before is closed', async () => {
  const { cluster, made } = aCluster();
  await cluster.findGroupCoordinator({ groupId: 'group' });
  cluster.coordinator = aBroker(2, 'second');
  await cluster.findGroupCoordinator({ groupId: 'group' });
  expect(made).toEqual([
    { host: 'first', isConnected: false },
    { host: 'second', isConnected: true },
  ]);
});

test('the connection is closed with those of the pool, and made again after a restart of the consumer', async () => {
  const { cluster, made } = aCluster();
  const found = await cluster.findGroupCoordinator({ groupId: 'group' });
  await cluster.disconnect();
  expect(made).toEqual([{ host: 'first', isConnected: false }]);
  expect(await cluster.findGroupCoordinator({ groupId: 'group' })).not.toBe(found);
  expect(made.map(({ isConnected }) => isConnected)).toEqual([false, true]);
});

test('heartbeats go on while a fetch is held back, whatever they are answered, and end with it', async () => {
  jest.useFakeTimers();
  let answer = (_batches: unknown[]): void => undefined;
  let beats = 0;
  let answeredAt = Date.now();
  class Runner {
    readonly heartbeatInterval = 2_000;
    fetch(_nodeId: number): Promise<unknown[]> {
      return new Promise((resolve) => {
        answer = resolve;
      });
    }
    async heartbeat(): Promise<void> {
      if (Date.now() < answeredAt + this.heartbeatInterval) {
        return;
      }
      beats += 1;
      answeredAt = Date.now() + 5;
      throw new Error('the group is rebalancing');
    }
  }
  beatWhileFetching(Runner.prototype as never);
  const fetched = new Runner().fetch(1);
  await jest.advanceTimersByTimeAsync(20_000);
  // One in 2.5 s: the next quarter of the interval behind it.
  expect(beats).toBe(8);
  answer(['batch']);
  expect(await fetched).toEqual(['batch']);
  await jest.advanceTimersByTimeAsync(20_000);
  expect(beats).toBe(8);
  jest.useRealTimers();
});

const { KafkaJSGroupCoordinatorNotFound } = createRequire(import.meta.url)('kafkajs/src/errors') as Record<
  string,
  new (
    message: string,
  ) => Error
>;

/** @param told what one broker answers when it is asked again */
function askedCluster(answer: () => Promise<unknown>, told: () => Promise<unknown> = answer) {
  class Cluster {
    readonly brokerPool = { findConnectedBroker: async () => ({ findGroupCoordinator: told }) };

    findGroupCoordinatorMetadata(_options: unknown): Promise<unknown> {
      return answer();
    }
  }
  retryCoordinatorLookup(Cluster.prototype as never);
  return new Cluster();
}

const notFound = () => {
  if (KafkaJSGroupCoordinatorNotFound === undefined) {
    throw new Error('kafkajs has no such error any more');
  }
  return new KafkaJSGroupCoordinatorNotFound('Failed to find group coordinator');
};

test('as shipped, a coordinator that was not found is no reason to try again, which is why it is patched', () => {
  expect(notFound()).toMatchObject({ retriable: false });
});

test('a coordinator that was not found is one', async () => {
  const asked = askedCluster(() => Promise.reject(notFound())).findGroupCoordinatorMetadata({});
  await expect(asked).rejects.toMatchObject({ retriable: true, message: 'Failed to find group coordinator' });
});

test('every other error, and an answer, stay what they are', async () => {
  const other = new TypeError('a mistake');
  await expect(askedCluster(() => Promise.reject(other)).findGroupCoordinatorMetadata({})).rejects.toBe(other);
  expect(await askedCluster(async () => 'coordinator').findGroupCoordinatorMetadata({})).toBe('coordinator');
});

test('a coordinator that is forbidden is not, and one that a broker tells by then is the answer', async () => {
  const forbidden = Object.assign(new Error('not authorized'), { type: 'GROUP_AUTHORIZATION_FAILED' });
  const asked = askedCluster(
    () => Promise.reject(notFound()),
    () => Promise.reject(forbidden),
  );
  await expect(asked.findGroupCoordinatorMetadata({})).rejects.toBe(forbidden);
  const found = askedCluster(
    () => Promise.reject(notFound()),
    async () => 'coordinator',
  );
  expect(await found.findGroupCoordinatorMetadata({})).toBe('coordinator');
});
