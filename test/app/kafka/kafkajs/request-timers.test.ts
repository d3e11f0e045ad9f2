import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import type { RequestQueue } from '../../../../app/kafka/kafkajs/classes.ts';
import { checkTimeoutsRarely, stopIdleTimer } from '../../../../app/kafka/kafkajs/connection-patches.ts';
import { internals } from '../../../../app/kafka/kafkajs/internals.ts';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

interface Queue extends RequestQueue {
  push(request: object): void;
}

class Shipped extends internals.RequestQueue {}
class Patched extends internals.RequestQueue {}
stopIdleTimer(Patched.prototype);
checkTimeoutsRarely(Patched.prototype);

const logger = { debug: () => undefined, warn: () => undefined };

/** kafkajs's own queue, and how often it has looked for overdue requests. */
function aQueue(options: object = {}, Class = Patched) {
  let looked = 0;
  const isConnected = () => {
    looked += 1;
    return true;
  };
  const queue = new Class({ requestTimeout: 30_000, logger, isConnected, ...options }) as Queue;
  return { queue, looks: () => looked };
}

const request = (correlationId: number) => ({
  entry: { correlationId, apiName: 'Fetch', resolve: () => undefined, reject: () => undefined },
  expectResponse: true,
  sendRequest: () => undefined,
});

test('as shipped, a connection without requests wakes up over and over, which is why it is patched', () => {
  const { queue } = aQueue({}, Shipped);
  queue.push(request(1));
  queue.fulfillRequest({ correlationId: 1, size: 0, payload: Buffer.alloc(0) });
  for (let nth = 0; nth < 100; nth += 1) {
    expect(jest.getTimerCount()).toBe(1);
    jest.runOnlyPendingTimers();
  }
});

test('as shipped, a connection looks for overdue requests ten times a second', () => {
  const { queue, looks } = aQueue({ enforceRequestTimeout: true }, Shipped);
  queue.scheduleRequestTimeoutCheck();
  jest.advanceTimersByTime(10_000);
  expect(looks()).toBe(100);
});

test('a connection without requests sets no timer, also after an answer; one with a request that waits sets one', () => {
  const { queue } = aQueue({ maxInFlightRequests: 1 });
  queue.push(request(1));
  queue.fulfillRequest({ correlationId: 1, size: 0, payload: Buffer.alloc(0) });
  expect(jest.getTimerCount()).toBe(0);
  queue.push(request(2));
  queue.push(request(3));
  expect(jest.getTimerCount()).toBe(1);
});

test('a connection looks for overdue requests once a second while it is open', () => {
  const { queue, looks } = aQueue({ enforceRequestTimeout: true });
  queue.scheduleRequestTimeoutCheck();
  jest.advanceTimersByTime(10_000);
  expect(looks()).toBe(10);
  queue.destroy();
  expect(jest.getTimerCount()).toBe(0);
});

test('a connection that was lost looks once more, and then no longer', () => {
  const { queue } = aQueue({ enforceRequestTimeout: true, isConnected: () => false });
  queue.scheduleRequestTimeoutCheck();
  jest.advanceTimersByTime(1_000);
  expect(jest.getTimerCount()).toBe(0);
});
