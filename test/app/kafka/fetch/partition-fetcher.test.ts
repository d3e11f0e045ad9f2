import { afterEach, describe, expect, test } from '@jest/globals';
import { answerMemory } from '../../../../app/kafka/kafkajs/answer-patches.ts';
import { checksummed, recordBatch } from './record-sets.ts';
import { ANSWER_BYTES, batch, fetched, openBrokers, StubBrokers } from './stub-brokers.ts';

let brokers: StubBrokers;

async function fetching(...given: Parameters<typeof openBrokers>): Promise<StubBrokers> {
  brokers = await openBrokers(...given);
  return brokers;
}

afterEach(() => brokers.fetcher.stop());

const orders = (partition: number) => ({ topic: 'orders', partition });

describe('what is asked for', () => {
  test('is what is sought and resumed, from where it is, each broker by itself', async () => {
    await fetching([1, 2, 1], { 0: 5n, 1: 6n, 2: 7n });
    expect(brokers.asked).toEqual(['1: 2@7e-1 0@5e-1', '2: 1@6e-1']);
    expect(brokers.versions).toEqual([13, 13]);
  });

  test('is nothing of a partition that is paused, or was not sought', async () => {
    await fetching([1, 1], {});
    brokers.fetcher.assign([orders(0), orders(1)]);
    brokers.fetcher.resume(orders(0));
    brokers.seek(1, 3n);
    await brokers.settle();
    expect(brokers.asked).toEqual([]);
    brokers.fetcher.resume(orders(1));
    await brokers.settle();
    expect(brokers.asked).toEqual(['1: 1@3e-1']);
  });

  test('goes on behind what was handed over, with its leader epoch', async () => {
    await fetching([1], { 0: 0n });
    await brokers.answer(1, [batch(0, 0)]);
    expect(fetched(brokers.taken())).toEqual(['0: 0 to 3 epoch 0 [0,1,2]']);
    expect(brokers.asked).toEqual(['1: 0@3e0']);
  });

  test('begins with another partition in each request, and leaves none out', async () => {
    await fetching([1, 1, 1], { 0: 0n, 1: 0n, 2: 0n });
    const asked = [];
    for (let nth = 0; nth < 3; nth += 1) {
      asked.push(...brokers.asked);
      await brokers.answer(1, []);
    }
    expect(asked.map((line) => line.replaceAll('@0e-1', ''))).toEqual(['1: 1 2 0', '1: 2 0 1', '1: 0 1 2']);
  });

  test('is nothing while the memory has no room, and goes on with the first room', async () => {
    await fetching([1], { 0: 0n });
    const { memory } = brokers;
    const most = memory.fetchBytes(1).maxBytes * 1_000;
    const held = memory.hold(most);
    await brokers.answer(1, [batch(0, 0)]);
    expect(brokers.asked).toEqual([]);
    memory.release([held]);
    await brokers.settle();
    expect(brokers.asked).toEqual(['1: 0@3e0']);
  });

  test('is shared by the brokers that lead something', async () => {
    await fetching([1, 2], { 0: 0n, 1: 0n });
    const most = (count: number): number => brokers.memory.fetchBytes(count).maxBytes;
    expect(most(2)).toBeLessThan(most(1));
    expect(brokers.maxBytes).toEqual([most(2), most(2)]);
    brokers.leaders = [2, 2];
    await brokers.fail(1);
    await brokers.answer(2, []);
    expect(brokers.maxBytes).toEqual([most(1)]);
  });

  test.each([
    [9, 'by name, of 10, without ids'],
    [10, 'by name, of 10, with ids'],
  ])('is by name where the broker offers no more, which is told with version %i of its metadata', async (of, told) => {
    brokers = new StubBrokers([1, 1]);
    [brokers.offered, brokers.offeredMetadata] = [10, of];
    await brokers.open({ 0: 4n, 1: 4n });
    expect(brokers.versions).toEqual([10]);
    expect(brokers.taken()).toContain(told);
    await brokers.answer(1, [batch(0, 4)]);
    expect(fetched(brokers.taken())).toEqual(['0: 4 to 7 epoch 0 [4,5,6]']);
  });

  test('is by name in one request, whether or not ids are known', async () => {
    brokers = new StubBrokers([1, 1]);
    brokers.offered = 10;
    await brokers.open({ 0: 4n, 1: 4n });
    brokers.seek(1, 4n, null);
    await brokers.answer(1, []);
    await brokers.answer(1, [batch(0, 4), batch(1, 4)]);
    expect(fetched(brokers.taken())).toEqual(['0: 4 to 7 epoch 0 [4,5,6]', '1: 4 to 7 epoch 0 [4,5,6]']);
  });

  test('is by id and by name in turns where the ids of some topics are not known', async () => {
    await fetching([1, 1], { 0: 0n, 1: 0n });
    brokers.seek(1, 0n, null);
    const versions = [];
    for (let nth = 0; nth < 4; nth += 1) {
      await brokers.answer(1, []);
      versions.push(...brokers.versions);
    }
    expect(versions.toSorted()).toEqual([11, 11, 13, 13]);
  });

  test('begins with another partition in each request by id, where those by name take turns with them', async () => {
    await fetching([1, 1, 1, 1], { 0: 0n, 1: 0n, 2: 0n, 3: 0n });
    brokers.seek(2, 0n, null);
    brokers.seek(3, 0n, null);
    const byId = [];
    for (let nth = 0; nth < 8; nth += 1) {
      await brokers.answer(1, []);
      byId.push(...(brokers.versions[0] === 13 ? brokers.asked : []));
    }
    expect(byId.map((line) => line.replaceAll('@0e-1', ''))).toEqual(['1: 1 0', '1: 0 1', '1: 1 0', '1: 0 1']);
  });
});

describe('an answer', () => {
  test('is taken in whatever order its partitions come', async () => {
    await fetching([1, 1, 1], { 0: 0n, 1: 10n, 2: 20n });
    await brokers.answer(1, [batch(2, 20), batch(0, 0), batch(1, 10)]);
    expect(fetched(brokers.taken())).toEqual([
      '2: 20 to 23 epoch 0 [20,21,22]',
      '0: 0 to 3 epoch 0 [0,1,2]',
      '1: 10 to 13 epoch 0 [10,11,12]',
    ]);
  });

  test('begins with a whole batch, of which what is before the position is left out', async () => {
    await fetching([1], { 0: 1n });
    await brokers.answer(1, [batch(0, 0)]);
    expect(fetched(brokers.taken())).toEqual(['0: 1 to 3 epoch 0 [1,2]']);
  });

  test('that ends before the position moves nothing', async () => {
    await fetching([1], { 0: 9n });
    await brokers.answer(1, [batch(0, 0)]);
    expect(fetched(brokers.taken())).toEqual([]);
    expect(brokers.asked).toEqual(['1: 0@9e-1']);
  });

  test('of a partition twice, or of one that was not asked for, counts once, or not at all', async () => {
    await fetching([1, 2], { 0: 0n, 1: 0n });
    await brokers.answer(1, [batch(0, 0), batch(0, 0), batch(1, 0), batch(7, 0)]);
    expect(fetched(brokers.taken())).toEqual(['0: 0 to 3 epoch 0 [0,1,2]']);
  });

  test.each<[string, (of: StubBrokers) => void, string[]]>([
    ['a seek', (of) => of.seek(0, 50n), ['1: 0@50e-1']],
    ['a seek to where it was', (of) => of.seek(0, 0n), ['1: 0@0e-1']],
    ['another topic id', (of) => of.seek(0, 0n, 7), ['1: 7/0@0e-1']],
    ['a pause', (of) => of.fetcher.pause(orders(0)), []],
    ['the end of the assignment', (of) => of.fetcher.assign([]), []],
  ])('of before %s is dropped', async (_, change, asked) => {
    await fetching([1], { 0: 0n });
    change(brokers);
    await brokers.answer(1, [batch(0, 0)]);
    expect(fetched(brokers.taken())).toEqual([]);
    expect(brokers.asked).toEqual(asked);
  });

  test('of before a seek is no error of the partition either', async () => {
    await fetching([1], { 0: 0n });
    brokers.seek(0, 50n);
    await brokers.answer(1, [{ partition: 0, error: 1 }]);
    expect(brokers.taken()).toEqual([]);
  });

  test('of before a seek is dropped, even where that comes while its records are read', async () => {
    await fetching([1], { 0: 0n });
    const answered = brokers.answer(1, [batch(0, 0)]);
    // Reading gives other work its turn first, and this is the first other work.
    setImmediate(() => brokers.seek(0, 1n));
    await answered;
    expect(fetched(brokers.taken())).toEqual([]);
    expect(brokers.asked).toEqual(['1: 0@1e-1']);
  });

  test('whose hand-over seeks back is asked for from there', async () => {
    await fetching([1], { 0: 0n });
    brokers.onFetched = () => brokers.seek(0, 1n);
    await brokers.answer(1, [batch(0, 0)]);
    expect(brokers.asked).toEqual(['1: 0@1e-1']);
  });

  test('with a batch that cannot be read is taken up to it, then the partition is held back until it is sought', async () => {
    await fetching([1, 1], { 0: 0n, 1: 0n });
    const damaged = Buffer.from(recordBatch(3, 1));
    damaged.writeUInt8(damaged.readUInt8(60) ^ 1, 60);
    await brokers.answer(1, [{ partition: 0, set: Buffer.concat([recordBatch(0, 3), damaged]) }]);
    const told = brokers.taken().filter((line) => line.startsWith('0:'));
    expect(told).toEqual(['0: 0 to 3 epoch 0 [0,1,2]', '0: CORRUPT_BATCH at 3']);
    expect(brokers.asked).toEqual(['1: 1@0e-1']);
  });

  test('without records of a reader, here of an aborted transaction, is handed over as a range', async () => {
    await fetching([1], { 0: 0n });
    const transactional = Buffer.from(recordBatch(0, 3));
    transactional.writeInt16BE(0x10, 21);
    transactional.writeBigInt64BE(9n, 43);
    await brokers.answer(1, [{ partition: 0, set: checksummed(transactional), aborted: [[9, 0]] }]);
    expect(fetched(brokers.taken())).toEqual(['0: 0 to 3 epoch 0 []']);
  });

  test('says where the log ends when that has moved, and not with each answer', async () => {
    await fetching([1], { 0: 3n });
    for (const highWatermark of [3, 3, 4]) {
      await brokers.answer(1, [{ partition: 0, highWatermark, lastStableOffset: 3 }]);
    }
    expect(brokers.taken().filter((line) => line.includes('ends'))).toEqual(['0 ends at 3 and 3', '0 ends at 3 and 4']);
  });

  test('shows the log for the lag, though nothing came and nothing moved, and not with each answer', async () => {
    await fetching([1, 1], { 0: 7n, 1: 9n });
    for (const lastStableOffset of [8, 9, 10]) {
      await brokers.answer(1, [
        { partition: 0, logStart: 5, highWatermark: 12, lastStableOffset },
        { partition: 1, error: 9, logStart: 5, highWatermark: 12 },
      ]);
    }
    expect(brokers.logs).toEqual(['0 from 5 to 8']);
  });

  test('of a new leader that knows less of the log for now shows it up to what was read', async () => {
    await fetching([1], { 0: 7n });
    await brokers.answer(1, [{ partition: 0, logStart: 5, highWatermark: 6 }]);
    expect(brokers.logs).toEqual(['0 from 5 to 7']);
  });

  test('without the start or the stable end of the log shows none', async () => {
    await fetching([1, 1], { 0: 7n, 1: 9n });
    await brokers.answer(1, [
      { partition: 0, logStart: -1, highWatermark: 12 },
      { partition: 1, highWatermark: 12, lastStableOffset: -1 },
    ]);
    expect(brokers.logs).toEqual([]);
  });

  test('that is none drops the connection, and the same is asked again', async () => {
    await fetching([1], { 0: 0n });
    await brokers.answer(1, [batch(0, 0)], { error: 6 });
    expect(brokers.taken()).toContain('dropped 1');
    expect(brokers.asked).toEqual(['1: 0@0e-1']);
  });
});

describe('the memory of an answer', () => {
  const taken = () => answerMemory.take(ANSWER_BYTES);

  test('is used again when all of it was taken, and nothing that was handed over is in it', async () => {
    await fetching([1], { 0: 0n });
    await brokers.answer(1, [batch(0, 0)]);
    const again = taken();
    expect(again.buffer).toBe(brokers.answers[0]?.buffer);
    const values = () => brokers.handedOver.flatMap((records) => Array.from(records, ({ value }) => `${value}`));
    const before = values();
    again.fill(0xee);
    expect(values()).toEqual(before);
  });

  test('is not used again while a part of it is still to be taken', async () => {
    await fetching([1, 1], { 0: 0n, 1: 0n });
    const meanwhile: unknown[] = [];
    brokers.onFetched = () => void meanwhile.push(taken().buffer);
    await brokers.answer(1, [batch(0, 0), batch(1, 0)]);
    expect(meanwhile).toHaveLength(2);
    expect(meanwhile).not.toContain(brokers.answers[0]?.buffer);
    expect(taken().buffer).toBe(brokers.answers[0]?.buffer);
  });

  test('is not used again where it could not be taken, or came after the end', async () => {
    await fetching([1], { 0: 0n });
    await brokers.answer(1, [batch(0, 0)], { error: 6 });
    expect(taken().buffer).not.toBe(brokers.answers[0]?.buffer);
    brokers.fetcher.stop();
    await brokers.answer(1, [batch(0, 0)]);
    expect(taken().buffer).not.toBe(brokers.answers[1]?.buffer);
  });
});
