import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { type Classes, internals, KAFKAJS_VERSION } from '../../../../app/kafka/kafkajs/internals.ts';
import { requireKnown } from '../../../../app/kafka/kafkajs/known-kafkajs.ts';
import { applyPatches, loadKafkajs, MEASURING_MODULES } from '../../../../app/kafka/kafkajs/patches.ts';

const require = createRequire(import.meta.url);
const HOUR_MS = 3_600_000;
const REQUEST_TIMEOUT_MS = 30_000;

/** Modules that ask for the time of day, and have to: what they make is a timestamp. */
const STAMPING_MODULES = [
  'instrumentation/event.js',
  'loggers/index.js',
  'protocol/message/v1/index.js',
  'protocol/recordBatch/v0/index.js',
  'protocol/requests/offsetCommit/v1/request.js',
  'protocol/requests/produce/v2/request.js',
  'protocol/requests/produce/v3/request.js',
];

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

test("each of kafkajs's modules that asks for the time makes a timestamp of it, or is given another clock", () => {
  const folder = join(import.meta.dirname, '../../../../node_modules/kafkajs/src');
  const asking = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (path) => path.endsWith('.js') && /\bDate\b/.test(readFileSync(join(folder, path), 'utf8')),
  );
  expect(asking.sort()).toEqual([...MEASURING_MODULES, ...STAMPING_MODULES].sort());
});

test('what is given another clock asks it for nothing but the time that it is', () => {
  for (const path of MEASURING_MODULES) {
    const uses = readFileSync(require.resolve(`kafkajs/src/${path}`), 'utf8').match(/\bDate\b.{4}/g) ?? [];
    expect([path, uses.filter((use) => use !== 'Date.now')]).toEqual([path, []]);
  }
});

interface RequestQueue {
  push(request: object): void;
  scheduleRequestTimeoutCheck(): void;
  destroy(): void;
}

/** A request that is never answered; resolves with its error. */
function unanswered() {
  loadKafkajs();
  const Queue = require('kafkajs/src/network/requestQueue') as new (options: object) => RequestQueue;
  const queue = new Queue({ requestTimeout: REQUEST_TIMEOUT_MS, enforceRequestTimeout: true, logger: {} });
  const errors: Error[] = [];
  const entry = { correlationId: 1, apiName: 'Fetch', reject: (error: Error) => errors.push(error) };
  queue.scheduleRequestTimeoutCheck();
  queue.push({ entry, expectResponse: true, sendRequest: () => undefined });
  return { queue, errors };
}

test.each([
  ['forward', HOUR_MS],
  ['back', -HOUR_MS],
])('a clock that is set %s leaves each request the time it has, and no more', (_where, by) => {
  const { queue, errors } = unanswered();
  jest.advanceTimersByTime(1_000);
  jest.setSystemTime(Date.now() + by);
  jest.advanceTimersByTime(REQUEST_TIMEOUT_MS - 2_000);
  expect(errors).toEqual([]);
  jest.advanceTimersByTime(3_000);
  expect(errors.map(({ message }) => message)).toEqual([expect.stringContaining('timed out')]);
  queue.destroy();
});

/** kafkajs's inside with other classes in the place of some. */
const withClasses = (others: Partial<Classes>) =>
  Object.create(internals, Object.getOwnPropertyDescriptors(others)) as typeof internals;

test('kafkajs whose inside is another one is refused before it is patched, with all that is missing and the version', () => {
  const { Runner } = internals;
  class OtherRunner extends Runner {}
  const { commitOffsets: _gone, ...others } = Object.getOwnPropertyDescriptors(Runner.prototype);
  const renamed = Object.create(Object.getPrototypeOf(Runner.prototype), others);
  Object.setPrototypeOf(OtherRunner.prototype, renamed);
  const other = withClasses({ Runner: OtherRunner });
  expect(() => requireKnown(internals)).not.toThrow();
  expect(() => requireKnown(other)).toThrow(
    `the kafkajs that is installed has no Runner.commitOffsets; ` +
      `this program is made for kafkajs ${KAFKAJS_VERSION}: run npm ci`,
  );
});

const wrap = (name: 'start' | 'stop') => () => {
  const prototype = internals.Runner.prototype as unknown as Record<string, () => unknown>;
  const before = prototype[name];
  prototype[name] = function wrapped(this: unknown) {
    return before?.call(this);
  };
};

test('a method that two patches replace is refused, with the names of both', () => {
  const first = ['the first', ['Runner.start'], wrap('start')] as const;
  const second = ['the second', ['Runner.start'], wrap('start')] as const;
  expect(() => applyPatches([first])).not.toThrow();
  expect(() => applyPatches([first, second])).toThrow(
    'the patches "the first" and "the second" both replace Runner.start of kafkajs',
  );
});

test('a patch that replaces what it does not name is refused', () => {
  const patch = ['a patch', ['Runner.start'], wrap('stop')] as const;
  expect(() => applyPatches([patch])).toThrow(
    'the patch "a patch" replaces Runner.stop of kafkajs, and does not name it',
  );
});

test('a patch that names what it does not replace is refused', () => {
  const patch = ['a patch', ['Runner.start', 'Runner.stop'], wrap('stop')] as const;
  expect(() => applyPatches([patch])).toThrow(
    'the patch "a patch" names Runner.start of kafkajs, and does not replace it',
  );
});

test('kafkajs is patched once, however often it is loaded', () => {
  const kafkajs = loadKafkajs();
  const { connect } = internals.Connection.prototype;
  expect(loadKafkajs()).toBe(kafkajs);
  expect(internals.Connection.prototype.connect).toBe(connect);
});
