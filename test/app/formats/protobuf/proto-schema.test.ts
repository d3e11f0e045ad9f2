import { describe, expect, test } from '@jest/globals';
import protobuf from 'protobufjs';
import { BUILT_IN_FILES } from '../../../../app/formats/protobuf/proto-files.ts';
import type { MessageType } from '../../../../app/formats/protobuf/proto-type.ts';
import { schemaOf } from './read-message.ts';

const fieldsOf = (type: MessageType | undefined, given = type?.fields ?? []) =>
  Object.fromEntries(given.map((field) => [field.name, field]));

/** By field, whether it has presence. */
const presence = (text: string) =>
  Object.fromEntries(
    schemaOf(text)
      .messageAt([0])
      ?.fields.map((each) => [each.name, each.hasPresence]) ?? [],
  );

describe('whether a field that is absent is more than its zero depends on', () => {
  test('the label in proto2 and proto3', () => {
    expect(
      presence(`syntax = "proto2"; message M { optional int32 a = 1; required int32 b = 2; repeated int32 c = 3;
        optional M d = 4; map<int32, int32> e = 5; optional int32 f = 6 [default = 9]; }`),
    ).toEqual({ a: true, b: true, c: false, d: true, e: false, f: true });
    expect(
      presence(`syntax = "proto3"; message M { int32 a = 1; optional int32 b = 2; repeated M c = 3; M d = 4;
        oneof o { int32 e = 5; string f = 6; } }`),
    ).toEqual({ a: false, b: true, c: false, d: true, e: true, f: true });
  });

  test('features of an edition, of the field before those of the file', () => {
    const text = (option: string) => `edition = "2023"; ${option}
      message M { int32 a = 1; int32 b = 2 [features.field_presence = IMPLICIT];
        int32 c = 3 [features = { field_presence: EXPLICIT }]; M d = 4; repeated int32 e = 5; }`;
    const same = { b: false, c: true, d: true, e: false };
    expect(presence(text(''))).toEqual({ a: true, ...same });
    expect(presence(text('option features.field_presence = IMPLICIT;'))).toEqual({ a: false, ...same });
  });

  test('features of each file by itself', () => {
    const schema = schemaOf('edition = "2023"; import "other.proto"; message M { int32 a = 1; Other o = 2; }', {
      'other.proto': 'syntax = "proto3"; message Other { int32 a = 1; }',
    });
    const { a, o } = fieldsOf(schema.messageAt([0]));
    expect([a?.hasPresence, o?.message?.fields[0]?.hasPresence]).toEqual([true, false]);
  });
});

test('a name means what is in the innermost scope that has its first part', () => {
  const schema = schemaOf(`syntax = "proto3"; package a.b;
    message M { message Deep { message Inner { int32 wrong = 1; } } Inner one = 1; .a.b.M.Deep.Inner two = 2;
      Deep.Inner three = 3; b.Inner four = 4; Local five = 5; message Local { int32 own = 1; } }
    message Inner { int32 right = 1; }
    message Local { int32 wrong = 1; }`);
  const names = (schema.messageAt([0])?.fields ?? []).map(({ message }) => message?.name);
  expect(names).toEqual(['a.b.Inner', 'a.b.M.Deep.Inner', 'a.b.M.Deep.Inner', 'a.b.Inner', 'a.b.M.Local']);
});

test('messages are counted as they are written: groups, entries of maps, enums and imports are none', () => {
  const schema = schemaOf(
    `syntax = "proto2"; package p; import "other.proto"; enum E { A = 0; }
    message One { optional group Part = 1 { optional int32 a = 1; } map<int32, int32> m = 2;
      message First { message Deep {} } enum F { B = 0; } message Second {} }
    service S {} message Two {}`,
    { 'other.proto': 'syntax = "proto2"; package p; message Zero {}' },
  );
  const nameAt = (...indexes: readonly number[]) => schema.messageAt(indexes)?.name;
  expect([nameAt(0), nameAt(1), nameAt(0, 0), nameAt(0, 0, 0), nameAt(0, 1)]).toEqual([
    ...['p.One', 'p.Two', 'p.One.First', 'p.One.First.Deep', 'p.One.Second'],
  ]);
  expect([nameAt(2), nameAt(0, 2), nameAt(0, 1, 0), nameAt()]).toEqual([undefined, undefined, undefined, undefined]);
  expect(schema.names).toEqual(['p.One', 'p.One.First', 'p.One.First.Deep', 'p.One.Second', 'p.Two']);
  expect(fieldsOf(schema.messageAt([0]))).toMatchObject({ part: { kind: 'message', number: 1 }, m: { shape: 'map' } });
});

test('names are those of the text, an extension has its full name in brackets, an alias the name that is first', () => {
  const schema = schemaOf(`syntax = "proto2"; package p;
    enum E { option allow_alias = true; A = 0; B = 1; C = 1; }
    message M { optional int32 snake_case = 1; optional int32 camelCase = 2; optional E e = 3; extensions 100 to 200; }
    extend M { optional string more = 100; }`);
  const fields = fieldsOf(schema.message('p.M'));
  expect(Object.keys(fields)).toEqual(['snake_case', 'camelCase', 'e', '[p.more]']);
  expect(fields['e']?.symbols.get(1)?.toString()).toBe('B');
  expect(schema.message('M')).toBeUndefined();
});

test('a message of a well-known name is that only with its fields', () => {
  const own = `syntax = "proto3"; package google.protobuf; message Timestamp { string text = 1; }`;
  const schema = schemaOf(
    'syntax = "proto3"; import "google/protobuf/timestamp.proto"; message M { google.protobuf.Timestamp t = 1; }',
    {
      'google/protobuf/timestamp.proto': own,
    },
  );
  expect(schema.messageAt([0])?.fields[0]?.message).toMatchObject({ wellKnown: null });
});

test('built-in files of google/protobuf are those that the parser brings', () => {
  const root = new protobuf.Root();
  for (const name of ['any', 'duration', 'timestamp', 'empty', 'field_mask', 'struct', 'wrappers']) {
    const file = `google/protobuf/${name}.proto`;
    const own = protobuf.parse(BUILT_IN_FILES.get(file) ?? '', new protobuf.Root(), { keepCase: true }).root;
    const namespace = own.resolveAll().lookup('google.protobuf') as protobuf.Namespace;
    const theirs = protobuf.Root.fromJSON(protobuf.common.get(file) ?? {}, root);
    for (const type of namespace.nestedArray.filter((each): each is protobuf.Type => each instanceof protobuf.Type)) {
      const numbers = ({ fieldsArray }: protobuf.Type) =>
        fieldsArray.map(({ id, type: of, rule, map }) => [id, of, rule ?? null, map]);
      expect([type.name, numbers(type)]).toEqual([
        type.name,
        numbers(theirs.lookupType(`google.protobuf.${type.name}`)),
      ]);
    }
  }
});

test('all built-in files can be imported, and so can options', () => {
  const imports = [...BUILT_IN_FILES.keys()].map((name) => `import "${name}";`).join('\n');
  const schema = schemaOf(`syntax = "proto3"; ${imports}
    extend google.protobuf.FieldOptions { string note = 50000; }
    message M { option (confluent.message_meta).doc = "x"; google.type.Money m = 1 [(note) = "y", deprecated = true];
      confluent.type.Decimal d = 2 [(confluent.field_meta) = { params: [{ key: "precision", value: "9" }] }]; }`);
  expect(schema.messageAt([0])?.fields.map(({ message }) => message?.name)).toEqual([
    ...['google.type.Money', 'confluent.type.Decimal'],
  ]);
});

test.each([
  ['syntax = "proto3"; message M { int32 a = 1 }', /^its schema 7 is no Protobuf schema: illegal token '}'.*line 1\)$/],
  ['syntax = "proto3";\nmessage M {\n  int32 a = ;\n}', /line 3\)$/],
  ['syntax = "proto9"; message M {}', /proto9/],
  ['{"type":"record"}', /illegal/],
  ['syntax = "proto3"; message M { N n = 1; }', /no such Type or Enum 'N'/],
  ['syntax = "proto3"; message M { int32 a = 1; int32 b = 1; }', /duplicate id 1/],
  [
    'syntax = "proto3"; import "other.proto"; message M {}',
    /it imports other\.proto, which is neither given nor built in$/,
  ],
  ['syntax = "proto3"; import "bad.proto"; message M {}', /in its import bad\.proto: illegal type name '\{'/],
  ['syntax = "proto3"; message M { string s = 1; }'.padEnd(1_048_577), /more than 1048576 characters$/],
  [`syntax = "proto3"; ${'message M {'.repeat(200)}${'}'.repeat(200)}`, /depth|nest/],
])('%.60s is refused with words', (text, words) => {
  expect(() => schemaOf(text, { 'bad.proto': 'message {' }).messageAt([0])).toThrow(words);
});

test('a message of 10,000 fields is read with all of them', () => {
  const body = Array.from({ length: 10_000 }, (_, nth) => `optional int32 f${nth} = ${nth + 1};`).join(' ');
  const schema = schemaOf(`syntax = "proto3"; message M { ${body} }`);
  expect(schema.messageAt([0])?.fields).toHaveLength(10_000);
  expect(() => schemaOf(`syntax = "proto3"; message M { ${body} int32 again = 5000; }`)).toThrow('duplicate id 5000');
});

test('a type that another message beside has is none of a field', () => {
  const text = 'syntax = "proto3"; message M { Inner i = 1; message Other { message Inner {} } }';
  expect(() => schemaOf(text).messageAt([0])).toThrow('the type Inner of M.i is not defined');
});
