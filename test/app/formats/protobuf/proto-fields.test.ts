import { describe, expect, test } from '@jest/globals';
import { bytes, double, group, int, joined, tag } from './encoding.ts';
import { readerOf } from './read-message.ts';

const proto3 = (body: string): string => `syntax = "proto3"; import "google/protobuf/timestamp.proto";
  import "google/protobuf/struct.proto"; import "google/protobuf/wrappers.proto"; import "google/protobuf/duration.proto";
  import "confluent/type/decimal.proto"; import "google/type/decimal.proto"; ${body}`;

describe('a value of Protobuf', () => {
  test('has a number where an enum has no name for it, whether it is closed or open', () => {
    const body = 'enum E { A = 0; B = 1; } message M { optional E e = 1; repeated E l = 2; }';
    for (const text of [`syntax = "proto2"; ${body}`, proto3(body)]) {
      const { read } = readerOf(text.replace('message M', 'message M'), [['e'], ['l']]);
      expect(read(joined(int(1, 5), int(2, -1), int(2, 1)))).toEqual(['5', '[-1,"B"]']);
      expect(read(int(1, 1))).toEqual(['"B"', '[]']);
    }
  });

  test('loses the high bits of a number that is wider than its type', () => {
    const { read } = readerOf(proto3('message M { int32 i = 1; uint32 u = 2; bool b = 3; sint32 s = 4; }'));
    const wide = 2n ** 32n + 5n;
    expect(read(joined(int(1, wide), int(2, wide), int(3, 2n ** 40n), int(4, wide)))).toEqual([
      '{"i":5,"u":5,"b":true,"s":-3}',
    ]);
  });

  test('is without a field of proto2 that is absent, whatever its default is and though it is required', () => {
    const text = 'syntax = "proto2"; message M { required int32 a = 1; optional int32 b = 2 [default = 7]; }';
    expect(readerOf(text, [[], ['a'], ['b']]).read(Buffer.alloc(0))).toEqual(['{}', undefined, undefined]);
  });

  test('has of a oneof what was last, and of what it replaces nothing is left', () => {
    const text = proto3('message M { oneof o { M m = 1; string s = 2; } int32 i = 3; repeated int32 l = 4; }');
    const { read } = readerOf(text, [['m', 'i'], ['s'], ['m', 'l', 0], ['m']]);
    const inner = joined(int(3, 5), int(4, 6));
    expect(read(bytes(1, inner))).toEqual(['5', undefined, '6', '{"i":5,"l":[6]}']);
    expect(read(joined(bytes(1, inner), bytes(2, 'x')))).toEqual([undefined, '"x"', undefined, undefined]);
    expect(read(joined(bytes(1, inner), bytes(2, 'x'), bytes(1, int(4, 7))))).toEqual([
      ...['0', undefined, '7', '{"i":0,"l":[7]}'],
    ]);
  });

  test('has of equal keys of a map the last entry, and nothing of the ones before it', () => {
    const text = proto3('message M { map<int32, M> m = 1; optional int32 a = 2; repeated int32 l = 3; }');
    const { read } = readerOf(text, [
      ['m', '5', 'a'],
      ['m', '5', 'l'],
      ['m', '0'],
    ]);
    const entry = (...parts: readonly Buffer[]) => bytes(1, joined(...parts));
    const [first, second] = [bytes(2, joined(int(2, 7), int(3, 8))), bytes(2, int(3, 9))];
    expect(read(joined(entry(int(1, 5), first), entry(second, int(1, 5))))).toEqual([undefined, '[9]', undefined]);
    expect(read(joined(entry(first), entry(int(1, 5), first)))).toEqual(['7', '[8]', '{"m":{},"a":7,"l":[8]}']);
    expect(read(entry(int(1, 5)))).toEqual([undefined, '[]', undefined]);
  });

  test('is the same where a message is a group', () => {
    const text = `edition = "2023"; message M { M g = 1 [features.message_encoding = DELIMITED]; int32 i = 2; }`;
    const { read } = readerOf(text, [[], ['g', 'g', 'i']]);
    const inner = joined(int(2, 5));
    expect(read(group(1, group(1, inner)))).toEqual(['{"g":{"g":{"i":5}}}', '5']);
    expect(read(bytes(1, bytes(1, inner)))).toEqual(['{"g":{"g":{"i":5}}}', '5']);
  });

  test('has points in time as ISO 8601, durations and decimals as digits, and brings the unit of maps', () => {
    const text = proto3(`message M { google.protobuf.Timestamp t = 1; repeated google.protobuf.Timestamp l = 2;
      google.protobuf.Struct s = 3; map<string, int32> m = 4; google.protobuf.Duration d = 5;
      confluent.type.Decimal c = 6; google.type.Decimal g = 7; google.protobuf.StringValue w = 8; }`);
    const { read, fields } = readerOf(text, [['t'], ['l'], ['s'], ['m'], ['d'], ['c'], ['g'], ['w'], []]);
    const time = joined(int(1, 1_700_000_000), int(2, 7));
    const decimal = joined(bytes(1, Buffer.from([0xff, 0x38])), int(3, 2));
    const value = joined(bytes(1, time), bytes(2, time), bytes(2, ''), bytes(5, int(1, -3)), bytes(6, decimal));
    expect(read(joined(value, bytes(7, bytes(1, '1.50')), bytes(8, bytes(1, 'a"'))))).toEqual([
      ...[
        '"2023-11-14T22:13:20.000000007Z"',
        '["2023-11-14T22:13:20.000000007Z","1970-01-01T00:00:00Z"]',
        undefined,
        '{}',
        '-3',
        '-2.00',
        '"1.50"',
        '"a\\""',
      ],
      '{"t":"2023-11-14T22:13:20.000000007Z","l":["2023-11-14T22:13:20.000000007Z","1970-01-01T00:00:00Z"],' +
        '"m":{},"d":-3,"c":-2.00,"g":"1.50","w":"a\\""}',
    ]);
    expect(fields.units).toEqual([undefined, undefined, 'json', 'json', ...Array(5).fill(undefined)]);
    expect(fields.of(7)).toMatchObject({ kind: 'string', hasEscapes: true });
  });

  test.each([
    [-1, 0, '1969-12-31T23:59:59Z'],
    [0, 1, '1970-01-01T00:00:00.000000001Z'],
    [86_399, 500_000_000, '1970-01-01T23:59:59.500Z'],
    [1_784_121_255, 123_456_000, '2026-07-15T13:14:15.123456Z'],
    [-62_135_596_800, 0, '0001-01-01T00:00:00Z'],
    [253_402_300_799, 999_999_999, '9999-12-31T23:59:59.999999999Z'],
    [253_402_300_800, 0, '+10000-01-01T00:00:00Z'],
    [5, -1, '1970-01-01T00:00:04.999999999Z'],
  ])('has %d seconds and %d nanoseconds since 1970 as %s', (seconds, nanos, text) => {
    const { read } = readerOf(proto3('message M { google.protobuf.Timestamp t = 1; }'), [['t']]);
    expect(read(bytes(1, joined(int(1, seconds), int(2, nanos))))).toEqual([`"${text}"`]);
  });

  test('has the fields of a well-known type, too, and none of the names in a Struct', () => {
    const text = proto3('message M { google.protobuf.Timestamp t = 1; google.protobuf.Struct s = 2; }');
    const { read } = readerOf(text, [['t', 'seconds'], ['t', 'nanos'], ['s', 'k'], ['s']]);
    const entry = joined(bytes(1, 'k'), bytes(2, double(2, 1.5)));
    expect(read(joined(bytes(1, int(1, 9)), bytes(2, bytes(1, entry))))).toEqual(['9', '0', undefined, '{"k":1.5}']);
  });

  test('counts and names the fields of the row that nothing takes, those that the schema lacks by number', () => {
    const names: (string | null)[] = [];
    const others = { mapped: [['b']], row: [], onUnmapped: (name: string | null) => names.push(name) };
    const { read, fields } = readerOf(proto3('message M { int32 a = 1; int32 b = 2; int32 c = 3; }'), [['a']], others);
    expect([read(joined(int(1, 1), int(9, 5))), fields.unmapped, names]).toEqual([['1'], 2, ['c', '#9']]);
    expect([read(int(1, 2)), fields.unmapped, names]).toEqual([['2'], 1, ['c', '#9']]);
  });

  test('may have its fields in an object of the row, as change events have', () => {
    const names: (string | null)[] = [];
    const others = { mapped: [], row: ['after'], onUnmapped: (name: string | null) => names.push(name) };
    const text = proto3('message M { R after = 1; message R { int32 id = 1; int32 more = 2; } }');
    const { read, fields } = readerOf(text, [['after', 'id']], others);
    expect([read(bytes(1, int(1, 5))), fields.unmapped, names]).toEqual([['5'], 1, ['more']]);
    expect([read(Buffer.alloc(0)), fields.unmapped]).toEqual([[undefined], 0]);
  });

  test('is an empty message where it has no bytes', () => {
    const { read, fields } = readerOf(proto3('message M { string s = 1; bytes b = 2; }'), [['s'], ['b'], []]);
    expect(read(Buffer.alloc(0))).toEqual(['""', '""', '{"s":"","b":""}']);
    expect([fields.kind, fields.words]).toEqual(['object', undefined]);
  });

  test('forgets what was found in the value before it, also in one that is refused', () => {
    const { read } = readerOf(proto3('message M { optional int32 a = 1; M m = 2; }'), [['a'], ['m', 'a']]);
    expect(read(joined(int(1, 1), bytes(2, int(1, 2))))).toEqual(['1', '2']);
    expect(read(joined(int(1, 1), tag(2, 2)))).toMatchObject({ reason: 'undecodable', parts: [undefined, undefined] });
    expect(read(Buffer.alloc(0))).toEqual([undefined, undefined]);
  });
});
