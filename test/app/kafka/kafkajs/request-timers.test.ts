import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import type { RequestQueue } from '../../../../app/kafka/kafkajs/classes.ts';
import { checkTimeoutsTogether, stopIdleTimer } from '../../../../app/kafka/kafkajs/connection-patches.ts';
import { internals } from '../../../../app/kafka/kafkajs/internals.ts';

/** Whether the connections of the queues are open. */
let isOpen = true;
beforeEach(() => {
  jest.useFakeTimers();
  isOpen = true;
});
afterEach(() => {
  // The timer of all queues ends when the last one is found closed.
  isOpen = false;
  jest.advanceTimersByTime(1_000);
  jest.useRealTimers();
});

interface Queue extends RequestQueue {
  push(request: object): void;
}

class Shipped extends internals.RequestQueue {}
class Patched extends internals.RequestQueue {}
stopIdleTimer(Patched.prototype);
checkTimeoutsTogether(Patched.prototype);

const logger = { debug: () => undefined, warn: () => undefined };

/** kafkajs's own queue, and how often it has looked for overdue requests. */
function aQueue(options: object = {}, Class = Patched) {
  let looked = 0;
  const isConnected = () => {
    looked += Number(isOpen);
    return isOpen;
  };
  const queue = new Class({ requestTimeout: 30_000, logger, isConnected, ...options }) as Queue;
  return { queue, looks: () => looked };
}

const ignored = { resolve: () => undefined, reject: () => undefined };

const request = (correlationId: number, settled: object = ignored) => ({
  entry: { correlationId, apiName: 'Fetch', ...settled },
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

test('all connections look for overdue requests once a second while they are open, by one timer', () => {
  const [first, second] = [aQueue({ enforceRequestTimeout: true }), aQueue({ enforceRequestTimeout: true })];
  first.queue.scheduleRequestTimeoutCheck();
  second.queue.scheduleRequestTimeoutCheck();
  expect(jest.getTimerCount()).toBe(1);
  jest.advanceTimersByTime(10_000);
  expect([first.looks(), second.looks()]).toEqual([10, 10]);
});

test('a request that is left without an answer times out, and one that may still be answered does not', async () => {
  const sent = [1_000, 30_000].map((requestTimeout) => {
    const { queue } = aQueue({ enforceRequestTimeout: true, requestTimeout });
    const answer = new Promise((resolve, reject) => queue.push(request(1, { resolve, reject })));
    for (const waiting of queue.inflight.values()) {
      Object.assign(waiting, { sentAt: performance.now() });
    }
    queue.scheduleRequestTimeoutCheck();
    return { queue, answer };
  });
  jest.advanceTimersByTime(2_000);
  expect(sent.map(({ queue }) => queue.inflight.size)).toEqual([0, 1]);
  await expect(sent[0]?.answer).rejects.toThrow(/timed out/);
});

test('connections that were lost are looked at no longer, and one that is opened again is looked at again', () => {
  const { queue, looks } = aQueue({ enforceRequestTimeout: true });
  queue.scheduleRequestTimeoutCheck();
  isOpen = false;
  jest.advanceTimersByTime(1_000);
  expect(jest.getTimerCount()).toBe(0);
  isOpen = true;
  queue.scheduleRequestTimeoutCheck();
  jest.advanceTimersByTime(2_000);
  expect(looks()).toBe(2);
});
