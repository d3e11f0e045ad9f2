import { describe, expect, test } from '@jest/globals';
import { recordsOf } from '../../../../app/records/pack-records.ts';
import { DeadLetterLimit } from '../../../../app/stream/ports/dead-letter.ts';
import type { WriteRequest } from '../../../../app/stream/ports/record-sink.ts';
import { FatalError } from '../../../../app/stream/ports/stream-errors.ts';
import { aRecord, PARTITION } from '../records.ts';

const aRequest = (records: number, topic = PARTITION.topic): WriteRequest => ({
  topic,
  partition: PARTITION.partition,
  expectedOffset: 7n,
  nextOffset: 7n + BigInt(records),
  records: recordsOf(Array.from({ length: records }, (_, index) => aRecord(7n + BigInt(index)))),
});

/** The places of `count` letters from `first` on. */
const from = (first: number, count: number): number[] => Array.from({ length: count }, (_, nth) => first + nth);

const committed = async (): Promise<void> => undefined;

/** A transaction of so many records of a topic, of which those at these places are dead letters. */
function write(
  limit: DeadLetterLimit,
  records: number,
  places: readonly number[],
  { topic = PARTITION.topic, commit = committed } = {},
): Promise<void> {
  const request = aRequest(records, topic);
  const letters = places.flatMap((place) => {
    const record = request.records.at(place);
    return record ? [{ record, place, reason: 'invalid_json' as const, error: 'SQLSTATE 22P02' }] : [];
  });
  return limit.committing(request, letters, commit);
}

const isStopped = (limit: DeadLetterLimit, records: number, places: readonly number[]): Promise<boolean> =>
  write(limit, records, places, { commit: () => Promise.reject(new Error('rolled back')) }).then(
    () => false,
    (error: unknown) => error instanceof FatalError && error.code === 'TOO_MANY_DEAD_LETTERS',
  );

describe('dead letters among a thousand records', () => {
  test('are accepted up to the limit, and one more is not', async () => {
    const limit = new DeadLetterLimit(0.1);
    expect(await isStopped(limit, 1_000, from(0, 100))).toBe(false);
    expect(await isStopped(limit, 1_000, from(0, 101))).toBe(true);
  });

  test('are those of the transaction in hand together with those before it', async () => {
    const limit = new DeadLetterLimit(0.1);
    await write(limit, 500, from(0, 50));
    limit.written(aRequest(400));
    expect(await isStopped(limit, 100, from(0, 50))).toBe(false);
    expect(await isStopped(limit, 100, from(0, 51))).toBe(true);
  });

  test('are a thousand in a row, wherever they are in a transaction that is longer', async () => {
    const limit = new DeadLetterLimit(0.1);
    const evenly = from(0, 500).map((nth) => nth * 10);
    expect(await isStopped(limit, 5_000, evenly)).toBe(false);
    expect(await isStopped(limit, 5_000, from(4_000, 101))).toBe(true);
    expect(await isStopped(limit, 5_000, [...from(2_000, 100), ...from(3_000, 100)])).toBe(false);
  });

  test('are forgotten when a thousand records came after them', async () => {
    const limit = new DeadLetterLimit(0.1);
    await write(limit, 100, from(0, 100));
    limit.written(aRequest(899));
    expect(await isStopped(limit, 1, [0])).toBe(true);
    limit.written(aRequest(1));
    expect(await isStopped(limit, 1, [0])).toBe(false);
  });

  test('are so many also while there were fewer records', async () => {
    const limit = new DeadLetterLimit(0.1);
    expect(await isStopped(limit, 100, from(0, 100))).toBe(false);
    expect(await isStopped(limit, 101, from(0, 101))).toBe(true);
  });

  test('are each counted before the next transaction that has some', async () => {
    const limit = new DeadLetterLimit(0.1);
    const writes = await Promise.allSettled([1, 2, 3].map(() => write(limit, 60, from(0, 60))));
    expect(writes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected']);
  });

  test('are those of one topic: another one has as many', async () => {
    const limit = new DeadLetterLimit(0.1);
    await write(limit, 100, from(0, 100), { topic: 'payments' });
    await write(limit, 100, from(0, 100));
    limit.written(aRequest(1_000));
    expect(await isStopped(limit, 1, [0])).toBe(false);
    await expect(write(limit, 1, [0], { topic: 'payments' })).rejects.toThrow('payments/0 from offset 7');
  });

  test('of a topic commit while those of another one do', async () => {
    const limit = new DeadLetterLimit(0.1);
    const other = write(limit, 1, [0], { topic: 'payments', commit: () => write(limit, 1, [0]) });
    await expect(other).resolves.toBeUndefined();
  });

  test('of a transaction that did not commit do not count', async () => {
    const limit = new DeadLetterLimit(0.1);
    for (let attempt = 0; attempt < 20; attempt += 1) {
      expect(await isStopped(limit, 1_000, from(0, 100))).toBe(false);
    }
  });
});

describe('what was written before the process', () => {
  const recalled = async (isLetter: readonly boolean[]) => {
    const limit = new DeadLetterLimit(0.1);
    await limit.recall(PARTITION.topic, async () => isLetter);
    return limit;
  };

  test('counts, in its order', async () => {
    const letters = Array<boolean>(100).fill(true);
    const others = Array<boolean>(900).fill(false);
    expect(await isStopped(await recalled([...others, ...letters]), 1, [0])).toBe(true);
    expect(await isStopped(await recalled([...letters, ...others]), 1, [0])).toBe(false);
  });

  test('may be beyond the limit, which concerns new letters alone', async () => {
    const limit = await recalled(Array<boolean>(1_000).fill(true));
    expect(await isStopped(limit, 1, [0])).toBe(true);
    limit.written(aRequest(899));
    expect(await isStopped(limit, 1, [0])).toBe(true);
    limit.written(aRequest(1));
    expect(await isStopped(limit, 1, [0])).toBe(false);
  });

  test('is asked for of each topic', async () => {
    const limit = new DeadLetterLimit(0.1);
    await limit.recall('payments', async () => Array<boolean>(100).fill(true));
    await limit.recall(PARTITION.topic, async () => []);
    expect(await isStopped(limit, 1, [0])).toBe(false);
    await expect(write(limit, 1, [0], { topic: 'payments' })).rejects.toThrow('payments/0');
  });

  test('is asked for once, and again after a failure', async () => {
    const limit = new DeadLetterLimit(0.1);
    const asked: string[] = [];
    const failing = limit.recall(PARTITION.topic, () => Promise.reject(new Error('away')));
    await expect(failing).rejects.toThrow('away');
    for (const name of ['first', 'second']) {
      await limit.recall(PARTITION.topic, async () => {
        asked.push(name);
        return [];
      });
    }
    expect(asked).toEqual(['first']);
  });
});

test('a limit of 0 accepts no dead letter at all', async () => {
  const limit = new DeadLetterLimit(0);
  limit.written(aRequest(5_000));
  expect(await isStopped(limit, 5_000, [4_999])).toBe(true);
});

test('without a limit everything may be a dead letter, and nothing is asked for', async () => {
  const limit = new DeadLetterLimit();
  await limit.recall(PARTITION.topic, () => Promise.reject(new Error('asked')));
  await write(limit, 5_000, from(0, 5_000));
  expect(await isStopped(limit, 5_000, from(0, 5_000))).toBe(false);
});

test('the error names place, limit, reasons and the first letter, and says what to do', async () => {
  await expect(write(new DeadLetterLimit(0.075), 200, from(20, 76))).rejects.toThrow(
    /^more than 75 of 1000 records in a row of a topic .*\(7\.5 %\)\. .*orders\/0 from offset 7, whose 200 records have 76 invalid_json; the first is offset 27: SQLSTATE 22P02\..*raise deadLetters\.maxRatio/,
  );
});
