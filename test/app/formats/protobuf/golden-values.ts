import type { FieldPath } from '../../../../app/tables/mapping/table-mapping.ts';
import { bytes, double, group, int, joined } from './encoding.ts';

/** A schema with every kind of field, and of each well-known type one. */
export const GOLDEN_SCHEMA = `edition = "2023"; package acme;
  import "google/protobuf/timestamp.proto"; import "google/protobuf/struct.proto"; import "google/protobuf/any.proto";
  import "google/protobuf/duration.proto"; import "google/protobuf/wrappers.proto"; import "google/type/date.proto";
  import "google/type/timeofday.proto"; import "confluent/type/decimal.proto";
  message M {
    int64 id = 1; string text = 2; bytes raw = 3; bool is = 4; E e = 5; double d = 6; float f = 7; sint64 s = 8;
    fixed32 x = 9; repeated int32 packed = 10; repeated string list = 11; map<string, M> map = 12;
    M next = 13; M group = 14 [features.message_encoding = DELIMITED]; oneof o { string a = 15; M b = 16; }
    google.protobuf.Timestamp t = 17; google.protobuf.Struct struct = 18; google.protobuf.Duration dur = 19;
    google.protobuf.StringValue w = 20; google.type.Date date = 21; google.type.TimeOfDay time = 22;
    confluent.type.Decimal dec = 23; google.protobuf.Any any = 24; int32 zero = 25 [features.field_presence = IMPLICIT];
    enum E { A = 0; B = 1; }
  }`;

export const GOLDEN_PATHS: readonly FieldPath[] = [
  ...[[], ['id'], ['text'], ['raw'], ['e'], ['f'], ['packed'], ['packed', 1], ['list', 0], ['map'], ['map', 'k', 'id']],
  ...[['next', 'next', 'text'], ['group', 'id'], ['a'], ['b', 'id'], ['t'], ['t', 'nanos'], ['struct'], ['dur'], ['w']],
  ...[['date'], ['time'], ['dec'], ['any'], ['zero']],
];

const value = (text: string): Buffer => bytes(3, text);

function message(depth: number): Buffer {
  const inner = depth === 0 ? Buffer.alloc(0) : message(depth - 1);
  const entry = joined(bytes(1, 'k'), bytes(2, value('v"')));
  return joined(
    ...[int(1, 12_345_678_901n), bytes(2, 'text é "x"'), bytes(3, Buffer.from([1, 2, 0xff])), int(4, 1), int(5, 1)],
    ...[double(6, 1.5), int(8, 9), bytes(10, Buffer.from([1, 2, 0x80, 1])), bytes(11, 'one'), bytes(11, 'two')],
    ...[bytes(12, joined(bytes(1, 'k'), bytes(2, inner))), bytes(13, inner), group(14, inner), bytes(15, 'a')],
    ...[bytes(16, inner), bytes(17, joined(int(1, 1_795_443_420), int(2, 578_620_000))), bytes(18, bytes(1, entry))],
    ...[bytes(19, joined(int(1, 5), int(2, 500_000_000))), bytes(20, bytes(1, 'w'))],
    ...[bytes(21, joined(int(1, 2026), int(2, 7), int(3, 15))), bytes(22, joined(int(1, 23), int(2, 59)))],
    ...[
      bytes(23, joined(bytes(1, Buffer.from([4, 0xd2])), int(3, 2))),
      bytes(24, joined(bytes(1, 'u'), bytes(2, 'v'))),
    ],
  );
}

/** A value that has all of it, and the same in it. */
export const GOLDEN_VALUE = message(1);
