import { createRequire } from 'node:module';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { loadKafkajs } from '../../../../app/kafka/kafkajs/patches.ts';

const require = createRequire(import.meta.url);

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

interface Connection {
  authenticatedAt: [number, number];
  sessionLifetime: unknown;
  isAuthenticated(): boolean;
}

/** A connection that logged in just now, for so many milliseconds. */
function loggedIn(lifetime: number): Connection {
  loadKafkajs();
  const Connection = require('kafkajs/src/network/connection') as new (options: object) => Connection;
  const Long = require('kafkajs/src/utils/long') as { fromValue(value: number): unknown };
  const logger = { namespace: () => ({ debug: () => undefined }) };
  const connection = new Connection({ host: 'kafka', port: 9092, logger, requestTimeout: 30_000 });
  return Object.assign(connection, { authenticatedAt: process.hrtime(), sessionLifetime: Long.fromValue(lifetime) });
}

test.each([
  [1_000, 1_100],
  [2_000, 1_600],
  [5_000, 4_000],
  [50_000, 40_000],
  [60_000, 50_000],
  [3_600_000, 3_590_000],
])('a session of %i ms is renewed after %i ms', (lifetime, renewedAfter) => {
  const connection = loggedIn(lifetime);
  jest.advanceTimersByTime(renewedAfter - 10);
  expect(connection.isAuthenticated()).toBe(true);
  jest.advanceTimersByTime(20);
  expect(connection.isAuthenticated()).toBe(false);
});

test('a session without an end is never renewed', () => {
  const connection = loggedIn(0);
  jest.advanceTimersByTime(1e9);
  expect(connection.isAuthenticated()).toBe(true);
});
