import { beforeEach, expect, test } from '@jest/globals';
import { BrokerConnections } from '../../../../app/kafka/fetch/broker-connections.ts';
import { StubCluster, settle } from './stub-cluster.ts';

const NONE: ReadonlySet<number> = new Set();

let stub: StubCluster;
let connections: BrokerConnections;

beforeEach(() => {
  stub = new StubCluster();
  connections = new BrokerConnections(stub.cluster, stub.clock);
});

test('metadata come from the next bootstrap broker where one is away', async () => {
  stub.unreachable.add('seed-0');
  const asked = connections.metadata(['orders'], NONE);
  await settle();
  stub.metadata({ 1: 'one' });
  await asked;
  expect(stub.events).toEqual(['connect seed-0', 'destroy seed-0', 'connect seed-1', 'destroy seed-1']);
});

test('metadata and a coordinator that are asked for at the same time have a bootstrap broker each', async () => {
  const metadata = connections.metadata(['orders'], NONE);
  const coordinator = connections.coordinator('group');
  await settle();
  const [first, second] = stub.requests.splice(0);
  expect([first?.to, second?.to]).toEqual(['seed-0', 'seed-1']);
  first?.resolve({ brokers: [], topicMetadata: [] });
  await metadata;
  expect(stub.events).not.toContain('destroy seed-1');
  second?.resolve({ coordinator: { nodeId: 1, host: 'one', port: 9092 } });
  expect(await coordinator).toMatchObject({ nodeId: 1 });
});

test('a bootstrap broker that is asked is closed with all others', async () => {
  const asked = connections.metadata(['orders'], NONE);
  await settle();
  connections.close();
  await expect(asked).rejects.toThrow('closed');
  expect(stub.events).toContain('destroy seed-0');
});

test('a bootstrap broker that comes about after all were closed is asked nothing, and no other one is tried', async () => {
  stub.greets.set('seed-0', () => undefined);
  const asked = connections.metadata(['orders'], NONE);
  await settle();
  connections.close();
  stub.greets.get('seed-0')?.({ 1: { maxVersion: 13 } });
  await expect(asked).rejects.toThrow('the connections to the brokers were closed');
  expect([stub.requests, stub.events.filter((event) => event.startsWith('connect'))]).toEqual([[], ['connect seed-0']]);
});

test('a coordinator that an ACL hides is an error of the group, and no other broker is asked', async () => {
  const asked = connections.coordinator('group');
  await settle();
  stub.requests.shift()?.resolve(new Error('the group is forbidden'));
  await expect(asked).rejects.toThrow('the group is forbidden');
  expect(stub.events).toEqual(['connect seed-0', 'destroy seed-0']);
});
