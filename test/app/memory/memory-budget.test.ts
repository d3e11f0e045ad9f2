import { afterEach, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import { limitOfBudget, MemoryBudget } from '../../../app/memory/memory-budget.ts';
import { recordsOf } from '../../../app/records/pack-records.ts';
import { RecordQueue } from '../../../app/stream/partition/record-queue.ts';
import { aRecord } from '../stream/records.ts';

const MEBIBYTE = 2 ** 20;

/** What a queue counts for an entry beside its batches. */
const ENTRY_BYTES = 400;

const DEFAULT_LIMIT = 512 * MEBIBYTE;

/** An eighth of the limit is for records: 64 MiB, of which 16 may be under way. */
const LIMIT = DEFAULT_LIMIT;
const BUDGET = LIMIT / 8;

afterEach(() => {
  jest.useRealTimers();
});

test('the limit is that of the control group, or that of a default Pod where there is none', () => {
  expect(limitOfBudget(256 * MEBIBYTE, 8_192 * MEBIBYTE)).toBe(256 * MEBIBYTE);
  expect(limitOfBudget(null, 8_192 * MEBIBYTE)).toBe(DEFAULT_LIMIT);
  expect(limitOfBudget(null, 256 * MEBIBYTE)).toBe(256 * MEBIBYTE);
});

/** A budget, and how often it woke what waits for room. */
function watched() {
  const memory = new MemoryBudget(LIMIT);
  const watched = { memory, woken: 0, forget: () => undefined as unknown };
  watched.forget = memory.onRoom(() => {
    watched.woken += 1;
  });
  return watched;
}

test('there is room for a quarter within a second, and what waits is woken once when there is again', () => {
  jest.useFakeTimers();
  const all = watched();
  const { memory } = all;
  memory.hold(BUDGET / 4 - 1);
  expect(memory.hasRoom).toBe(true);
  const [first, second] = [memory.hold(1), memory.hold(1)];
  expect(memory.hasRoom).toBe(false);
  memory.release([first]);
  expect([memory.hasRoom, all.woken]).toEqual([false, 0]);
  memory.release([second]);
  expect([memory.hasRoom, all.woken]).toEqual([true, 1]);
  memory.release([]);
  all.forget();
  memory.release([memory.hold(BUDGET)]);
  expect(all.woken).toBe(1);
  expect(jest.getTimerCount()).toBe(0);
});

test('what is held for a second leaves room for another quarter, and so on up to three quarters', () => {
  jest.useFakeTimers();
  const all = watched();
  const { memory } = all;
  const first = memory.hold(BUDGET / 4);
  jest.advanceTimersByTime(999);
  expect([memory.hasRoom, all.woken]).toEqual([false, 0]);
  jest.advanceTimersByTime(1);
  expect([memory.hasRoom, all.woken]).toEqual([true, 1]);
  memory.hold(BUDGET / 4);
  expect(memory.hasRoom).toBe(false);
  jest.advanceTimersByTime(1_000);
  expect([memory.hasRoom, all.woken]).toEqual([true, 2]);
  memory.hold(BUDGET / 4);
  jest.advanceTimersByTime(10_000);
  expect([memory.hasRoom, all.woken]).toEqual([false, 2]);
  memory.release([first]);
  expect([memory.hasRoom, all.woken, jest.getTimerCount()]).toEqual([true, 3, 0]);
});

test('what is given back after a second takes nothing off what came since', () => {
  jest.useFakeTimers();
  const { memory } = watched();
  const old = memory.hold(BUDGET / 4);
  jest.advanceTimersByTime(1_000);
  memory.hold(BUDGET / 4);
  memory.release([old]);
  expect(memory.hasRoom).toBe(false);
});

test('what comes while there is no room does not make it wait longer', () => {
  jest.useFakeTimers();
  const { memory } = watched();
  memory.hold(BUDGET / 4);
  jest.advanceTimersByTime(900);
  memory.hold(1);
  jest.advanceTimersByTime(100);
  expect(memory.hasRoom).toBe(true);
});

test('a fetch asks for 4 MiB, and 1 MiB for a partition, and for less where that unpacks to more than is allowed', () => {
  const memory = new MemoryBudget(LIMIT);
  expect(memory.fetchBytes(1)).toEqual({ maxBytes: 4 * MEBIBYTE, maxBytesPerPartition: MEBIBYTE });
  for (let nth = 0; nth < 1_000; nth += 1) {
    memory.answer({}).add(1_000, 13_500);
  }
  const { maxBytes } = memory.fetchBytes(1);
  expect(maxBytes).toBeLessThan((16 * MEBIBYTE) / 13);
  expect(maxBytes).toBeGreaterThan((16 * MEBIBYTE) / 14);
  for (let nth = 0; nth < 20_000; nth += 1) {
    memory.answer({}).add(14_000, 13_500);
  }
  // Four brokers would get 4 MiB each of bytes that take no more in memory.
  expect(memory.fetchBytes(4).maxBytes).toBeGreaterThan(3.5 * MEBIBYTE);
});

test('answers of several brokers share what may be under way, and however many they are each asks for something', () => {
  const memory = new MemoryBudget(LIMIT);
  expect(memory.fetchBytes(8).maxBytes).toBe(2 * MEBIBYTE);
  expect(memory.fetchBytes(100_000).maxBytes).toBe(65_536);
  expect(memory.fetchBytes(0).maxBytes).toBe(4 * MEBIBYTE);
});

test('an answer is full when it takes its share of memory, and never before its first batch', () => {
  const memory = new MemoryBudget(LIMIT);
  memory.fetchBytes(2);
  const answer = {};
  expect(memory.answer(answer).isFull).toBe(false);
  memory.answer(answer).add(1, 7 * MEBIBYTE);
  expect(memory.answer(answer).isFull).toBe(false);
  memory.answer(answer).add(1, MEBIBYTE);
  expect(memory.answer(answer).isFull).toBe(true);
  expect(memory.answer({}).isFull).toBe(false);
});

test('partitions share half of what may be held, since each may have such a queue in its transaction', () => {
  const memory = new MemoryBudget(LIMIT);
  expect(memory.share(240) * 240 * 2).toBeCloseTo(BUDGET * 0.75);
  expect(memory.share(0)).toBe(memory.share(1));
});

test('whatever a queue does, it holds what it has and what is being written, and nothing in the end', async () => {
  const step = fc.constantFrom('push', 'use', 'fail', 'clear');
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 30, size: 'max' }),
      fc.integer({ min: 1, max: 7 }),
      async (steps, records) => {
        const memory = new MemoryBudget(LIMIT);
        const queue = new RecordQueue(memory);
        const aFixed = (offset: bigint) => aRecord(offset, { key: null, value: Buffer.alloc(10) });
        const one = ENTRY_BYTES + recordsOf([aFixed(0n), aFixed(1n)]).memory;
        let [end, queued] = [0n, 0];
        const take = async (isFailing: boolean) => {
          const before = memory.held;
          const using = queue.use({ records, bytes: MEBIBYTE }, async (taken) => {
            expect(memory.held).toBe(before);
            queued -= taken.records.length;
            if (isFailing) throw new Error('refused');
          });
          await using.catch(() => undefined);
        };
        for (const each of steps) {
          if (each === 'push') {
            const batch = {
              records: recordsOf([aFixed(end), aFixed(end + 1n)]),
              firstOffset: end,
              nextOffset: end + 2n,
            };
            queue.push({ ...batch, fetchedAt: new Date(0) });
            [end, queued] = [batch.nextOffset, queued + 2];
          } else if (each === 'clear') {
            queue.clear();
            queued = 0;
          } else if (queued > 0) {
            await take(each === 'fail');
          }
          // A batch of two stays in memory until both are written.
          expect(memory.held).toBe(Math.ceil(queued / 2) * one);
        }
        queue.clear();
        expect(memory.held).toBe(0);
      },
    ),
  );
});
