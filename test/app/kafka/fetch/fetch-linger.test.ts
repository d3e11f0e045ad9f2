import { afterEach, expect, test } from '@jest/globals';
import { USUAL_WAIT } from '../../../../app/kafka/fetch/fetch-loop.ts';
import { batch, openBrokers, type StubBrokers } from './stub-brokers.ts';

const { lingerMs } = USUAL_WAIT;

let brokers: StubBrokers;

afterEach(() => brokers.fetcher.stop());

const orders = (partition: number) => ({ topic: 'orders', partition });

/** Brokers of partitions whose leaders these are, at their beginnings; time passes only where a test lets it. */
async function withoutTime(leaders: readonly number[], lingering = lingerMs): Promise<void> {
  const offsets = Object.fromEntries(leaders.map((_, partition) => [partition, 0n]));
  brokers = await openBrokers([...leaders], offsets, { ...USUAL_WAIT, lingerMs: lingering });
  brokers.clock.isStopped = true;
}

test('a broker whose logs were read to their ends is asked again when the linger is over', async () => {
  await withoutTime([1]);
  brokers.clock.pass(30);
  await brokers.answer(1, [batch(0, 0)]);
  expect(brokers.asked).toEqual([]);
  expect(brokers.clock.pauses).toEqual([lingerMs - 30]);
  brokers.clock.isStopped = false;
  await brokers.settle();
  expect(brokers.asked).toEqual(['1: 0@3e0']);
});

test('a broker that kept a request for as long is asked again at once: what was at rest waits for nothing', async () => {
  await withoutTime([1]);
  brokers.clock.pass(lingerMs);
  await brokers.answer(1, [batch(0, 0)]);
  expect(brokers.asked).toEqual(['1: 0@3e0']);
  expect(brokers.clock.pauses).toEqual([]);
});

test('a broker with more of a log is asked again at once', async () => {
  await withoutTime([1, 1]);
  await brokers.answer(1, [{ ...batch(0, 0), highWatermark: 4 }, batch(1, 0)]);
  expect(brokers.asked).toEqual(['1: 0@3e0 1@3e0']);
});

test('what is behind an open transaction is not there to be read yet', async () => {
  await withoutTime([1]);
  await brokers.answer(1, [{ ...batch(0, 0), highWatermark: 9, lastStableOffset: 3 }]);
  expect(brokers.asked).toEqual([]);
});

test('where a broker sends no last stable offset, the end of the log is its high watermark', async () => {
  await withoutTime([1]);
  await brokers.answer(1, [{ ...batch(0, 0), highWatermark: 9, lastStableOffset: -1 }]);
  expect(brokers.asked).toEqual(['1: 0@3e0']);
});

test('a broker that left a partition out of its answer may have records of it, and is asked again at once', async () => {
  await withoutTime([1, 1]);
  await brokers.answer(1, [batch(0, 0)]);
  expect(brokers.asked).toEqual(['1: 0@3e0 1@0e-1']);
});

test('a partition that is paused does not count, and is asked for at once when it is resumed', async () => {
  await withoutTime([1, 1]);
  brokers.fetcher.pause(orders(1));
  await brokers.answer(1, [batch(0, 0), { partition: 1, highWatermark: 9 }]);
  expect(brokers.asked).toEqual([]);
  brokers.fetcher.resume(orders(1));
  await brokers.settle();
  expect(brokers.asked.map((asked) => asked.split(' ').toSorted())).toEqual([['0@3e0', '1:', '1@0e-1']]);
});

test('a broker that had no records for a request is asked again at once', async () => {
  await withoutTime([1]);
  await brokers.answer(1, [{ partition: 0, highWatermark: 0 }]);
  expect(brokers.asked).toEqual(['1: 0@0e-1']);
  expect(brokers.clock.pauses).toEqual([]);
});

test('a partition that is resumed while a request is under way is asked for behind it at once', async () => {
  await withoutTime([1, 1]);
  await brokers.answer(1, [batch(0, 0), batch(1, 0)]);
  brokers.clock.isStopped = false;
  await brokers.settle();
  brokers.clock.isStopped = true;
  brokers.fetcher.pause(orders(1));
  brokers.fetcher.resume(orders(1));
  await brokers.answer(1, [batch(0, 3)]);
  expect(brokers.asked.map((asked) => asked.split(' ').toSorted())).toEqual([['0@6e0', '1:', '1@3e0']]);
});

test('a broker does not linger for another one', async () => {
  await withoutTime([1, 2]);
  await brokers.answer(1, [batch(0, 0)]);
  await brokers.answer(2, [{ ...batch(1, 0), highWatermark: 9 }]);
  expect(brokers.asked).toEqual(['2: 1@3e0']);
});

test('nothing lingers where it is set to 0', async () => {
  await withoutTime([1], 0);
  await brokers.answer(1, [batch(0, 0)]);
  expect(brokers.asked).toEqual(['1: 0@3e0']);
  expect(brokers.clock.pauses).toEqual([]);
});

test('the end does not wait for what lingers, which asks for nothing any more', async () => {
  await withoutTime([1]);
  await brokers.answer(1, [batch(0, 0)]);
  expect(brokers.clock.waits).toBe(1);
  brokers.fetcher.stop();
  await brokers.settle();
  expect(brokers.asked).toEqual([]);
  expect(brokers.clock.waits).toBe(0);
});
