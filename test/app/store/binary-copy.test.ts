import { expect, test } from '@jest/globals';
import { COPY_SIGNATURE, COPY_TRAILER, CopyBuffer } from '../../../app/store/binary-copy.ts';

const hex = (rows: CopyBuffer) => rows.slice(0, rows.end).toString('hex');

test('a row is its number of fields, then each field with its length; NULL has length -1', () => {
  const rows = new CopyBuffer(100);
  rows.row(5);
  rows.text('é');
  rows.int4(-2);
  rows.int8(258n);
  rows.bytes(null);
  rows.bytes(Buffer.from([9]));
  expect(hex(rows)).toBe(
    ['0005', '00000002c3a9', '00000004fffffffe', '000000080000000000000102', 'ffffffff', '0000000109'].join(''),
  );
});

test.each(['{}', Buffer.from('{}')])('jsonb is a version byte and the text as it came', (json) => {
  const rows = new CopyBuffer(100);
  rows.jsonb(json);
  expect(hex(rows)).toBe('00000003017b7d');
});

test('it grows when more is written than was reserved, and loses nothing', () => {
  const small = new CopyBuffer(1);
  const large = new CopyBuffer(10_000);
  for (const rows of [small, large]) {
    for (let n = 0; n < 50; n += 1) {
      rows.row(2);
      rows.int8(BigInt(n));
      rows.jsonb('"grün ✓ 𝄞"'.repeat(n));
      rows.raw(Buffer.from([n]));
    }
  }
  expect(hex(small)).toBe(hex(large));
});

test("a stream begins with PostgreSQL's signature and ends with -1", () => {
  expect(COPY_SIGNATURE.toString('hex')).toBe(['5047434f50590aff0d0a00', '00000000', '00000000'].join(''));
  expect(COPY_TRAILER.toString('hex')).toBe('ffff');
});
