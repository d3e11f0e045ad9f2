import { expect, test } from '@jest/globals';
import { batchRoom, LargestRecord } from '../../../../app/kafka/fetch/batch-memory.ts';
import { RecordSetReader } from '../../../../app/kafka/fetch/record-set.ts';
import { EventLoopTurns } from '../../../../app/memory/event-loop-turns.ts';
import { MemoryBudget } from '../../../../app/memory/memory-budget.ts';
import {
  BATCH_HEAD_BYTES,
  batchOf,
  checksummed,
  compressedMessages,
  readSet,
  recordBatch,
  recordWithHeaders,
  tinyRecords,
} from './record-sets.ts';

const MEBIBYTE = 2 ** 20;

/** What a default Pod has: the heap that V8 makes of `--max-old-space-size=332` in its control group of 512 MiB. */
const POD = batchRoom(335 * MEBIBYTE, 512 * MEBIBYTE);
const ANY = { heapBytes: Number.MAX_SAFE_INTEGER, bytes: Number.MAX_SAFE_INTEGER };

/** A record with its list of headers, its key and its value, and a batch of one record beside its bytes. */
const RECORD_OBJECTS = 160 + 48 + 2 * 96;
const BATCH_OBJECTS = 1_200 + 8;

/** A header with an empty key and no value: two bytes. */
const EMPTY_HEADER = [0, 1];
/** A key and a value of a byte each, and no headers. */
const KEY_AND_VALUE = [2, 107, 2, 55, 0];

const read = (set: Buffer, room = POD) => readSet(set, room);

test('a batch of 6 kB with 3 million headers is refused with their count, and so is the setting named', async () => {
  const batch = batchOf(recordWithHeaders(3_000_000, EMPTY_HEADER), { records: 1, isPacked: true });
  expect(batch.length).toBeLessThan(7_000);
  const { records, fault } = await read(Buffer.concat([recordBatch(0, 1), batch]));
  expect(records).toHaveLength(1);
  expect(fault).toMatchObject({ offset: 0n, nextOffset: 1n, code: 'OVERSIZED_BATCH', codec: 'gzip' });
  expect(fault?.reason).toMatch(/^a record of it has 3,000,000 headers, which take [34]\d{2} MiB of memory/);
  expect(fault?.reason).toContain('resources.limits.memory in consumer.yaml');
});

const MANY = 100_000;

test('many tiny records are read where their objects would find no room: they stay bytes', async () => {
  const room = batchRoom(64 * MEBIBYTE, 64 * MEBIBYTE);
  expect(MANY * RECORD_OBJECTS).toBeGreaterThan(2 * room.heapBytes);
  const batch = batchOf(tinyRecords(MANY, KEY_AND_VALUE), { records: MANY });
  const { records, fault } = await read(batch, room);
  expect(fault).toBeNull();
  expect(records).toHaveLength(MANY);
});

test('a batch whose bytes and index find no room is refused by these, and not by headers that it has none of', async () => {
  const batch = batchOf(tinyRecords(MANY, KEY_AND_VALUE), { records: MANY, isPacked: true });
  const { records, fault } = await read(batch, { ...ANY, bytes: 100_000 });
  expect(records).toEqual([]);
  expect(fault).toMatchObject({
    code: 'OVERSIZED_BATCH',
    reason: expect.stringMatching(/^it has its bytes and an index of its records, which take \d+ MiB of memory/),
  });
});

test('compressed messages of the old formats are counted as well', async () => {
  const inner = Array.from({ length: 10 }, (_, at) => [at, { version: 1, value: 'v' }] as const);
  const room = { heapBytes: 2_000, bytes: 1_000_000 };
  expect((await read(compressedMessages(9, 1, inner), room)).fault).toMatchObject({
    code: 'OVERSIZED_BATCH',
    reason: expect.stringMatching(/^it holds 10 records, which take/),
  });
  expect((await read(compressedMessages(9, 1, inner), ANY)).records).toHaveLength(10);
});

test('the most headers of one record that a default Pod has written are still read', () => {
  const headers = 1_400_000;
  const largest = new LargestRecord(Buffer.from('k'));
  largest.record();
  for (let header = 0; header < headers; header += 1) {
    largest.header(0, 1, -1);
  }
  expect(() => largest.requireRoom(headers * 4, POD)).not.toThrow();
});

test('headers count by the record, since one is an object at a time', () => {
  const largest = new LargestRecord(Buffer.from('k'));
  for (let nth = 0; nth < 10; nth += 1) {
    largest.record();
    largest.header(0, 1, 1);
  }
  const one = RECORD_OBJECTS + 48 + 64 + 96;
  expect(() => largest.requireRoom(0, { heapBytes: one, bytes: ANY.bytes })).not.toThrow();
  expect(() => largest.requireRoom(0, { heapBytes: one - 1, bytes: ANY.bytes })).toThrow('1 headers');
});

test('without a control group V8 has a larger young generation, and as much for records', () => {
  expect(batchRoom(380 * MEBIBYTE, null)).toEqual({ heapBytes: POD.heapBytes, bytes: Number.POSITIVE_INFINITY });
  const least = 16 * MEBIBYTE;
  expect(batchRoom(64 * MEBIBYTE, 64 * MEBIBYTE)).toEqual({ heapBytes: least, bytes: least });
});

test('what the headers of a record take is exact at the bound', async () => {
  const batch = batchOf(recordWithHeaders(1_000, EMPTY_HEADER), { records: 1 });
  const need = RECORD_OBJECTS + 1_000 * (48 + 64);
  expect((await read(batch, { heapBytes: need, bytes: ANY.bytes })).records[0]?.headers).toHaveLength(1_000);
  expect((await read(batch, { heapBytes: need - 1, bytes: ANY.bytes })).fault).toMatchObject({
    code: 'OVERSIZED_BATCH',
  });
  const all = need + 1_000 * 64 + BATCH_OBJECTS + batch.length - BATCH_HEAD_BYTES;
  expect((await read(batch, { heapBytes: need, bytes: all })).fault).toBeNull();
  expect((await read(batch, { heapBytes: need, bytes: all - 1 })).fault).toMatchObject({ code: 'OVERSIZED_BATCH' });
});

test('a key that is not ASCII counts as what it may become, and a value as a Buffer', async () => {
  const batch = batchOf(recordWithHeaders(100, [2, 0xff, 0]), { records: 1 });
  const need = RECORD_OBJECTS + 100 * (48 + 64 + 96 + 96);
  expect((await read(batch, { heapBytes: need, bytes: ANY.bytes })).fault).toBeNull();
  expect((await read(batch, { heapBytes: need - 1, bytes: ANY.bytes })).fault).toMatchObject({
    code: 'OVERSIZED_BATCH',
  });
});

/** A batch of one record whose body is as given, behind a right length. */
const recordOf = (...body: readonly number[]): Buffer =>
  batchOf(Buffer.from([body.length * 2, ...body]), { records: 1 });

/** Zigzag varints of 32 bits. */
const MOST = [0xfe, 0xff, 0xff, 0xff, 0x0f];
const LEAST = [0xff, 0xff, 0xff, 0xff, 0x0f];

test.each([
  ['2^31−1 records', batchOf(tinyRecords(1, KEY_AND_VALUE), { records: 0x7fffffff }), /^a count is 2147483647/],
  ['−1 records', batchOf(tinyRecords(1, KEY_AND_VALUE), { records: -1 }), /^a count is -1/],
  [
    'fewer records than it holds',
    batchOf(tinyRecords(3, KEY_AND_VALUE), { records: 2 }),
    /are left behind .* a batch$/,
  ],
  ['more records than it holds', batchOf(tinyRecords(9, KEY_AND_VALUE), { records: 10 }), /within a field$/],
  ['2^31−1 headers', recordOf(0, 0, 0, 1, 1, ...MOST), /^a count is 2147483647, and 0 bytes/],
  ['−2^31 headers', recordOf(0, 0, 0, 1, 1, ...LEAST), /^a count is -2147483648/],
  ['a value of 2^31−1 bytes', recordOf(0, 0, 0, 1, ...MOST, 0), /^a field has the length 2147483647, and 1 bytes/],
  ['a header without a key', recordOf(0, 0, 0, 1, 1, 2, 1, 1), /^a header has no key$/],
  ['a header with a key of −2 bytes', recordOf(0, 0, 0, 1, 1, 2, 3, 1), /^a header has no key$/],
  [
    'a record that ends too early',
    batchOf(Buffer.from([6, 0, 0, 0, 1, 1, 0]), { records: 1 }),
    /^a record ends within a/,
  ],
  ['bytes behind the headers', recordOf(0, 0, 0, 1, 1, 0, 9), /^1 bytes are left behind .* a record$/],
  ['a record without a length', batchOf(Buffer.from([1, 0, 0, 0, 0, 0, 0]), { records: 1 }), /has no length$/],
  ['a varlong of a megabyte', batchOf(Buffer.alloc(MEBIBYTE, 0x80), { records: 1 }), /^a varint has more than 5/],
  ['a varlong of 11 bytes', recordOf(0, ...Array(10).fill(0x80), 0, 0, 1, 1, 0), /^a varlong has more than 10/],
])('a batch that tells %s is refused by name, whether or not it is counted', async (_, batch, reason) => {
  for (const room of [ANY, { heapBytes: 100, bytes: 100 }]) {
    expect((await read(batch, room)).fault).toMatchObject({
      code: 'CORRUPT_BATCH',
      reason: expect.stringMatching(reason),
    });
  }
});

test.each([-2, -64])('a key, a value and a header of %i bytes are null, as for Java', async (length) => {
  const negative = -2 * length - 1;
  const batch = recordOf(0, 0, 0, negative, negative, 2, 2, 107, negative);
  for (const room of [ANY, POD]) {
    const { records, fault } = await read(batch, room);
    expect(fault).toBeNull();
    expect(records).toMatchObject([{ key: null, value: null, headers: [{ key: 'k', value: null }] }]);
    expect(records[0]?.headers).toHaveLength(1);
  }
});

test.each([
  ['messages that end beyond the set', 0x7fffffff],
  ['messages of a negative size', -12],
  ['messages too small to be one', 2],
])('compressed messages with %s are refused, and nothing runs for ever', async (_, size) => {
  const { gzipSync } = await import('node:zlib');
  const { oldMessage } = await import('./record-sets.ts');
  const set = oldMessage(0, { version: 1, value: 'v', timestamp: 1 });
  set.writeInt32BE(size, 8);
  const outer = oldMessage(0, { version: 1, value: gzipSync(set), timestamp: 1 }, 1);
  const { fault } = await read(outer);
  expect(fault).toMatchObject({ code: 'CORRUPT_BATCH', reason: expect.stringContaining(`the size ${size} at byte 0`) });
});

test('timestamps and offsets are exact at the ends of their types', async () => {
  const varlong = [0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];
  const { records } = await read(recordOf(0, ...varlong, ...MOST, 1, 1, 0));
  expect(records[0]).toMatchObject({ timestamp: 2n ** 63n - 1n, offset: 2n ** 31n - 1n });
  const small = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f];
  expect((await read(recordOf(0, ...small, 0, 1, 1, 0))).records[0]).toMatchObject({ timestamp: -(2n ** 48n) });
});

test('other work has its turn while a large batch is counted, and while it is read', async () => {
  const batch = checksummed(batchOf(recordWithHeaders(3_000_000, EMPTY_HEADER), { records: 1 }));
  for (const room of [{ heapBytes: 1_000, bytes: 1_000 }, ANY]) {
    let turns = 0;
    const timer = setInterval(() => {
      turns += 1;
    }, 1);
    await new RecordSetReader(new MemoryBudget(), new EventLoopTurns(), room).read(batch, {});
    clearInterval(timer);
    expect(turns).toBeGreaterThan(2);
  }
});
