import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, expect, test } from '@jest/globals';
import { FetchLoop, USUAL_WAIT } from '../../../../app/kafka/fetch/fetch-loop.ts';
import { FetchedPartition, FetchedTopic } from '../../../../app/kafka/fetch/fetched-partition.ts';
import type { Broker } from '../../../../app/kafka/kafkajs/classes.ts';
import { MemoryBudget } from '../../../../app/memory/memory-budget.ts';
import { milliseconds } from '../../../../settings/schema/duration.ts';
import { MOST_LINGER } from '../../../../settings/sections/kafka.ts';
import { answerBytes } from './fetch-bytes.ts';
import { batch, openBrokers, type StubBrokers, TurningClock } from './stub-brokers.ts';

const { lingerMs } = USUAL_WAIT;

let brokers: StubBrokers;

afterEach(() => brokers?.fetcher.stop());

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

test('what is behind a transaction that is open from the first offset on is not there to be read yet', async () => {
  await withoutTime([1, 1]);
  await brokers.answer(1, [batch(0, 0), { partition: 1, highWatermark: 9, lastStableOffset: 0 }]);
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

test('a broker of which nothing is wanted any more lingers for nothing', async () => {
  await withoutTime([1]);
  brokers.onFetched = () => brokers.fetcher.pause(orders(0));
  await brokers.answer(1, [batch(0, 0)]);
  expect([brokers.asked, brokers.clock.pauses]).toEqual([[], []]);
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

/** How long a loop waits behind an answer with records of so many topics. */
async function pauseBehind(topics: number, lingering = lingerMs): Promise<readonly number[]> {
  const clock = new TurningClock();
  clock.isStopped = true;
  const partition = new FetchedPartition(orders(0), new FetchedTopic('orders'));
  Object.assign(partition, { leader: 1 });
  partition.seek(0n, {});
  partition.resume();
  partition.hasNewEnds(0, 0, 0);
  const send = async ({ response }: { response: { decode(answer: Buffer): unknown } }) => {
    await turn();
    return response.decode(answerBytes(11, []));
  };
  const broker = { versions: { 1: { maxVersion: 11 } }, connectionPool: { pool: [], send } } as unknown as Broker;
  const ignore = () => undefined;
  const loop = new FetchLoop(1, {
    connections: { to: async () => broker, drop: ignore },
    collector: { collect: async () => topics },
    ...{ memory: new MemoryBudget(), clock, wait: { ...USUAL_WAIT, lingerMs: lingering }, brokers: () => 1 },
    ...{ onPoll: ignore, onFetchedByName: ignore, onFailed: ignore },
  });
  loop.lead([partition]);
  for (let turns = 0; clock.waits === 0 && turns < 30; turns += 1) {
    await turn();
  }
  loop.stop();
  return clock.pauses;
}

test.each([
  [1, lingerMs],
  [41, 2 * lingerMs],
  [201, 6 * lingerMs],
  [361, milliseconds(MOST_LINGER)],
  [10_000, milliseconds(MOST_LINGER)],
])(
  'behind records of %i topics it lingers for %i ms: each table that is in a transaction costs',
  async (topics, ms) => {
    expect(await pauseBehind(topics)).toEqual([ms]);
  },
);

test('the setting is what topics make a multiple of', async () => {
  expect(await pauseBehind(41, 20)).toEqual([40]);
});
