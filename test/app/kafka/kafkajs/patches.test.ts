import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { type Internals, internals, KAFKAJS_VERSION } from '../../../../app/kafka/kafkajs/internals.ts';
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

/** Modules of kafkajs's consumer, which is not used. */
const UNUSED_MODULES = ['consumer/consumerGroup.js', 'consumer/offsetManager/index.js', 'consumer/runner.js'];

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

test("each of kafkajs's modules that asks for the time makes a timestamp of it, or is given another clock", () => {
  const folder = join(import.meta.dirname, '../../../../node_modules/kafkajs/src');
  const asking = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (path) => path.endsWith('.js') && /\bDate\b/.test(readFileSync(join(folder, path), 'utf8')),
  );
  expect(asking.sort()).toEqual([...MEASURING_MODULES, ...STAMPING_MODULES, ...UNUSED_MODULES].sort());
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
}

/** A request that is never answered, and its errors; its connection is open until `close` is called. */
function unanswered() {
  loadKafkajs();
  const Queue = require('kafkajs/src/network/requestQueue') as new (options: object) => RequestQueue;
  let isOpen = true;
  const timeouts = { requestTimeout: REQUEST_TIMEOUT_MS, enforceRequestTimeout: true };
  const queue = new Queue({ ...timeouts, isConnected: () => isOpen, logger: {} });
  const errors: Error[] = [];
  const entry = { correlationId: 1, apiName: 'Fetch', reject: (error: Error) => errors.push(error) };
  queue.scheduleRequestTimeoutCheck();
  queue.push({ entry, expectResponse: true, sendRequest: () => undefined });
  const close = () => {
    isOpen = false;
    jest.advanceTimersByTime(1_000);
  };
  return { errors, close };
}

test.each([
  ['forward', HOUR_MS],
  ['back', -HOUR_MS],
])('a clock that is set %s leaves each request the time it has, and no more', (_where, by) => {
  const { errors, close } = unanswered();
  jest.advanceTimersByTime(1_000);
  jest.setSystemTime(Date.now() + by);
  jest.advanceTimersByTime(REQUEST_TIMEOUT_MS - 2_000);
  expect(errors).toEqual([]);
  jest.advanceTimersByTime(3_000);
  expect(errors.map(({ message }) => message)).toEqual([expect.stringContaining('timed out')]);
  close();
});

test("kafkajs's inside is named in one file, so that all of it is compared with what is installed", () => {
  const folder = join(import.meta.dirname, '../../../../app');
  const naming = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (path) => path.endsWith('.ts') && readFileSync(join(folder, path), 'utf8').includes('kafkajs/src/'),
  );
  expect(naming).toEqual(['kafka/kafkajs/internals.ts']);
});

/** kafkajs's inside with others in the place of some of its parts. */
const withParts = (parts: Readonly<Record<string, unknown>>): Internals =>
  Object.create(internals, Object.getOwnPropertyDescriptors(parts));

/** kafkajs's inside, of which one class has lost a method. */
function without(name: 'Cluster', method: string): Internals {
  const { [method]: _gone, ...others } = Object.getOwnPropertyDescriptors(internals[name].prototype);
  const Other = class extends internals[name] {};
  Object.setPrototypeOf(Other.prototype, Object.create(Object.getPrototypeOf(internals[name].prototype), others));
  return withParts({ [name]: Other });
}

test.each([
  ['a method', () => without('Cluster', 'refreshMetadata'), 'Cluster.refreshMetadata'],
  ['another method', () => without('Cluster', 'findBroker'), 'Cluster.findBroker'],
  ['a class and a function', () => withParts({ Scram: undefined, shuffle: {} }), 'Scram, shuffle'],
  ['an error', () => withParts({ errors: { ...internals.errors, KafkaJSError: null } }), 'KafkaJSError'],
  ['a request', () => withParts({ requests: { ...internals.requests, Metadata: {} } }), 'requests.Metadata'],
])(
  'kafkajs that lacks %s is refused before it is patched, with what is missing and the version',
  (_, made, missing) => {
    expect(() => requireKnown(internals)).not.toThrow();
    expect(() => requireKnown(made())).toThrow(
      `the kafkajs that is installed has no ${missing}; this program is made for kafkajs ${KAFKAJS_VERSION}: run npm ci`,
    );
  },
);

const wrap = (name: 'connect' | 'disconnect') => () => {
  const prototype = internals.Cluster.prototype as unknown as Record<string, () => unknown>;
  const before = prototype[name];
  prototype[name] = function wrapped(this: unknown) {
    return before?.call(this);
  };
};

test('a method that two patches replace is refused, with the names of both', () => {
  const first = ['the first', ['Cluster.connect'], wrap('connect')] as const;
  const second = ['the second', ['Cluster.connect'], wrap('connect')] as const;
  expect(() => applyPatches([first])).not.toThrow();
  expect(() => applyPatches([first, second])).toThrow(
    'the patches "the first" and "the second" both replace Cluster.connect of kafkajs',
  );
});

test('a patch that replaces what it does not name is refused', () => {
  const patch = ['a patch', ['Cluster.connect'], wrap('disconnect')] as const;
  expect(() => applyPatches([patch])).toThrow(
    'the patch "a patch" replaces Cluster.disconnect of kafkajs, and does not name it',
  );
});

test('a patch that names what it does not replace is refused', () => {
  const patch = ['a patch', ['Cluster.connect', 'Cluster.disconnect'], wrap('disconnect')] as const;
  expect(() => applyPatches([patch])).toThrow(
    'the patch "a patch" names Cluster.connect of kafkajs, and does not replace it',
  );
});

test('kafkajs is patched once, however often it is loaded', () => {
  const kafkajs = loadKafkajs();
  const { connect } = internals.Connection.prototype;
  expect(loadKafkajs()).toBe(kafkajs);
  expect(internals.Connection.prototype.connect).toBe(connect);
});
