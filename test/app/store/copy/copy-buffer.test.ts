import { isUtf8 } from 'node:buffer';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { COPY_SIGNATURE, COPY_TRAILER } from '../../../../app/store/copy/binary-copy.ts';
import { CopyBuffer, type FieldBytes } from '../../../../app/store/copy/copy-buffer.ts';

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

/** Bytes somewhere within others, as a field is within its batch. */
function within(content: Uint8Array): FieldBytes & { readonly at: number } {
  const bytes = Buffer.concat([Buffer.from('\xff\0\xff', 'latin1'), content, Buffer.from('\0\xff', 'latin1')]);
  return { bytes, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.length), at: 3 };
}

test('jsonb is a version byte and the text as it came, from a string or from bytes in place', () => {
  const [text, inPlace] = [new CopyBuffer(100), new CopyBuffer(100)];
  text.jsonb('{}');
  const { at, ...from } = within(Buffer.from('{}'));
  expect(inPlace.jsonbTextOf(from, at, 2)).toBe(true);
  expect([hex(text), hex(inPlace)]).toEqual(['00000003017b7d', '00000003017b7d']);
});

/** Of all lengths, by a loop and by Node.js: mostly ASCII, with a NUL or another byte now and then. */
const content = fc
  .array(
    fc.oneof(
      { weight: 40, arbitrary: fc.uint8Array({ minLength: 1, maxLength: 40, min: 1, max: 127 }) },
      { weight: 3, arbitrary: fc.constantFrom('é', '€', '😀', '\u007f').map((text) => Buffer.from(text)) },
      { weight: 1, arbitrary: fc.constantFrom(Buffer.alloc(1), Buffer.from([0x80]), Buffer.from([0xff, 0xfe])) },
    ),
    { maxLength: 40, size: 'max' },
  )
  .map((parts) => Buffer.concat(parts));

test('text in place is copied byte for byte, and is text where it is UTF-8 without NUL', () => {
  fc.assert(
    fc.property(content, (bytes) => {
      const rows = new CopyBuffer(1);
      const { at, ...from } = within(bytes);
      expect(rows.textOf(from, at, bytes.length)).toBe(isUtf8(bytes) && !bytes.includes(0));
      expect(rows.slice(0, 4).readInt32BE()).toBe(bytes.length);
      expect(rows.slice(4, rows.end).equals(bytes)).toBe(true);
    }),
    { numRuns: 500 },
  );
});

test.each([1, 15, 16, 17, 511, 512, 5_000])(
  'a NUL or a byte that is no UTF-8 is seen at the first, the middle and the last of %d bytes',
  (length) => {
    const isText = (bytes: Buffer): boolean => {
      const { at, ...from } = within(bytes);
      return new CopyBuffer(1).textOf(from, at, bytes.length);
    };
    expect(isText(Buffer.alloc(length, 'a'))).toBe(true);
    for (const place of new Set([0, length >> 1, length - 1])) {
      for (const byte of [0, 0x80, 0xff]) {
        const bytes = Buffer.alloc(length, 'a');
        bytes[place] = byte;
        expect(isText(bytes)).toBe(false);
      }
    }
  },
);

test('a JSON string in place is written only where JSON needs no escape and the bytes are ASCII', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 8 }), (bytes) => {
      const rows = new CopyBuffer(1);
      const { at, ...from } = within(bytes);
      const isPlain = bytes.every((byte) => byte >= 0x20 && byte < 0x80 && byte !== 0x22 && byte !== 0x5c);
      expect(rows.writeJsonString(from, at, bytes.length)).toBe(isPlain);
      expect(String(rows.slice(0, rows.end))).toBe(isPlain ? JSON.stringify(String(Buffer.from(bytes))) : '');
    }),
    { numRuns: 500 },
  );
});

test.each([0, 1, -1, 2 ** 32, -(2 ** 32) - 1, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER])(
  'an int8 from the number %d is that from the bigint',
  (value) => {
    const [number, bigint] = [new CopyBuffer(20), new CopyBuffer(20)];
    number.int8OfNumber(value);
    bigint.int8(BigInt(value));
    expect(hex(number)).toBe(hex(bigint));
  },
);

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
