import { createRequire } from 'node:module';
import { expect, jest, test } from '@jest/globals';
import { crc32c } from '../../../../app/kafka/fetch/batch-head.ts';
import { RecordSetReader } from '../../../../app/kafka/fetch/record-set.ts';
import { EventLoopTurns } from '../../../../app/memory/event-loop-turns.ts';
import { MemoryBudget } from '../../../../app/memory/memory-budget.ts';
import type { StreamRecord } from '../../../../app/records/record.ts';
import {
  BATCH_HEAD_BYTES,
  checksummed,
  compressedMessages,
  oldMessage,
  readSet,
  recordBatch,
  recordsIn,
} from './record-sets.ts';

const require = createRequire(import.meta.url);
const RECORDS = 100_000;

test('a batch of a hundred thousand records is decoded whole', async () => {
  const { records } = await readSet(recordBatch(5, RECORDS));
  expect(records).toHaveLength(RECORDS);
  expect(records.at(-1)).toMatchObject({ offset: BigInt(RECORDS + 4), value: Buffer.from('7') });
});

test('records of several batches come in order, and a last batch that the fetch cut off is left for the next one', async () => {
  const cut = recordBatch(30, 10);
  const { records } = await readSet(
    Buffer.concat([recordBatch(10, 2), recordBatch(20, 3), cut.subarray(0, cut.length - 1)]),
  );
  expect(records.map(({ offset }) => Number(offset))).toEqual([10, 11, 20, 21, 22]);
});

test('a partition without records, and one whose first batch the fetch cut off within its head, have none', async () => {
  for (const set of [Buffer.alloc(0), recordBatch(0, 1).subarray(0, 30)]) {
    expect(await readSet(set)).toMatchObject({ records: [], fault: null });
  }
});

/** Bytes with one bit flipped. */
function damaged(bytes: Buffer, at: number): Buffer {
  const copy = Buffer.from(bytes);
  copy.writeUInt8(copy.readUInt8(at) ^ 1, at);
  return copy;
}

const offsets = (records: readonly Pick<StreamRecord, 'offset'>[]) => records.map(({ offset }) => Number(offset));

test('the checksum of any bytes is the one that kafkajs puts into what it produces', () => {
  const shipped = require('kafkajs/src/protocol/recordBatch/crc32C') as (bytes: Buffer) => number;
  const bytes = Buffer.from(Array.from({ length: 200 }, (_, at) => (at * 7_919) >>> 3));
  for (let from = 0; from <= bytes.length; from += 1) {
    expect(crc32c(new DataView(bytes.buffer, bytes.byteOffset, bytes.length), from)).toBe(
      shipped(bytes.subarray(from)),
    );
  }
});

test.each([
  ['its checksum', 17],
  ['its attributes', 22],
  ['its last offset', 26],
  ['its count', 60],
  ['the first byte of its records', BATCH_HEAD_BYTES],
  ['the last byte of its records', recordBatch(20, 3).length - 1],
])('a batch with a flipped bit in %s is refused and named, behind the records before it', async (_, at) => {
  const { records, fault } = await readSet(
    Buffer.concat([recordBatch(10, 2), damaged(recordBatch(20, 3), at), recordBatch(30, 1)]),
  );
  expect(offsets(records)).toEqual([10, 11]);
  expect(fault).toMatchObject({ offset: 20n, code: 'CORRUPT_BATCH' });
  expect(fault?.reason).toMatch(/^its CRC-32C is [0-9a-f]+, and [0-9a-f]+ is stored with it$/);
});

test('content with the right checksum that is no record is refused as well, and does not fail the fetch', async () => {
  const batch = recordBatch(20, 1);
  batch.fill(0xff, BATCH_HEAD_BYTES);
  const { records, fault } = await readSet(checksummed(batch));
  expect(records).toEqual([]);
  expect(fault).toMatchObject({ offset: 20n, code: 'CORRUPT_BATCH' });
});

test.each([
  [-1, 0],
  [0, 0],
  [13, 13],
])('a batch whose size is %i leaves no room for its head, and is refused', async (size, told) => {
  const batch = recordBatch(20, 1);
  batch.writeInt32BE(size, 8);
  batch.writeInt8(0, 16);
  for (const set of [batch, batch.subarray(0, 12 + told)]) {
    const reason = `its size is ${told}, and the smallest one has 14 bytes`;
    expect((await readSet(set)).fault).toMatchObject({ offset: 20n, reason });
  }
});

test('a message without a key and a value is the smallest one, and is read', async () => {
  const message = oldMessage(5, { version: 0, value: null });
  expect(message).toHaveLength(12 + 14);
  expect(await readSet(message)).toMatchObject({ records: [{ offset: 5n, key: null, value: null }], fault: null });
});

test.each([-1, 3])('a record format that is not known is refused by its number, %i', async (format) => {
  const batch = recordBatch(20, 1);
  batch.writeInt8(format, 16);
  const { fault } = await readSet(batch);
  const reason = `its record format is ${format}, and 0 to 2 are known`;
  expect(fault).toMatchObject({ offset: 20n, nextOffset: null, code: 'UNKNOWN_RECORD_FORMAT', reason });
});

test('other work of the event loop has its turn before each batch', async () => {
  let [now, turns] = [0, 0];
  const late = new EventLoopTurns(() => {
    now += 1_000;
    return now;
  });
  const other = (): void => {
    turns += 1;
    pending = setImmediate(other);
  };
  let pending = setImmediate(other);
  const messages = [5, 6, 7].map((offset) => oldMessage(offset, { version: 1, value: '7', timestamp: 1 }));
  try {
    const { batches } = await new RecordSetReader(new MemoryBudget(), late).read(Buffer.concat(messages), {});
    expect([batches.length, turns]).toEqual([3, 3]);
  } finally {
    clearImmediate(pending);
  }
});

test('a batch that is whole has no fault behind it', async () => {
  expect((await readSet(recordBatch(20, 1))).fault).toBeNull();
});

test('messages of the formats v0 and v1 are records like others, before and behind batches of the format v2', async () => {
  const { records, fault } = await readSet(
    Buffer.concat([
      oldMessage(5, { version: 0, key: 'k', value: '0' }),
      oldMessage(6, { version: 1, value: null, timestamp: 1_234 }),
      recordBatch(7, 1),
      oldMessage(8, { version: 1, value: '3', timestamp: 1_235 }),
    ]),
  );
  expect(fault).toBeNull();
  expect(offsets(records)).toEqual([5, 6, 7, 8]);
  const old = { headers: [] };
  expect(records[0]).toEqual({ ...old, offset: 5n, timestamp: -1n, key: Buffer.from('k'), value: Buffer.from('0') });
  expect(records[1]).toEqual({ ...old, offset: 6n, timestamp: 1_234n, key: null, value: null });
});

test('compressed messages have the offsets inside in the format v0, and those up to the one outside in v1', async () => {
  const of = (version: 0 | 1, value: string) => ({ version, value, timestamp: 5 });
  const { records } = await readSet(
    Buffer.concat([
      compressedMessages(11, 0, [
        [10, of(0, 'a')],
        [11, of(0, 'b')],
      ]),
      compressedMessages(23, 1, [
        [0, of(1, 'c')],
        [3, of(1, 'd')],
      ]),
    ]),
  );
  expect(offsets(records)).toEqual([10, 11, 20, 23]);
  expect(records.map(({ value }) => String(value)).join('')).toBe('abcd');
  expect(records.map(({ timestamp }) => Number(timestamp))).toEqual([-1, -1, 5, 5]);
});

test.each([
  ['a message with a flipped bit', damaged(oldMessage(6, { version: 1, value: 'value', timestamp: 1 }), 36)],
  ['a compressed message that holds none', compressedMessages(6, 1, [])],
  ['a compressed message that holds another format', compressedMessages(6, 1, [[0, { version: 0, value: '1' }]])],
])('%s is refused and named, behind the messages before it', async (_, message) => {
  const { records, fault } = await readSet(
    Buffer.concat([oldMessage(5, { version: 1, value: '1', timestamp: 1 }), message]),
  );
  expect(offsets(records)).toEqual([5]);
  expect(fault).toMatchObject({ offset: 6n, code: 'CORRUPT_BATCH' });
});

test('a key of a header is text when it is UTF-8, a replacement character too, and else its bytes', async () => {
  const keys = [Buffer.from('zürich'), Buffer.from('\ufffd'), Buffer.from([0x6b, 0xff]), Buffer.alloc(0)];
  const {
    records: [record],
  } = await readSet(recordBatch(0, 1, keys));
  expect(record?.headers.map(({ key }) => key)).toEqual(['zürich', '\ufffd', Buffer.from([0x6b, 0xff]), '']);
});

/** Record sets of partitions in one answer, read one after the other within a memory budget. */
async function readWithin(
  memory: MemoryBudget,
  sets: readonly Buffer[],
): Promise<readonly (readonly StreamRecord[])[]> {
  const [reader, answer] = [new RecordSetReader(memory), {}];
  const records: (readonly StreamRecord[])[] = [];
  for (const set of sets) {
    records.push((await reader.read(set, answer)).batches.flatMap((batch) => [...batch.records]));
  }
  return records;
}

test('the batch that fills the memory for a response is its last one, for all of its partitions; the first is always read', async () => {
  const set = Buffer.concat([recordBatch(0, 10), recordBatch(10, 10)]);
  const roomy = await readWithin(new MemoryBudget(), [set, set]);
  expect(roomy.map(({ length }) => length)).toEqual([20, 20]);
  const narrow = await readWithin(new MemoryBudget(1), [set, set]);
  expect(narrow.map(({ length }) => length)).toEqual([10, 0]);
  expect(narrow[0]?.at(-1)?.offset).toBe(9n);
});

test('what is read keeps no memory of its answer, and of its own at most twice as much as the set has bytes', async () => {
  const memory = new MemoryBudget();
  const answer = Buffer.concat([recordBatch(0, 10_000), recordBatch(10_000, 10_000)]);
  const records = await recordsIn(memory, answer);
  const before = Array.from(records, ({ offset, value }) => `${offset} ${value}`);
  expect(new Set(records.parts.map(({ batch }) => batch.bytes.buffer)).size).toBe(1);
  expect(records.parts[0]?.batch.bytes.buffer.byteLength).toBeLessThanOrEqual(2 * answer.length);
  answer.fill(0xee);
  expect(Array.from(records, ({ offset, value }) => `${offset} ${value}`)).toEqual(before);
});

test('a set is read into memory that was given back, and one that has no room takes none', async () => {
  const memory = new MemoryBudget();
  const [first] = (await recordsIn(memory, recordBatch(0, 10_000))).parts;
  memory.sets.giveBack(first?.batch.bytes ?? Buffer.alloc(0));
  const again = await recordsIn(memory, recordBatch(5, 10_000));
  expect(again.parts[0]?.batch.bytes.buffer).toBe(first?.batch.bytes.buffer);
  expect(again.at(0)).toMatchObject({ offset: 5n, value: Buffer.from('7') });
  const narrow = new MemoryBudget(1);
  const taken = jest.spyOn(narrow.sets, 'take');
  await readWithin(narrow, [recordBatch(0, 10), recordBatch(10, 10)]);
  expect(taken).toHaveBeenCalledTimes(1);
});

test('a batch ends behind its last record, also where its head tells an end before that', async () => {
  const batch = Buffer.from(recordBatch(7, 3));
  batch.writeInt32BE(0, 23);
  const { batches } = await readSet(checksummed(batch));
  expect(batches.map(({ nextOffset }) => nextOffset)).toEqual([10n]);
});
