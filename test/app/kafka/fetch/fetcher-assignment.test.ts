import { afterEach, expect, test } from '@jest/globals';
import { topicId } from './fetch-bytes.ts';
import { openBrokers, StubBrokers } from './stub-brokers.ts';

let brokers: StubBrokers;

afterEach(() => brokers.fetcher.stop());

const orders = (partition: number) => ({ topic: 'orders', partition });

test('what is assigned is what was assigned last', async () => {
  brokers = await openBrokers([1, 1], { 0: 0n, 1: 0n });
  expect([...brokers.fetcher.assigned.values()]).toMatchObject([orders(0), orders(1)]);
  brokers.fetcher.assign([orders(1)]);
  expect([...brokers.fetcher.assigned.values()]).toMatchObject([orders(1)]);
});

test('the partitions of a topic follow each other in a request, in whatever order they were assigned', async () => {
  brokers = new StubBrokers([1, 1]);
  const ids: Readonly<Record<string, number>> = { a: 1, b: 2, c: 3 };
  const targets = ['b', 'c', 'a'].map((topic) => ({ topic, partition: 0 }));
  const others = ['c', 'a', 'b'].map((topic) => ({ topic, partition: 1 }));
  brokers.fetcher.assign([...targets, ...others]);
  for (const target of [...targets, ...others]) {
    brokers.fetcher.seek({ ...target, offset: 0n, topicId: topicId(ids[target.topic] ?? 0), leaderEpoch: -1 });
    brokers.fetcher.resume(target);
  }
  await brokers.settle();
  const asked: string[] = [];
  for (let nth = 0; nth < 6; nth += 1) {
    asked.push(...brokers.asked.map((line) => line.replaceAll('@0e-1', '')));
    await brokers.answer(1, []);
  }
  // Each is the first one in its turn, with the rest of its topic behind it.
  expect(asked).toEqual([
    '1: 1/1 1/0 2/0 2/1 3/0 3/1',
    '1: 2/0 2/1 3/0 3/1 1/0 1/1',
    '1: 2/1 2/0 3/0 3/1 1/0 1/1',
    '1: 3/0 3/1 1/0 1/1 2/0 2/1',
    '1: 3/1 3/0 1/0 1/1 2/0 2/1',
    '1: 1/0 1/1 2/0 2/1 3/0 3/1',
  ]);
});

test('what is not assigned can be paused, resumed and sought, to no effect', async () => {
  brokers = await openBrokers([1, 1], { 0: 0n });
  brokers.fetcher.pause(orders(1));
  brokers.seek(1, 5n);
  brokers.fetcher.resume(orders(1));
  await brokers.answer(1, []);
  expect(brokers.asked).toEqual(['1: 0@0e-1']);
});

test('what is assigned after the end is not fetched', async () => {
  brokers = await openBrokers([1, 2], { 0: 0n });
  brokers.fetcher.stop();
  await brokers.answer(1, []);
  await brokers.open({ 0: 0n, 1: 0n });
  expect(brokers.asked).toEqual([]);
});
