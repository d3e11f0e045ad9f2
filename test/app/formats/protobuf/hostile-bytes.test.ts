import { describe, expect, test } from '@jest/globals';
import { bytes, group, int, joined, tag, varint } from './encoding.ts';
import { readerOf } from './read-message.ts';

const refusal = (reason: string, words: string) => ({
  reason,
  words: `its bytes are no M of the schema 7: ${words}`,
  parts: [undefined],
});

const TOO_SHORT = refusal('undecodable', 'a value of it ends behind them');
const NO_LENGTH = refusal('undecodable', 'a length is more than bytes follow');
const NO_VARINT = refusal('undecodable', 'a number has more than ten bytes');
const NO_TAG = refusal('undecodable', 'a field has a number or a wire type that there is not');
const NO_GROUP = refusal('undecodable', 'a group ends that has not begun, or another one');
const WRONG_WIRE = refusal('undecodable', 'a field has bytes that its type cannot have');
const TOO_DEEP = refusal('nesting_too_deep', 'its value is nested too deep');
const TOO_LARGE = refusal('value_too_large', 'its value is too large as JSON');
const NO_TEXT = refusal('invalid_utf8', 'a string in its value is not UTF-8');

const SCHEMA = `syntax = "proto3"; import "google/protobuf/struct.proto"; import "confluent/type/decimal.proto";
  message M { int32 i = 1; string s = 2; M m = 3; repeated M l = 4; repeated fixed64 f = 5; map<string, M> e = 6;
    google.protobuf.Value v = 7; confluent.type.Decimal d = 8; map<int32, string> n = 9; }`;

/** Values within each other, from the innermost one out. */
function nested(depth: number, around: (inner: Buffer) => Buffer): Buffer {
  let value: Buffer = Buffer.alloc(0);
  for (let left = depth; left > 0; left -= 1) {
    value = around(value);
  }
  return value;
}

const ELEVEN = Buffer.concat([Buffer.alloc(10, 0x80), Buffer.from([0])]);

const BOMBS: readonly (readonly [what: string, Buffer, ReturnType<typeof refusal>])[] = [
  ['a number without an end', joined(tag(1, 0), Buffer.from([0x80])), TOO_SHORT],
  ['a number of 11 bytes', joined(tag(1, 0), ELEVEN), NO_VARINT],
  ['a length of 2^62', joined(tag(2, 2), Buffer.from('808080808080808040', 'hex')), NO_LENGTH],
  ['a length that is one too much', joined(tag(2, 2), varint(4), Buffer.from('abc')), NO_LENGTH],
  ['half a fixed64', joined(tag(5, 1), Buffer.alloc(4)), TOO_SHORT],
  ['fixed64 of which the last is half', bytes(5, Buffer.alloc(12)), TOO_SHORT],
  ['a field of number 0', int(0, 1), NO_TAG],
  ['a tag of 64 bits', joined(Buffer.from('88808080808080808001', 'hex')), NO_TAG],
  ['a wire type of 6', Buffer.from([0x0e]), NO_TAG],
  ['a wire type of 7 in a field that the schema lacks', Buffer.from([0x7f]), NO_TAG],
  ['the end of a group alone', tag(3, 4), NO_GROUP],
  ['the end of another group', joined(tag(3, 3), tag(4, 4)), NO_GROUP],
  ['a group without an end', joined(tag(3, 3), int(1, 1)), TOO_SHORT],
  ['a text for a number', bytes(1, 'x'), WRONG_WIRE],
  ['a number for a message', int(3, 1), WRONG_WIRE],
  ['a group for a text', group(2, Buffer.alloc(0)), WRONG_WIRE],
  ['a group for an entry of a map', group(6, Buffer.alloc(0)), WRONG_WIRE],
  ['a number for a key that is text', bytes(6, int(1, 1)), WRONG_WIRE],
  ['a string of other bytes', bytes(2, Buffer.from([0xff])), NO_TEXT],
  ['a key of other bytes', bytes(6, bytes(1, Buffer.from([0xff]))), NO_TEXT],
  ['messages within each other', nested(300, (inner) => bytes(3, inner)), TOO_DEEP],
  ['groups within each other', nested(300, (inner) => group(3, inner)), TOO_DEEP],
  ['groups that the schema lacks within each other', nested(300, (inner) => group(99, inner)), TOO_DEEP],
  ['10^5 groups that begin', Buffer.alloc(100_000, tag(3, 3)), TOO_DEEP],
  ['entries of maps within each other', nested(300, (inner) => bytes(6, bytes(2, inner))), TOO_DEEP],
  [
    'JSON within each other',
    bytes(
      7,
      nested(300, (inner) => bytes(6, bytes(1, inner))),
    ),
    TOO_DEEP,
  ],
  ['a decimal without bytes', bytes(8, int(3, 1)), refusal('undecodable', 'a decimal has no digits')],
  [
    'a decimal of too many digits',
    bytes(8, joined(bytes(1, 'x'), int(3, 20_000))),
    refusal('number_out_of_range', 'its value holds a decimal that PostgreSQL numeric cannot store'),
  ],
];

describe('bytes that are no value of their schema', () => {
  test.each(BOMBS)('%s', (_, value, refused) => {
    expect(readerOf(SCHEMA).read(value)).toEqual(refused);
  });

  test.each(BOMBS.filter(([, , refused]) => [NO_TAG, NO_GROUP, TOO_SHORT, NO_LENGTH, NO_VARINT].includes(refused)))(
    'are refused where no path leads, too: %s',
    (_, value, refused) => {
      // Items of a list that nothing takes are not looked at.
      const expected = value.equals(bytes(5, Buffer.alloc(12))) ? [undefined] : refused;
      expect(readerOf(SCHEMA, [['m', 'm', 'm', 'i']]).read(value)).toEqual(expected);
    },
  );

  test('are few where much JSON would follow from them: it is too large', () => {
    const fields = Array.from({ length: 200 }, (_, nth) => `int32 ${'n'.repeat(100)}${nth} = ${nth + 2};`).join(' ');
    const { read } = readerOf(`syntax = "proto3"; message M { repeated W l = 1; message W { ${fields} } }`);
    expect(read(Buffer.alloc(20_000, bytes(1, '')))).toEqual(TOO_LARGE);
    const symbols = `enum E { Z = 0; ${'N'.repeat(10_000)} = 1; } message M { repeated E l = 1; }`;
    expect(readerOf(`syntax = "proto3"; ${symbols}`).read(bytes(1, Buffer.alloc(10_000, 1)))).toEqual(TOO_LARGE);
    const few = readerOf(`syntax = "proto3"; ${symbols}`);
    expect(few.read(bytes(1, Buffer.alloc(50, 1)))).toHaveLength(1);
    expect(few.read(bytes(1, Buffer.alloc(60, 1)))).toEqual(TOO_LARGE);
    const optional = Array.from({ length: 5_000 }, (_, nth) => `optional int32 f${nth} = ${nth + 2};`).join(' ');
    const wide = readerOf(`syntax = "proto3"; message M { repeated W l = 1; message W { ${optional} } }`);
    expect(wide.read(Buffer.alloc(100_000, bytes(1, '')))).toEqual(TOO_LARGE);
  });

  test('are read in time that grows with their number: groups within each other, a oneof again and again', () => {
    const text = `edition = "2023"; option features.message_encoding = DELIMITED;
      message M { M g = 1; oneof o { M a = 2; M b = 3; } int32 i = 4; }`;
    const deep = nested(99, (inner) => group(1, inner));
    expect(readerOf(text, [[]]).read(joined(...Array.from({ length: 500 }, () => deep)))).toHaveLength(1);
    const flips = Array.from({ length: 50_000 }, (_, nth) => group(2 + (nth % 2), Buffer.alloc(0)));
    expect(readerOf(text, [['a'], ['b']]).read(joined(...flips))).toEqual([undefined, '{}']);
  });
});
