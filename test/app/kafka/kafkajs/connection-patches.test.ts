import { connect } from 'node:net';
import { afterEach, beforeAll, expect, test } from '@jest/globals';
import { watchedSockets } from '../../../../app/kafka/kafkajs/connection-patches.ts';
import { createCluster } from '../../../../app/kafka/kafkajs/internals.ts';
import { loadKafkajs } from '../../../../app/kafka/kafkajs/patches.ts';
import type { BrokerLogins } from '../../../../app/kafka/logins/broker-logins.ts';
import { HeardBrokers } from '../../../../app/kafka/logins/heard-brokers.ts';
import { until } from '../../../integration/stack/until.ts';
import { clientOf, clusterOf } from './client.ts';
import { bytes, int16, list, metadataOf, StubBroker, text } from './stub-broker.ts';

beforeAll(() => void loadKafkajs());

const open: { close(): void }[] = [];
afterEach(() => {
  for (const end of open.splice(0)) end.close();
});

/** An address at which nothing listens any more. */
async function aDeadBroker() {
  const broker = await StubBroker.start({});
  const { host, port } = broker;
  broker.close();
  return { host, port };
}

test('one broker that cannot be connected to fails no request that others can answer', async () => {
  const dead = [await aDeadBroker(), await aDeadBroker(), await aDeadBroker()];
  const broker: StubBroker = await StubBroker.start({ metadata: () => metadataOf([broker, ...dead]) });
  const cluster = await clusterOf(broker);
  open.push(broker, { close: () => void cluster.disconnect() });
  await cluster.refreshMetadata();
  for (let nth = 0; nth < 5; nth += 1) {
    expect(await cluster.metadata()).toMatchObject({ topicMetadata: [] });
  }
});

test('where no broker can be connected to, the failure of one of them is told', async () => {
  const dead = await aDeadBroker();
  const broker: StubBroker = await StubBroker.start({ metadata: () => metadataOf([dead]) });
  const cluster = await clusterOf(broker);
  open.push(broker, { close: () => void cluster.disconnect() });
  await cluster.refreshMetadata();
  await expect(cluster.metadata()).rejects.toThrow(`connect ECONNREFUSED ${dead.host}:${dead.port}`);
});

test('metadata that no broker tells are an error, not null', async () => {
  let isAsked = false;
  const broker: StubBroker = await StubBroker.start({
    // Two bytes are no metadata.
    metadata: () => (isAsked ? int16(0) : metadataOf([broker])),
  });
  const cluster = await clusterOf(broker);
  open.push(broker, { close: () => void cluster.disconnect() });
  await cluster.refreshMetadata();
  isAsked = true;
  await expect(cluster.metadata()).rejects.toThrow('No broker answered a request for metadata');
});

/** What connections report of logins, in the place of BrokerLogins; `early` refuses connections. */
function recordedLogins(early?: string) {
  const told: string[] = [];
  const heard = new HeardBrokers();
  const logins: Pick<BrokerLogins, 'connect' | 'begin' | 'answered' | 'advertised' | 'refused' | 'failed' | 'heard'> = {
    heard,
    connect: ({ host, port, onConnect }) => connect({ host, port }, onConnect),
    begin: () => early,
    answered: (_broker, isFirst) => void (isFirst && told.push('answered')),
    advertised: (brokers) => void told.push(`advertised ${brokers.length}`),
    refused: (_broker, { words }) => void told.push(`refused: ${words}`),
    failed: async (_of, { message }, answered) => void told.push(`failed after ${answered}: ${message}`),
  };
  return { told, heard, socketFactory: watchedSockets(logins as BrokerLogins) };
}

const OPTIONS = { metadataMaxAge: 1, allowAutoTopicCreation: false };
const SASL_FAILED = 58;

/** SaslAuthenticate 0, and SaslHandshake 1 for PLAIN. */
const logIn = (error: number, message: string): Buffer =>
  Buffer.concat([int16(error), text(message), bytes(Buffer.alloc(0))]);
const handshake = (): Buffer => Buffer.concat([int16(0), list([text('PLAIN')])]);

const SASL = { mechanism: 'plain', username: 'user', password: 'wrong' } as const;

test('what a broker answers is told to the logins: the first request, and the brokers that metadata name', async () => {
  const broker: StubBroker = await StubBroker.start({ metadata: () => metadataOf([broker]) });
  const { told, heard, socketFactory } = recordedLogins();
  const cluster = createCluster(clientOf(broker, { socketFactory }), OPTIONS);
  open.push(broker, { close: () => void cluster.disconnect() });
  await cluster.connect();
  expect(told).toEqual([]);
  // A greeting is an answer of Kafka's protocol, too.
  expect(heard.explain('no answer within 1 s', [broker.address])).toContain(`${broker.address} spoke Kafka's protocol`);
  await cluster.refreshMetadata();
  await cluster.refreshMetadata();
  expect(told).toEqual(['advertised 1', 'answered', 'advertised 1']);
});

test('a refused login is told once, and closes its connection, so that the next attempt has a new one', async () => {
  const broker = await StubBroker.start({
    metadata: () => metadataOf([]),
    saslHandshake: handshake,
    saslAuthenticate: () => logIn(SASL_FAILED, 'unknown user'),
  });
  const { told, socketFactory } = recordedLogins();
  const client = clientOf(broker, { socketFactory, sasl: SASL, retry: { retries: 1, initialRetryTime: 1 } });
  const cluster = createCluster(client, OPTIONS);
  open.push(broker, { close: () => void cluster.disconnect() });
  await expect(cluster.connect()).rejects.toThrow('unknown user');
  expect(told).toEqual(told.map(() => expect.stringContaining('unknown user')));
  const attempts = broker.named('saslAuthenticate').map(({ connection }) => connection);
  expect(attempts.length).toBeGreaterThan(1);
  expect(new Set(attempts).size).toBe(attempts.length);
  expect(told).toHaveLength(attempts.length);
  await until('each connection is closed', async () => attempts.every((of) => broker.closed.has(of)) || undefined);
});

test('a refused login of a client that nobody watches closes its connection, too', async () => {
  const broker = await StubBroker.start({
    metadata: () => metadataOf([]),
    saslHandshake: handshake,
    saslAuthenticate: () => logIn(SASL_FAILED, 'unknown user'),
  });
  const cluster = createCluster(clientOf(broker, { sasl: SASL }), OPTIONS);
  open.push(broker, { close: () => void cluster.disconnect() });
  await expect(cluster.connect()).rejects.toThrow('unknown user');
  const [attempt] = broker.named('saslAuthenticate');
  await until('the connection is closed', async () => broker.closed.has(attempt?.connection ?? 0) || undefined);
});

test('a broker that refused lately is not connected to, and what the logins know of it is the failure', async () => {
  const broker = await StubBroker.start({ metadata: () => metadataOf([]) });
  const { told, socketFactory } = recordedLogins('the broker refused the password 2 s ago');
  const cluster = createCluster(clientOf(broker, { socketFactory }), OPTIONS);
  open.push(broker);
  await expect(cluster.connect()).rejects.toThrow('the broker refused the password 2 s ago');
  expect(broker.requests).toEqual([]);
  expect(told).toEqual([]);
});

test('a listener that closes the connection before it answers is a failure of the connection', async () => {
  const broker = await StubBroker.start({
    apiVersions: () => {
      broker.hangUp();
      return null;
    },
  });
  const { told, socketFactory } = recordedLogins();
  const cluster = createCluster(clientOf(broker, { socketFactory, retry: { retries: 0 } }), OPTIONS);
  open.push(broker, { close: () => void cluster.disconnect() });
  await expect(cluster.connect()).rejects.toMatchObject({ name: expect.stringMatching(/Connection|Retries/) });
  expect(told[0]).toMatch(/^failed after nothing: /);
});
