import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { internals } from '../../../../app/kafka/kafkajs/internals.ts';
import { batch, fetched, openBrokers, StubBrokers } from './stub-brokers.ts';

let brokers: StubBrokers;

async function fetching(...given: Parameters<typeof openBrokers>): Promise<StubBrokers> {
  brokers = await openBrokers(...given);
  return brokers;
}

afterEach(() => brokers.fetcher.stop());

const orders = (partition: number) => ({ topic: 'orders', partition });

describe('an error', () => {
  test.each([1, 3, 100, 103])(
    '%d, of an offset or a topic that is not there, is told, the partition held back, and who leads a topic asked',
    async (error) => {
      await fetching([1, 1], { 0: 0n, 1: 0n });
      await brokers.answer(1, [{ partition: 0, error }]);
      const told = brokers.taken();
      expect(told).toContain('0 is out of range');
      // An offset does not depend on the leader, a topic that is not there may.
      expect(told.includes('metadata of orders')).toBe(error !== 1);
      expect(brokers.asked).toEqual(['1: 1@0e-1']);
      brokers.seek(0, 4n);
      brokers.fetcher.resume(orders(0));
      await brokers.answer(1, []);
      expect(brokers.asked.join()).toContain('0@4e-1');
    },
  );

  test.each([
    [29, 'TOPIC_FORBIDDEN'],
    [2, 'CORRUPT_BATCH'],
  ])('%d is told as %s at the position, the partition held back, and no leader asked for', async (error, code) => {
    await fetching([1, 1], { 0: 5n, 1: 0n });
    await brokers.answer(1, [{ partition: 0, error }, batch(1, 0)]);
    const told = brokers.taken();
    expect(told).toEqual(expect.arrayContaining([`0: ${code} at 5`, '1: 0 to 3 epoch 0 [0,1,2]']));
    expect(told).not.toContain('metadata of orders');
    expect(brokers.asked).toEqual(['1: 1@3e0']);
  });

  test.each([5, 6, 9, 56, 72, 74, 75, 78, 42])(
    '%d of one leader makes the next one asked, without a gap',
    async (error) => {
      await fetching([1, 1], { 0: 5n, 1: 0n });
      brokers.leaders = [2, 1];
      await brokers.answer(1, [{ partition: 0, error }, batch(1, 0)]);
      expect(brokers.taken()).toContain('metadata of orders');
      expect(brokers.asked.toSorted()).toEqual(['1: 1@3e0', '2: 0@5e-1']);
    },
  );

  test('of a leader that stays the same is asked about further and further apart', async () => {
    await fetching([1], { 0: 5n });
    for (let nth = 0; nth < 7; nth += 1) {
      await brokers.answer(1, [{ partition: 0, error: 6 }]);
    }
    expect(brokers.clock.pauses.filter((ms) => ms > 0)).toEqual([100, 200, 400, 800, 1_000, 1_000, 1_000]);
  });

  test('of a log that parted from what was read is told, and nothing handed over', async () => {
    await fetching([1], { 0: 5n });
    await brokers.answer(1, [{ ...batch(0, 5), diverging: [3, 4] }]);
    expect(brokers.taken()).toContain('0 was read to 5, and parted at 4 of epoch 3');
    expect(brokers.asked).toEqual([]);
  });

  test('of a log that parted behind what was read is none, and the epoch before it is asked by', async () => {
    await fetching([1], { 0: 5n });
    await brokers.answer(1, [{ ...batch(0, 5), diverging: [3, 5] }]);
    expect(fetched(brokers.taken())).toEqual([]);
    expect(brokers.asked).toEqual(['1: 0@5e3']);
  });
});

describe('a broker', () => {
  test('that loses its connection is asked again after a pause, and its partitions may have moved', async () => {
    await fetching([1, 2], { 0: 0n, 1: 0n });
    brokers.leaders = [2, 2];
    await brokers.fail(1);
    expect(brokers.taken()).toEqual(expect.arrayContaining(['dropped 1', 'metadata of orders']));
    await brokers.answer(2, []);
    expect(brokers.asked).toEqual(['2: 0@0e-1 1@0e-1']);
  });

  test('that fails again and again is asked further and further apart, and so are the leaders', async () => {
    await fetching([1], { 0: 0n });
    for (let nth = 0; nth < 4; nth += 1) {
      await brokers.fail(1);
    }
    const pauses = brokers.clock.pauses.filter((ms) => ms > 0);
    expect(pauses.toSorted((one, other) => one - other)).toEqual([100, 100, 200, 200, 400, 400, 800, 800]);
  });

  test('that hangs holds up no other one, and what moves away from it is read elsewhere, once', async () => {
    await fetching([1, 2], { 0: 0n, 1: 0n });
    await brokers.answer(2, [batch(1, 0)]);
    expect(fetched(brokers.taken())).toEqual(['1: 0 to 3 epoch 0 [0,1,2]']);
    brokers.leaders = [2, 2];
    // An error of another partition is what makes the leaders looked up here; in a process it is also the time.
    await brokers.answer(2, [{ partition: 1, error: 6 }]);
    await brokers.answer(2, [batch(0, 0)]);
    expect(fetched(brokers.taken())).toEqual(['0: 0 to 3 epoch 0 [0,1,2]']);
    await brokers.answer(1, [batch(0, 0)]);
    expect(fetched(brokers.taken())).toEqual([]);
  });

  test('that is silent for two seconds makes the leaders looked up, and is asked about them last', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
    await fetching([1, 2], { 0: 0n, 1: 0n });
    jest.advanceTimersByTime(1_900);
    await brokers.answer(2, []);
    expect(brokers.taken()).toEqual([]);
    jest.advanceTimersByTime(1_200);
    await brokers.settle();
    expect(brokers.taken()).toEqual(['metadata of orders slow: 1']);
    jest.useRealTimers();
  });

  test('is asked for a partition as soon as that has a leader', async () => {
    await fetching([1, -1], { 0: 0n, 1: 0n });
    expect(brokers.asked).toEqual(['1: 0@0e-1']);
    brokers.leaders = [1, 2];
    await brokers.settle();
    expect(brokers.asked).toEqual(['1: 0@0e-1', '2: 1@0e-1']);
  });

  test('is asked once the leaders are known, however often they could not be told', async () => {
    brokers = new StubBrokers([1]);
    brokers.metadataFails = true;
    await brokers.open({ 0: 0n });
    expect(brokers.asked).toEqual([]);
    brokers.metadataFails = false;
    await brokers.settle();
    expect(brokers.asked).toEqual(['1: 0@0e-1']);
  });
});

test('the leaders of an assignment are those of before, and are asked for when a topic is new', async () => {
  await fetching([1, 1], { 0: 0n });
  await brokers.open({ 1: 0n });
  expect(brokers.taken()).toEqual([]);
});

test('the end closes the connections, and an answer that comes then is dropped', async () => {
  await fetching([1, 2], { 0: 0n, 1: 0n });
  brokers.fetcher.stop();
  await brokers.answer(1, [batch(0, 0)]);
  await brokers.fail(2);
  expect([brokers.taken(), brokers.logged]).toEqual([['closed'], []]);
  expect(brokers.asked).toEqual([]);
});

test('a new partition may have a fault of before, so its first answer without one is reported', async () => {
  await fetching([1], { 0: 5n });
  await brokers.answer(1, [batch(0, 5)]);
  await brokers.answer(1, [batch(0, 8)]);
  expect(brokers.taken().filter((line) => line.includes(' is '))).toEqual(['0 is readable', '0 is read']);
});

test('a partition with a fault is readable as soon as it has an answer without an error, and read with its next batch', async () => {
  await fetching([1], { 0: 5n });
  await brokers.answer(1, [batch(0, 5)]);
  await brokers.answer(1, [{ partition: 0, error: 2 }]);
  brokers.taken();
  brokers.fetcher.resume(orders(0));
  await brokers.settle();
  await brokers.answer(1, [{ partition: 0 }]);
  expect(brokers.taken().filter((line) => line.includes(' is '))).toEqual(['0 is readable']);
  await brokers.answer(1, [batch(0, 8)]);
  await brokers.answer(1, [batch(0, 11)]);
  expect(brokers.taken().filter((line) => line.includes(' is '))).toEqual(['0 is readable', '0 is read']);
});

describe('the log of failures', () => {
  test('has each reason of a broker once, not each attempt', async () => {
    await fetching([1, 2], { 0: 0n, 1: 0n });
    await brokers.fail(1);
    await brokers.fail(1);
    await brokers.fail(2);
    const text = 'fetches from a broker fail, trying again: connection lost';
    expect(brokers.logged).toEqual([`warn 1 1: ${text}`, `debug 1 undefined: ${text}`, `warn 2 1: ${text}`]);
  });

  test('has why the leaders are not known', async () => {
    brokers = new StubBrokers([1]);
    brokers.metadataFails = true;
    await brokers.open({ 0: 0n });
    const text = 'a partition cannot be fetched, trying again: no metadata';
    expect(brokers.logged.slice(0, 2)).toEqual([`warn -1 1: ${text}`, `debug -1 undefined: ${text}`]);
  });

  test('has the partition that a broker refuses by an error that fetches do not have', async () => {
    await fetching([1], { 0: 0n });
    await brokers.answer(1, [{ partition: 0, error: 42 }]);
    expect(brokers.logged).toEqual([expect.stringMatching(/^warn -1 1: a partition cannot be fetched.*: orders\/0: /)]);
  });

  test('has an outage at the level debug alone: kafkajs logs it, or it ends by itself', async () => {
    await fetching([1], { 0: 0n });
    await brokers.fail(1, new internals.errors.KafkaJSConnectionError('refused', { broker: 'b' }));
    await brokers.answer(1, [], { error: 7 });
    const line = expect.stringMatching(/^debug 1 undefined: fetches from a broker fail/);
    expect(brokers.logged).toEqual([line, line]);
  });
});
