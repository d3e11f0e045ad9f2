import { expect, test } from '@jest/globals';
import { RecordReader } from '../../../app/records/record-reader.ts';

test('a reader reads up to its end, and nothing of what the memory has behind it', () => {
  const reader = new RecordReader(Buffer.from([1, 2, 3]), 1, 2);
  expect(reader.byte()).toBe(2);
  expect(() => reader.byte()).toThrow('a record ends within a field');
  reader.moveTo(2, 3);
  expect([reader.byte(), reader.left]).toEqual([3, 0]);
});

test.each([
  ['a varint', 5, 'varint'],
  ['a varlong', 10, 'exactVarlong'],
] as const)('%s has at most %d bytes', (name, most, method) => {
  const bytes = Buffer.concat([Buffer.alloc(most - 1, 0x80), Buffer.from([0])]);
  expect(Number(new RecordReader(bytes)[method]())).toBe(0);
  const longer = Buffer.concat([Buffer.alloc(most, 0x80), Buffer.from([0])]);
  expect(() => new RecordReader(longer)[method]()).toThrow(`${name} has more than ${most} bytes`);
});

test('a varlong of more than seven bytes is NaN as a number, and the reader is behind it', () => {
  const reader = new RecordReader(Buffer.concat([Buffer.alloc(7, 0xff), Buffer.from([1, 9])]));
  expect(reader.varlong()).toBeNaN();
  expect(reader.byte()).toBe(9);
  const exact = new RecordReader(Buffer.concat([Buffer.alloc(6, 0xff), Buffer.from([0x7f])]));
  expect(exact.varlong()).toBe(-(2 ** 48));
});

/** Of a varint in one byte. */
const zigzag = (value: number): number => (value < 0 ? -2 * value - 1 : 2 * value);

test.each<[string, number, (reader: RecordReader) => unknown, string]>([
  ['a field that is longer than what is left', 3, (reader) => reader.field(), 'a field has the length 3, and 2 bytes'],
  ['a record that is longer than what is left', 3, (reader) => reader.enterRecord(), 'a field has the length 3, and 2'],
  ['a record of a length below 0', -1, (reader) => reader.enterRecord(), 'a record has no length'],
  ['a count of more than fit', 2, (reader) => reader.count(2), 'a count is 2, and 2 bytes are left for it'],
  ['a count below 0', -1, (reader) => reader.count(2), 'a count is -1, and 2 bytes are left for it'],
])('%s is refused', (_, value, read, problem) => {
  expect(() => read(new RecordReader(Buffer.from([zigzag(value), 7, 8, 9]), 0, 3))).toThrow(problem);
});

test('a field, a record and a count that just fit are read', () => {
  const reader = new RecordReader(Buffer.from([zigzag(2), zigzag(1), 8, 9]), 0, 3);
  const before = reader.enterRecord();
  expect([before, reader.left]).toEqual([3, 2]);
  expect(reader.count(1)).toBe(1);
  expect(() => reader.leaveRecord(before)).toThrow('1 bytes are left behind the last field of a record');
  expect(reader.byte()).toBe(8);
  reader.leaveRecord(before);
  expect(new RecordReader(Buffer.from([zigzag(2), 7, 8])).field()).toEqual(Buffer.from([7, 8]));
});
