import { expect, test } from '@jest/globals';
import {
  copyBytes,
  copyInt4,
  copyInt8,
  copyJsonb,
  copyNull,
  copyText,
  encodeCopy,
  encodeRow,
} from '../../../app/store/copy-binary.ts';

const hex = (bytes: Buffer) => bytes.toString('hex');

test('a row is its number of fields, then each field with its length; NULL has length -1', () => {
  const row = encodeRow([copyText('é'), copyInt4(-2), copyInt8(258n), copyNull, copyBytes(Buffer.from([9]))]);
  expect(hex(row)).toBe(
    ['0005', '00000002c3a9', '00000004fffffffe', '000000080000000000000102', 'ffffffff', '0000000109'].join(''),
  );
});

test('jsonb is a version byte and the text as it came', () => {
  expect(hex(encodeRow([copyJsonb(Buffer.from('{}'))]))).toBe('000100000003017b7d');
});

test("a stream begins with PostgreSQL's signature and ends with -1", () => {
  const stream = encodeCopy([encodeRow([])]);
  expect(hex(stream)).toBe(['5047434f50590aff0d0a00', '00000000', '00000000', '0000', 'ffff'].join(''));
});
