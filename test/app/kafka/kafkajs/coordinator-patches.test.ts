import { afterEach, expect, test } from '@jest/globals';
import type { Cluster } from '../../../../app/kafka/kafkajs/classes.ts';
import { connectCoordinatorApart } from '../../../../app/kafka/kafkajs/coordinator-patches.ts';
import { internals } from '../../../../app/kafka/kafkajs/internals.ts';
import { until } from '../../../integration/stack/until.ts';
import { clusterOf } from './client.ts';
import { coordinatorOf, int16, metadataOf, noCoordinator, StubBroker } from './stub-broker.ts';

const open: { close(): void }[] = [];
afterEach(() => {
  for (const end of open.splice(0)) end.close();
});

const GROUP = { groupId: 'group' };

/** Two brokers, of which the first one tells which one coordinates, and a cluster that reaches its coordinator apart. */
async function aGroupOfTwo() {
  let coordinator = 0;
  const answers = {
    metadata: () => metadataOf(brokers),
    findCoordinator: () => coordinatorOf(brokers[coordinator] ?? first, coordinator),
    leaveGroup: () => int16(0),
  };
  const first = await StubBroker.start(answers);
  const second = await StubBroker.start(answers);
  const brokers = [first, second];
  const cluster = await clusterOf(first, [], (of) => connectCoordinatorApart({ cluster: of }));
  open.push(...brokers, { close: () => void cluster.disconnect() });
  const moveToSecond = (): void => {
    coordinator = 1;
  };
  return { cluster, first, second, moveToSecond };
}

/** Has the coordinator asked for something. */
async function leave(cluster: Cluster): Promise<void> {
  const coordinator = await cluster.findGroupCoordinator(GROUP);
  await coordinator.leaveGroup({ ...GROUP, memberId: 'member' });
}

const connectionsOf = (requests: readonly { readonly connection: number }[]): ReadonlySet<number> =>
  new Set(requests.map(({ connection }) => connection));

test('the coordinator has a connection and an id that no broker of the pool has, and keeps them', async () => {
  const { cluster, first, second } = await aGroupOfTwo();
  const found = await cluster.findGroupCoordinator(GROUP);
  expect(await cluster.findGroupCoordinator(GROUP)).toBe(found);
  expect(await cluster.findBroker(found)).toBe(found);
  expect(cluster.getNodeIds()).not.toContain(String(found.nodeId));
  expect(await cluster.findBroker({ nodeId: 0 })).not.toBe(found);
  await leave(cluster);
  await leave(cluster);
  const apart = connectionsOf(first.named('leaveGroup'));
  expect(apart.size).toBe(1);
  const others = [...first.requests, ...second.requests].filter(({ name }) => name === 'findCoordinator');
  expect(others.length).toBeGreaterThan(0);
  expect([...connectionsOf(first.named('findCoordinator'))]).not.toContain([...apart][0]);
  expect([...connectionsOf(first.named('metadata'))]).not.toContain([...apart][0]);
});

test('the connection follows a coordinator that moves, and the one before is closed', async () => {
  const { cluster, first, second, moveToSecond } = await aGroupOfTwo();
  await leave(cluster);
  const [before = 0] = connectionsOf(first.named('leaveGroup'));
  expect(first.closed.has(before)).toBe(false);
  moveToSecond();
  await leave(cluster);
  expect(second.named('leaveGroup')).toHaveLength(1);
  await until('the connection of before is closed', async () => first.closed.has(before) || undefined);
});

test('the connection is closed with those of the pool, and made again after a restart of the consumer', async () => {
  const { cluster, first } = await aGroupOfTwo();
  const found = await cluster.findGroupCoordinator(GROUP);
  await leave(cluster);
  const [before = 0] = connectionsOf(first.named('leaveGroup'));
  await cluster.disconnect();
  await until('the connection is closed', async () => first.closed.has(before) || undefined);
  await cluster.connect();
  await cluster.refreshMetadata();
  expect(await cluster.findGroupCoordinator(GROUP)).not.toBe(found);
  await leave(cluster);
  expect(connectionsOf(first.named('leaveGroup')).size).toBe(2);
});

test('as shipped, a coordinator that was not found is no reason to try again, which is why it is patched', () => {
  const { KafkaJSGroupCoordinatorNotFound } = internals.errors;
  expect(new KafkaJSGroupCoordinatorNotFound('not found')).toMatchObject({ retriable: false });
});

const NOT_AVAILABLE = 15;
const NOT_AUTHORIZED = 30;
const UNKNOWN_SERVER_ERROR = -1;

/** @param errors of FindCoordinator, one after the other; behind the last one the coordinator is told */
async function lookUp(errors: readonly number[]): Promise<{ readonly nodeId: number } | Error> {
  let nth = 0;
  const broker: StubBroker = await StubBroker.start({
    metadata: () => metadataOf([broker]),
    findCoordinator: () => {
      const error = errors[nth];
      nth += 1;
      return error === undefined ? coordinatorOf(broker) : noCoordinator(error);
    },
  });
  const cluster = await clusterOf(broker);
  open.push(broker, { close: () => void cluster.disconnect() });
  const asked = cluster.findGroupCoordinatorMetadata({ ...GROUP, coordinatorType: 0 });
  return asked.then(
    (answer) => (answer as { readonly coordinator: { readonly nodeId: number } }).coordinator,
    (error: Error) => error,
  );
}

test('a coordinator that no broker knows is one', async () => {
  const found = await lookUp(Array(20).fill(NOT_AVAILABLE));
  expect(found).toMatchObject({ retriable: true, message: 'Failed to find group coordinator' });
});

test('a coordinator that is forbidden is not, and one that a broker tells by then is the answer', async () => {
  expect(await lookUp(Array(20).fill(NOT_AUTHORIZED))).toMatchObject({ type: 'GROUP_AUTHORIZATION_FAILED' });
  expect(await lookUp([UNKNOWN_SERVER_ERROR])).toMatchObject({ nodeId: 0 });
  expect(await lookUp([])).toMatchObject({ nodeId: 0 });
});
