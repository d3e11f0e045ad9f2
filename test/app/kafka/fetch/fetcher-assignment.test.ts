import { afterEach, expect, test } from '@jest/globals';
import { topicId } from './fetch-bytes.ts';
import { batch, fetched, openBrokers, StubBrokers } from './stub-brokers.ts';

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

test('what stays assigned goes on, and its answer under way counts, whatever comes and goes beside it', async () => {
  brokers = await openBrokers([1, 1, 1], { 0: 0n, 1: 10n });
  brokers.fetcher.assign([orders(1), orders(2)]);
  brokers.seek(2, 20n);
  brokers.fetcher.resume(orders(2));
  await brokers.answer(1, [batch(0, 0), batch(1, 10)]);
  expect(fetched(brokers.taken())).toEqual(['1: 10 to 13 epoch 0 [10,11,12]']);
  expect(brokers.asked.map((asked) => asked.split(' ').toSorted())).toEqual([['1:', '1@13e0', '2@20e-1']]);
});

test('what went and came back is asked for once it was sought, and what was under way is dropped', async () => {
  brokers = await openBrokers([1], { 0: 0n });
  brokers.fetcher.assign([]);
  brokers.fetcher.assign([orders(0)]);
  await brokers.answer(1, [batch(0, 0)]);
  expect(fetched(brokers.taken())).toEqual([]);
  expect(brokers.asked).toEqual([]);
});

test('an answer of before another assignment of the partition is dropped', async () => {
  brokers = await openBrokers([1], { 0: 0n });
  brokers.fetcher.assign([]);
  await brokers.open({ 0: 30n });
  await brokers.answer(1, [batch(0, 0)]);
  expect(fetched(brokers.taken())).toEqual([]);
  expect(brokers.asked).toEqual(['1: 0@30e-1']);
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
