import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import type { FastifyInstance } from 'fastify';
import { createLogger, rateLimitedWarning } from '../../app/logging/logger.ts';
import { createServer } from '../../app/management/server.ts';

let lines: Record<string, unknown>[];
let app: FastifyInstance;
let warn: (peer: string) => void;

beforeEach(async () => {
  lines = [];
  const logger = createLogger({ level: 'warn' }, { write: (line) => lines.push(JSON.parse(line)) });
  app = createServer({ logger });
  warn = rateLimitedWarning(app, 'knocked');
  await app.ready();
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
});
afterEach(async () => {
  jest.useRealTimers();
  await app.close();
});

const told = () => lines.map(({ level, count, peer, msg }) => [level, count, peer, msg]);

/** Timers that keep the process alive. */
const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;

test('the first is told at once, those after it a minute later in one line with the last of their addresses', () => {
  for (const peer of ['10.0.0.1', '10.0.0.2', '10.0.0.3']) {
    warn(peer);
  }
  expect(told()).toEqual([['warn', 1, '10.0.0.1', 'knocked']]);
  jest.advanceTimersByTime(59_999);
  expect(lines).toHaveLength(1);
  jest.advanceTimersByTime(1);
  expect(told()[1]).toEqual(['warn', 2, '10.0.0.3', 'knocked']);
});

test('as long as there are more, there is one line a minute', () => {
  for (let second = 0; second < 600; second += 1) {
    warn('10.0.0.1');
    jest.advanceTimersByTime(1_000);
  }
  expect(lines.map(({ count }) => count)).toEqual([1, 59, ...Array.from({ length: 9 }, () => 60)]);
});

test('after a minute without any no timer runs, and the next is told at once', () => {
  expect(jest.getTimerCount()).toBe(0);
  warn('10.0.0.1');
  jest.advanceTimersByTime(60_000);
  expect([lines.length, jest.getTimerCount()]).toEqual([1, 0]);
  warn('10.0.0.2');
  expect(told()[1]).toEqual(['warn', 1, '10.0.0.2', 'knocked']);
});

test('what was not told yet is told at the end of the server, and no timer is left', async () => {
  warn('10.0.0.1');
  warn('10.0.0.2');
  await app.close();
  expect(lines.map(({ count }) => count)).toEqual([1, 1]);
  expect(jest.getTimerCount()).toBe(0);
});

test('its timer does not keep the process alive', () => {
  jest.useRealTimers();
  const before = timers();
  warn('10.0.0.1');
  expect([lines.length, timers()]).toEqual([1, before]);
});
