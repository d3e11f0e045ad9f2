import { beforeEach, describe, expect, test } from '@jest/globals';
import { isOutage } from '../../../../app/kafka/client/kafka-errors.ts';
import { BrokerConnections } from '../../../../app/kafka/fetch/broker-connections.ts';
import { StubCluster, settle } from './stub-cluster.ts';

let stub: StubCluster;
let connections: BrokerConnections;

beforeEach(() => {
  stub = new StubCluster();
  connections = new BrokerConnections(stub.cluster, stub.clock);
});

const NONE: ReadonlySet<number> = new Set();

/** Metadata that name two brokers. */
async function knowing(brokers: Readonly<Record<number, string>> = { 1: 'one', 2: 'two' }): Promise<void> {
  const asked = connections.metadata(['orders'], NONE);
  await settle();
  stub.metadata(brokers);
  await asked;
  stub.events.splice(0);
}

describe('the cluster', () => {
  test('is described by an advertised broker, and no topic is asked for', async () => {
    const asked = connections.describe();
    await settle();
    const requests = [...stub.requests];
    stub.metadata({ 1: 'one', 2: 'two' });
    await settle();
    requests.push(...stub.requests);
    stub.metadata({ 1: 'one', 2: 'two' });
    expect((await asked).brokers).toHaveLength(2);
    expect(requests.map(({ to }) => to)).toEqual(['seed-0', expect.stringMatching(/^(one|two):9092$/)]);
    // Of the list's length -1 would be all topics.
    const bytes = (await Promise.all(requests.map(({ encode }) => encode()))) as { readonly buffer: Buffer }[];
    expect(bytes.map(({ buffer }) => buffer.toString('hex'))).toEqual(['0000000000', '0000000000']);
  });

  test('is described over the connection that is open already', async () => {
    await knowing();
    void connections.describe();
    await settle();
    const connected = [...stub.events];
    stub.metadata({ 1: 'one', 2: 'two' });
    await settle();
    void connections.describe();
    await settle();
    expect([connected, stub.events]).toEqual([[expect.stringMatching(/^connect (one|two):9092$/)], connected]);
  });

  test('is described by no bootstrap broker where the brokers are away', async () => {
    await knowing();
    stub.unreachable.add('one:9092').add('two:9092');
    await expect(connections.describe()).rejects.toThrow('is away');
    expect(stub.events.filter((event) => event.startsWith('connect')).toSorted()).toEqual([
      'connect one:9092',
      'connect two:9092',
    ]);
  });

  test('is described by the broker that answered last; those asked before it are dropped, not those after it', async () => {
    await knowing({ 1: 'one', 2: 'two', 3: 'three' });
    const asked = connections.describe();
    await settle();
    await stub.losePatience();
    await stub.losePatience();
    const silent = stub.requests.shift();
    stub.metadata({ 1: 'one', 2: 'two', 3: 'three' });
    await asked;
    expect(stub.events.filter((event) => event.startsWith('destroy'))).toEqual([`destroy ${silent?.to}`]);
    for (let nth = 0; nth < 10; nth += 1) {
      void connections.describe();
      await settle();
    }
    expect(stub.requests.map(({ to }) => to)).not.toContain(silent?.to);
  });

  test.each(['a bootstrap broker', 'an advertised one'])('is not described by %s that lists none', async (which) => {
    await (which === 'an advertised one' && knowing());
    const asked = connections.describe();
    await settle();
    stub.metadata({});
    await expect(asked).rejects.toThrow('lists no brokers');
  });
});

describe('metadata', () => {
  test('come from a bootstrap broker first, whose connection is closed then', async () => {
    const asked = connections.metadata(['orders'], NONE);
    await settle();
    stub.metadata({ 1: 'one' }, { orders: [1, -1] });
    expect((await asked).topicMetadata).toEqual([
      {
        topic: 'orders',
        partitionMetadata: [
          { partitionId: 0, leader: 1 },
          { partitionId: 1, leader: -1 },
        ],
      },
    ]);
    expect(stub.events).toEqual(['connect seed-0', 'destroy seed-0']);
  });

  test('come from a broker that is known, and from one that is slow only after the others', async () => {
    await knowing();
    const asked = connections.metadata(['orders'], new Set([1]));
    await settle();
    expect(stub.requests.map(({ to }) => to)).toEqual(['two:9092']);
    stub.metadata({ 1: 'one', 2: 'two' });
    await asked;
  });

  test('come over a connection that is open, and open none', async () => {
    await knowing({ 1: 'one', 2: 'two', 3: 'three', 4: 'four', 5: 'five', 6: 'six' });
    await connections.to(4);
    for (let nth = 0; nth < 10; nth += 1) {
      const asked = connections.metadata(['orders'], NONE);
      await settle();
      stub.metadata({ 1: 'one', 2: 'two', 3: 'three', 4: 'four', 5: 'five', 6: 'six' });
      await asked;
    }
    expect(stub.events).toEqual(['connect four:9092']);
  });

  test('are asked of the next broker where one hangs, and the first answer counts, whoever gives it', async () => {
    await knowing();
    const asked = connections.metadata(['orders'], new Set([2]));
    await settle();
    await stub.losePatience();
    expect(stub.requests.map(({ to }) => to)).toEqual(['one:9092', 'two:9092']);
    const [, second] = stub.requests;
    second?.resolve({ brokers: [], topicMetadata: [] });
    expect(await asked).toEqual({ brokers: [], topicMetadata: [] });
  });

  test('are asked of all brokers and of a bootstrap broker before they fail, by the last reason', async () => {
    await knowing();
    for (const address of ['one:9092', 'two:9092', 'seed-1', 'seed-2', 'seed-3']) stub.unreachable.add(address);
    await expect(connections.metadata(['orders'], NONE)).rejects.toThrow('seed-3 is away');
    expect(stub.events.toSorted()).toEqual(
      expect.arrayContaining(['connect one:9092', 'connect two:9092', 'connect seed-1']),
    );
  });
});

describe('a broker', () => {
  test('is connected to once, and again when it was dropped or its connection was lost', async () => {
    await knowing();
    const first = await connections.to(1);
    expect(await connections.to(1)).toBe(first);
    expect(stub.events).toEqual(['connect one:9092']);
    await first.disconnect();
    expect(await connections.to(1)).toBe(first);
    connections.drop(1);
    expect(await connections.to(1)).not.toBe(first);
    expect(stub.events).toEqual(['connect one:9092', 'connect one:9092', 'destroy one:9092', 'connect one:9092']);
  });

  test('that cannot be connected to is another one at the next attempt', async () => {
    await knowing();
    stub.unreachable.add('one:9092');
    await expect(connections.to(1)).rejects.toThrow('one:9092 is away');
    stub.unreachable.clear();
    expect(await connections.to(1)).toMatchObject({ address: 'one:9092' });
  });

  test('that takes a connection is handed to all who ask once it has answered which versions it offers', async () => {
    await knowing();
    stub.greets.set('one:9092', () => undefined);
    const asked = Promise.all([connections.to(1), connections.to(1)]);
    await settle();
    const later = connections.to(1);
    let isHanded = false;
    void later.finally(() => {
      isHanded = true;
    });
    await settle();
    expect(isHanded).toBe(false);
    stub.greets.get('one:9092')?.({ 1: { maxVersion: 11 } });
    const [broker] = await asked;
    expect(await later).toBe(broker);
    expect(broker.versions).toEqual({ 1: { maxVersion: 11 } });
    expect(stub.events).toEqual(['connect one:9092']);
  });

  test('that never answers which versions it offers is an outage, and another one at the next attempt', async () => {
    await knowing();
    stub.greets.set('one:9092', () => undefined);
    const asked = connections.to(1).catch((each: unknown) => each);
    await settle();
    stub.greets.get('one:9092')?.(null);
    const error = await asked;
    expect(error).toMatchObject({ message: 'the broker did not answer which versions of requests it offers' });
    expect(isOutage(error)).toBe(true);
    expect(stub.events).toContain('destroy one:9092');
    stub.greets.clear();
    expect(await connections.to(1)).toMatchObject({ address: 'one:9092' });
  });

  test('keeps its connection where an attempt that was dropped before fails after it', async () => {
    await knowing();
    stub.greets.set('one:9092', () => undefined);
    const dropped = connections.to(1);
    await settle();
    const greet = stub.greets.get('one:9092');
    connections.drop(1);
    stub.greets.clear();
    const broker = await connections.to(1);
    greet?.(null);
    await expect(dropped).rejects.toThrow('did not answer');
    expect(await connections.to(1)).toBe(broker);
  });

  test('that is none of the cluster is an outage: the cluster may have been another one before', async () => {
    await knowing();
    const error = await connections.to(7).catch((each: unknown) => each);
    expect(error).toMatchObject({ message: "broker 7 is none of the cluster's", broker: '7' });
    expect(isOutage(error)).toBe(true);
  });

  test('that has another address is dropped, and so is one that is gone; others keep their connections', async () => {
    await knowing({ 1: 'one', 2: 'two', 3: 'three' });
    const kept = await connections.to(3);
    await connections.to(1);
    await connections.to(2);
    const asked = connections.metadata(['orders'], NONE);
    await settle();
    stub.metadata({ 1: 'elsewhere', 3: 'three' });
    await asked;
    await settle();
    expect(stub.events.filter((event) => event.startsWith('destroy')).toSorted()).toEqual([
      'destroy one:9092',
      'destroy two:9092',
    ]);
    expect(await connections.to(1)).toMatchObject({ address: 'elsewhere:9092' });
    await expect(connections.to(2)).rejects.toThrow('broker 2 is none');
    expect(await connections.to(3)).toBe(kept);
  });

  test('is not connected to any more when all are closed, and what is under way fails at once', async () => {
    await knowing();
    const { connectionPool } = await connections.to(1);
    const sent = connectionPool.send({ request: { apiKey: 1 } } as never);
    connections.close();
    const error = await sent.catch((each: unknown) => each);
    expect(error).toMatchObject({ message: 'the connection was closed' });
    expect(isOutage(error)).toBe(true);
    await expect(connections.to(1)).rejects.toThrow();
  });
});

test('a connection that is dropped while it comes about is closed, and handed to nobody', async () => {
  await knowing();
  const connecting = connections.to(1);
  connections.drop(1);
  await expect(connecting).rejects.toThrow('the connection to broker 1 was closed');
  expect(stub.events).toContain('destroy one:9092');
  await connections.to(1);
});
