import { crc32, gzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { compressedMessages, oldMessage, readSet } from './record-sets.ts';

/** Where a message has its checksum, its attributes and the length of its value, without a key, in format v1. */
const CRC_AT = 12;
const ATTRIBUTES_AT = 17;
const VALUE_LENGTH_AT = 30;
const GZIP = 1;
const LOG_APPEND_TIME = 8;

function checksummed(message: Buffer): Buffer {
  message.writeUInt32BE(crc32(message.subarray(CRC_AT + 4)), CRC_AT);
  return message;
}

const v1 = (offset: number, value: string | null, timestamp = 5): Buffer =>
  oldMessage(offset, { version: 1, value, timestamp });

test('an empty value is not null', async () => {
  const { records } = await readSet(Buffer.concat([v1(5, ''), v1(6, null), v1(7, '7')]));
  expect(records.map(({ value }) => value?.toString() ?? null)).toEqual(['', null, '7']);
});

test('a message whose value has a length of 3 bytes, where 2 are left, is refused', async () => {
  const message = v1(5, '77');
  message.writeInt32BE(3, VALUE_LENGTH_AT);
  const { records, fault } = await readSet(checksummed(message));
  const reason = 'a field has the length 3, and 2 bytes are left';
  expect([records, fault]).toEqual([[], expect.objectContaining({ offset: 5n, code: 'CORRUPT_BATCH', reason })]);
});

describe('a compressed message', () => {
  const inner = Buffer.concat([v1(0, 'a'), v1(1, 'b')]);
  const packed = (set: Buffer): Buffer => oldMessage(9, { version: 1, value: gzipSync(set), timestamp: 7 }, GZIP);
  const size = inner.length / 2;

  test.each([
    ['ends within the head of one', inner.subarray(0, size + 11), -1, size],
    ['ends within one', inner.subarray(0, 2 * size - 1), size - 12, size],
    ['has one that is smaller than any', withSize(inner, 13), 13, 0],
    ['has one that is larger than the rest', withSize(inner, 2 * size), 2 * size, 0],
  ])('whose set %s is refused, with the place', async (_, set, told, at) => {
    const reason = `it is compressed, and a message within it has the size ${told} at byte ${at} of ${set.length}`;
    expect((await readSet(packed(set))).fault).toMatchObject({ offset: 9n, code: 'CORRUPT_BATCH', reason });
  });

  test('has offsets that count from 0 where an old producer put 0 outside', async () => {
    const set = compressedMessages(0, 1, [
      [0, { version: 1, value: 'a' }],
      [1, { version: 1, value: 'b' }],
    ]);
    expect((await readSet(set)).records.map(({ offset }) => offset)).toEqual([0n, 1n]);
  });

  test.each([
    ["the broker's time is that of all in it", GZIP | LOG_APPEND_TIME, [7n, 7n]],
    ['each in it has its time', GZIP, [5n, 5n]],
  ])('by its attributes: %s', async (_, attributes, times) => {
    const message = packed(inner);
    message.writeInt8(attributes, ATTRIBUTES_AT);
    expect((await readSet(checksummed(message))).records.map(({ timestamp }) => timestamp)).toEqual(times);
  });

  test('of the format v0 has no times, whatever its attributes', async () => {
    const message = compressedMessages(9, 0, [[9, { version: 0, value: 'a' }]]);
    message.writeInt8(GZIP | LOG_APPEND_TIME, ATTRIBUTES_AT);
    expect((await readSet(checksummed(message))).records.map(({ timestamp }) => timestamp)).toEqual([-1n]);
  });
});

function withSize(set: Buffer, size: number): Buffer {
  const changed = Buffer.from(set);
  changed.writeInt32BE(size, 8);
  return changed;
}
