import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { MemoryBudget } from '../../../../app/memory/memory-budget.ts';
import { recordsOf } from '../../../../app/records/pack-records.ts';
import type { StreamRecord } from '../../../../app/records/record.ts';
import { RecordBatch } from '../../../../app/records/record-batch.ts';
import { Records } from '../../../../app/records/records.ts';
import { BatchLimit, type QueuedRecords, RecordQueue } from '../../../../app/stream/partition/record-queue.ts';
import { isGivenBack, recordBatch, recordsIn } from '../../kafka/fetch/record-sets.ts';
import { aBatch, aRecord } from '../records.ts';

const FETCHED_AT = new Date('2026-11-21T12:00:00Z');

const memory = new MemoryBudget();

/** What is taken, and is not in the queue any more. */
function take(queue: RecordQueue, limit: Parameters<RecordQueue['use']>[0]): QueuedRecords {
  const taken: QueuedRecords[] = [];
  void queue.use(limit, async (records) => {
    taken.push(records);
  });
  const [first] = taken;
  if (!first) throw new Error('nothing was taken');
  return first;
}

/** Queues the records `from` up to but without `to`. */
const pushRange = (queue: RecordQueue, from: bigint, to: bigint, fetchedAt = FETCHED_AT) =>
  queue.push({ records: aBatch(from, to).records, firstOffset: from, nextOffset: to, fetchedAt });

/** Bytes of a record with nothing in it: its length, attributes, two deltas, two lengths, the count of headers. */
const LEAST_RECORD = 7;

const upTo = (nextOffset: bigint) => ({ firstOffset: 0n, nextOffset, fetchedAt: FETCHED_AT });

const limited = (records: number, bytes = 1_000_000) => ({ records, bytes });

const offsets = (records: Iterable<{ offset: bigint }>) => Array.from(records, ({ offset }) => Number(offset));

/** Jest takes seconds to compare as many buffers. */
const textsOf = (records: Iterable<StreamRecord>) =>
  Array.from(records, ({ offset, key, value }) => `${offset} ${key} ${value}`);

test('batches that fit together are taken together', () => {
  const queue = new RecordQueue(memory);
  pushRange(queue, 0n, 3n);
  pushRange(queue, 3n, 5n);
  pushRange(queue, 5n, 9n);
  const taken = take(queue, limited(5));
  expect(offsets(taken.records)).toEqual([0, 1, 2, 3, 4]);
  expect(taken.nextOffset).toBe(5n);
});

test('a batch larger than one transaction is taken in pieces, each with the offset that follows it', () => {
  const queue = new RecordQueue(memory);
  pushRange(queue, 10n, 15n);
  expect(take(queue, limited(2))).toMatchObject({ firstOffset: 10n, nextOffset: 12n });
  expect(take(queue, limited(2))).toMatchObject({ firstOffset: 12n, nextOffset: 14n });
  expect(take(queue, limited(2))).toMatchObject({ firstOffset: 14n, nextOffset: 15n });
  expect(queue.isEmpty).toBe(true);
});

test('a large batch comes out whole and in order, over its holes, too', () => {
  const queue = new RecordQueue(memory);
  const { records } = aBatch(0n, 25_000n);
  // Compaction took records between the pieces.
  const left = [...records].filter(({ offset }) => offset < 9_999n || offset > 10_001n);
  queue.push({ records: recordsOf(left), firstOffset: 0n, nextOffset: 25_003n, fetchedAt: FETCHED_AT });
  const taken = [
    take(queue, limited(12_000, 1e9)),
    take(queue, limited(12_000, 1e9)),
    take(queue, limited(12_000, 1e9)),
  ];
  expect(taken.map(({ firstOffset }) => firstOffset)).toEqual([0n, taken[0]?.nextOffset, taken[1]?.nextOffset]);
  expect(taken[2]?.nextOffset).toBe(25_003n);
  expect(taken.flatMap((part) => textsOf(part.records))).toEqual(textsOf(left));
  expect(queue.isEmpty).toBe(true);
  expect(queue.bytes).toBe(0);
});

test('batches with a hole between them are taken apart, each with the offset that it begins at', () => {
  const queue = new RecordQueue(memory);
  pushRange(queue, 5n, 8n);
  pushRange(queue, 0n, 2n);
  pushRange(queue, 2n, 4n);
  expect(take(queue, limited(10))).toMatchObject({ firstOffset: 5n, nextOffset: 8n });
  expect(take(queue, limited(10))).toMatchObject({ firstOffset: 0n, nextOffset: 4n });
  expect(queue.isEmpty).toBe(true);
});

test('a batch without records still moves the offset on', () => {
  const queue = new RecordQueue(memory);
  const empty = { records: Records.NONE, firstOffset: 3n, nextOffset: 7n, leaderEpoch: 4, fetchedAt: FETCHED_AT };
  queue.push(empty);
  expect(take(queue, limited(10))).toEqual(empty);
});

test('records are taken up to the bytes that fit, but a record that is larger than that still goes alone', () => {
  const queue = new RecordQueue(memory);
  const sized = (offset: bigint, size: number) => aRecord(offset, { key: null, value: Buffer.alloc(size) });
  queue.push({ ...upTo(4n), records: recordsOf([sized(0n, 900), sized(1n, 900), sized(2n, 5_000), sized(3n, 1)]) });
  expect(offsets(take(queue, limited(10, 2_000)).records)).toEqual([0, 1]);
  expect(offsets(take(queue, limited(10, 2_000)).records)).toEqual([2]);
  expect(take(queue, limited(10, 2_000))).toMatchObject({ nextOffset: 4n });
});

test('headers count, too', () => {
  const queue = new RecordQueue(memory);
  const headers = [{ key: 'k', value: Buffer.alloc(10_000) }];
  queue.push({ ...upTo(1n), records: recordsOf([aRecord(0n, { headers })]) });
  expect(queue.bytes).toBeGreaterThan(10_000);
  take(queue, limited(1));
  expect(queue.bytes).toBe(0);
});

test('a header counts as a field of its own, its key and its value, if it has one', () => {
  const bytesOf = (fields: Parameters<typeof aRecord>[1]) => {
    const queue = new RecordQueue(memory);
    queue.push({ ...upTo(1n), records: recordsOf([aRecord(0n, fields)]) });
    return queue.bytes;
  };
  const bare = bytesOf({ headers: [] });
  expect(bytesOf({ key: null, value: null })).toBe(64 + LEAST_RECORD);
  expect(bytesOf({ headers: [{ key: 'key', value: null }] })).toBe(bare + 64 + 2 + 3);
  expect(bytesOf({ headers: [{ key: 'key', value: Buffer.alloc(10) }] })).toBe(bare + 64 + 2 + 3 + 10);
});

test('a record that fills the room to the last byte is taken with the others', () => {
  const queue = new RecordQueue(memory);
  pushRange(queue, 0n, 3n);
  const bytes = queue.bytes / 3;
  expect(take(queue, limited(10, 2 * bytes))).toMatchObject({ nextOffset: 2n });
});

test('a range without records in front does not hide the oldest record, and holes before a record go with what precedes', () => {
  const queue = new RecordQueue(memory);
  queue.push({ ...upTo(3n), records: Records.NONE });
  queue.push({ records: recordsOf([aRecord(3n)]), firstOffset: 3n, nextOffset: 4n, fetchedAt: FETCHED_AT });
  queue.push({ records: recordsOf([aRecord(9n)]), firstOffset: 4n, nextOffset: 12n, fetchedAt: FETCHED_AT });
  expect(queue.oldest?.offset).toBe(3n);
  expect(take(queue, limited(1))).toMatchObject({ firstOffset: 0n, nextOffset: 9n });
  expect(take(queue, limited(1))).toMatchObject({ firstOffset: 9n, nextOffset: 12n });
});

test('what is taken was fetched when the oldest of it was, and the rest of a batch when the batch was', () => {
  const queue = new RecordQueue(memory);
  const later = new Date(FETCHED_AT.getTime() + 1_000);
  pushRange(queue, 0n, 2n);
  pushRange(queue, 2n, 5n, later);
  expect(queue.oldest?.offset).toBe(0n);
  expect(take(queue, limited(3)).fetchedAt).toEqual(FETCHED_AT);
  expect(queue.oldest?.offset).toBe(3n);
  expect(take(queue, limited(3)).fetchedAt).toEqual(later);
  expect(queue.oldest).toBeUndefined();
});

test('thousands of small batches are taken at once, and none is summed up again for each', () => {
  const queue = new RecordQueue(memory);
  for (let offset = 0n; offset < 5_000n; offset += 1n) pushRange(queue, offset, offset + 1n);
  const [summed, bytesOf] = [{ times: 0 }, RecordBatch.prototype.bytesOf];
  RecordBatch.prototype.bytesOf = function count(...range) {
    summed.times += 1;
    return bytesOf.apply(this, range);
  };
  expect(take(queue, limited(5_000, 1e9)).records.length).toBe(5_000);
  RecordBatch.prototype.bytesOf = bytesOf;
  expect(summed.times).toBeLessThan(5 * 5_000);
});

/** A queue of one set of 2,000 records. */
async function queueOfSet() {
  const own = new MemoryBudget();
  const records = await recordsIn(own, recordBatch(0, 2_000));
  const queue = new RecordQueue(own);
  queue.push({ ...upTo(2_000n), records });
  return { queue, isReady: () => isGivenBack(own, records) };
}

const endAtOnce = async (_: QueuedRecords, end: () => void): Promise<void> => end();

test('the memory of a set is given back when the work with its last record has ended it', async () => {
  const { queue, isReady } = await queueOfSet();
  await queue.use(limited(1_999, 1e9), endAtOnce);
  expect(isReady()).toBe(false);
  await queue.use(limited(1_999, 1e9), async (_, end) => {
    expect(isReady()).toBe(false);
    end();
  });
  expect(isReady()).toBe(true);
});

test('the memory of a set is not given back where nobody said that the work has ended it, or it was dropped', async () => {
  const [unended, failed, dropped] = [await queueOfSet(), await queueOfSet(), await queueOfSet()];
  await unended.queue.use(limited(2_000, 1e9), async () => undefined);
  const failing = failed.queue.use(limited(2_000, 1e9), async () => {
    throw new Error('refused');
  });
  await expect(failing).rejects.toThrow('refused');
  await dropped.queue.use(limited(1_000, 1e9), async (_, end) => {
    dropped.queue.clear();
    end();
  });
  expect([unended, failed, dropped].map(({ isReady }) => isReady())).toEqual([false, false, false]);
});

test('the whole memory of a set counts while one of its batches is queued, and once for several', async () => {
  const own = new MemoryBudget();
  const set = Buffer.concat([recordBatch(0, 100), recordBatch(100, 10_000), recordBatch(10_100, 100)]);
  const { parts } = await recordsIn(own, set);
  const [first, , last] = parts;
  if (!first || !last) throw new Error('no batches');
  const queue = new RecordQueue(own);
  queue.push({ ...upTo(10_200n), records: new Records([first, last]) });
  const piece = own.sets.bytesOf(first.batch.bytes);
  expect(piece).toBeGreaterThan(set.length);
  const indexes = [first, last].map(({ batch }) => batch.memory - batch.bytes.length);
  expect(own.held).toBe(400 + piece + (indexes[0] ?? 0) + (indexes[1] ?? 0));
  await queue.use(limited(200, 1e9), endAtOnce);
  expect(own.held).toBe(0);
});

test('the whole memory of a set counts, too, where only one of its batches is queued', async () => {
  const own = new MemoryBudget();
  const set = Buffer.concat([recordBatch(0, 10_000), recordBatch(10_000, 100)]);
  const { parts } = await recordsIn(own, set);
  const [, last] = parts;
  if (!last) throw new Error('no batches');
  new RecordQueue(own).push({ ...upTo(10_100n), records: new Records([last]) });
  const { bytes, memory: ofBatch } = last.batch;
  expect(own.held).toBe(400 + own.sets.bytesOf(bytes) + ofBatch - bytes.length);
});

test('taking from an empty queue is a mistake of the program', async () => {
  await expect(new RecordQueue(memory).use(limited(1), async () => undefined)).rejects.toThrow(RangeError);
});

test('bytes count keys and values, and go when records go', () => {
  const queue = new RecordQueue(memory);
  queue.push({
    ...upTo(1n),
    records: recordsOf([aRecord(0n, { key: Buffer.alloc(100), value: Buffer.alloc(1_000) })]),
  });
  expect(queue.bytes).toBeGreaterThanOrEqual(1_100);
  take(queue, limited(1));
  expect(queue.bytes).toBe(0);
});

test('whatever is pushed comes out once, in order, in parts no larger than asked, and no bytes are left', () => {
  const lengths = fc.array(fc.integer({ min: 0, max: 20 }), { maxLength: 20 });
  fc.assert(
    fc.property(lengths, fc.integer({ min: 1, max: 15 }), (batches, most) => {
      const queue = new RecordQueue(memory);
      let end = 0n;
      for (const length of batches) {
        pushRange(queue, end, end + BigInt(length));
        end += BigInt(length);
      }
      const taken: number[] = [];
      let position = 0n;
      while (!queue.isEmpty) {
        const part = take(queue, limited(most));
        expect(part.records.length).toBeLessThanOrEqual(most);
        expect(part.firstOffset).toBe(position);
        taken.push(...offsets(part.records));
        position = part.nextOffset;
        expect(position).toBe(BigInt(taken.length));
      }
      expect(position).toBe(end);
      expect(taken).toEqual([...taken.keys()]);
      expect(queue.bytes).toBe(0);
    }),
  );
});

test('each failure halves what is taken, down to one record; each commit doubles it, up to the setting', () => {
  const limit = new BatchLimit(1_000);
  expect(limit.records).toBe(1_000);
  limit.failed(500);
  expect(limit.records).toBe(250);
  limit.failed(1);
  expect(limit.records).toBe(1);
  for (let commits = 0; commits < 12; commits += 1) limit.committed();
  expect(limit.records).toBe(1_000);
});

test('a failure without records leaves one', () => {
  const limit = new BatchLimit(10);
  limit.failed(0);
  expect(limit.records).toBe(1);
});
