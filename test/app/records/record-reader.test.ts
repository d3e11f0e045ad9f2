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
  ['varint', 5, 'a varint has more than 5 bytes'],
  ['exactVarlong', 10, 'a varlong has more than 10 bytes'],
] as const)('a %s has at most %d bytes', (method, most, problem) => {
  const bytes = Buffer.concat([Buffer.alloc(most - 1, 0x80), Buffer.from([0])]);
  expect(Number(new RecordReader(bytes)[method]())).toBe(0);
  expect(() => new RecordReader(Buffer.alloc(most + 1, 0x80))[method]()).toThrow(problem);
});

test('a varlong of more than seven bytes is NaN as a number, and the reader is behind it', () => {
  const reader = new RecordReader(Buffer.concat([Buffer.alloc(7, 0xff), Buffer.from([1, 9])]));
  expect(reader.varlong()).toBeNaN();
  expect(reader.byte()).toBe(9);
  const exact = new RecordReader(Buffer.concat([Buffer.alloc(6, 0xff), Buffer.from([0x7f])]));
  expect(exact.varlong()).toBe(-(2 ** 48));
});
