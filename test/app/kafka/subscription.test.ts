import { expect, test } from '@jest/globals';
import { subscribe } from '../../../app/kafka/subscription.ts';
import { OutageError } from '../../../app/stream/ports/stream-errors.ts';

const unused = () => undefined;

/** Subscribes to `orders` and `payments`, until it has been tried so often; keeps what it received. */
async function tryToSubscribe(
  attempts: number,
  {
    missing = async () => [],
    check = async () => undefined,
  }: {
    readonly missing?: () => Promise<string[]>;
    readonly check?: () => Promise<undefined>;
  },
) {
  const told: unknown[] = [];
  const lines: unknown[] = [];
  const ending = new AbortController();
  let tried = 0;
  const wait = async () => {
    tried += 1;
    if (tried >= attempts) ending.abort();
  };
  const clock = { now: () => new Date(0), steady: () => new Date(0), wait };
  const logger = {
    ...{ trace: unused, debug: unused, info: unused, error: unused, fatal: unused },
    warn: (_fields: object | string, message = '') => void lines.push(message),
  };
  const listener = {
    onAsked: () => void told.push('asked'),
    onFound: (topics: readonly string[]) => void told.push(topics),
    onWaiting: unused,
  };
  const parts = {
    storedPositions: async () => [],
    admin: { missingTopics: missing },
    claim: { check },
  };
  const patience = { clock, logger, listener, brokers: [], signal: ending.signal };
  await subscribe(['orders', 'payments'], parts, patience);
  return { told, lines };
}

test('a topic that does not exist keeps the others from being read, and they are told to exist at each attempt', async () => {
  const { told, lines } = await tryToSubscribe(2, { missing: async () => ['payments'] });
  expect(told).toEqual(['asked', ['orders'], ['orders']]);
  expect(lines).toEqual(['waiting for Kafka']);
});

test('while PostgreSQL is away the topics are told to exist, and the log names PostgreSQL', async () => {
  const check = async () => {
    throw new OutageError('no connection', { reason: 'database_away' });
  };
  const { told, lines } = await tryToSubscribe(2, { check });
  expect(told).toEqual(['asked', ['orders', 'payments'], ['orders', 'payments']]);
  expect(lines).toEqual(['waiting for PostgreSQL']);
});

test('while Kafka is away no topic is told to exist', async () => {
  const missing = async () => {
    throw new OutageError('no broker', { reason: 'kafka_away' });
  };
  const { told, lines } = await tryToSubscribe(2, { missing });
  expect([told, lines]).toEqual([['asked'], ['waiting for Kafka']]);
});

test('Kafka is asked from the first attempt on', async () => {
  expect((await tryToSubscribe(2, {})).told).toEqual(['asked', ['orders', 'payments']]);
});
