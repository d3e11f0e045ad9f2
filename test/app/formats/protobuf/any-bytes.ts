import fc from 'fast-check';
import protobuf from 'protobufjs';
import { type AnyField, type AnySchema, SCALARS } from './any-schema.ts';

/** Beyond so many messages within each other there are only scalars. */
const MOST_DEPTH = 4;
const MOST_PIECES = 9;

const TEXTS = ['', 'a', 'grün', 'a"b\\c', '\t\n', '\u0001', 'text', '日本', '😀'];

/** By scalar, its values as the writer of protobufjs takes them. */
const VALUES: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  double: fc.oneof(fc.double(), fc.constantFrom(0, -0, Number.NaN, Number.POSITIVE_INFINITY, 1e300, 5e-324)),
  float: fc.oneof(fc.float(), fc.constantFrom(0, -0, Number.NaN, Number.NEGATIVE_INFINITY)),
  ...Object.fromEntries(
    ['int32', 'sint32', 'sfixed32'].map((type) => [type, fc.oneof(fc.integer(), fc.constantFrom(0, -1))]),
  ),
  ...Object.fromEntries(
    ['uint32', 'fixed32'].map((type) => [type, fc.oneof(fc.integer({ min: 0, max: 4_294_967_295 }), fc.constant(0))]),
  ),
  ...Object.fromEntries(
    ['int64', 'sint64', 'sfixed64'].map((type) => [
      type,
      fc
        .oneof(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), fc.constantFrom(0n, 1n, -1n, 2n ** 53n))
        .map(String),
    ]),
  ),
  ...Object.fromEntries(
    ['uint64', 'fixed64'].map((type) => [
      type,
      fc
        .oneof(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), fc.constantFrom(0n, 127n, 128n, 2n ** 53n - 1n))
        .map(String),
    ]),
  ),
  bool: fc.boolean(),
  string: fc.oneof(fc.constantFrom(...TEXTS), fc.string()),
  bytes: fc.uint8Array({ maxLength: 9 }).map((bytes) => Buffer.from(bytes)),
  E: fc.constantFrom(0, 1, 4_000, -1),
};

const WIRES: Readonly<Record<string, number>> = {
  ...{ double: 1, fixed64: 1, sfixed64: 1, float: 5, fixed32: 5, sfixed32: 5, string: 2, bytes: 2 },
};
const wireOf = (type: string): number => WIRES[type] ?? 0;

/** The bytes of a scalar alone. */
export function scalarBytes(type: string, value: unknown): Buffer {
  const writer = protobuf.Writer.create();
  const name = type === 'E' ? 'int32' : type;
  // The writer has a method for each scalar.
  (writer as unknown as Record<string, (value: unknown) => void>)[name]?.(value);
  return Buffer.from(writer.finish());
}

export const varint = (value: number): Buffer => scalarBytes('uint32', value);
export const tag = (number: number, wire: number): Buffer => varint(((number << 3) | wire) >>> 0);
export const delimited = (bytes: Buffer): Buffer => Buffer.concat([varint(bytes.length), bytes]);

/** A field, by its number, as one of a message. */
export const field = (number: number, wire: number, bytes: Buffer): Buffer => Buffer.concat([tag(number, wire), bytes]);

/** Nanoseconds, years and digits within what is meant; their zeros are left out at times. */
const piecesOf = (...fields: readonly (readonly [number: number, type: string, values: fc.Arbitrary<unknown>])[]) =>
  fc
    .tuple(
      ...fields.map(([number, type, values]) =>
        fc.option(values.map((value) => field(number, wireOf(type), scalarBytes(type, value)))),
      ),
    )
    .map((pieces) => Buffer.concat(pieces.flatMap((piece) => piece ?? [])));

const nanos = fc.oneof(fc.integer({ min: 0, max: 999_999_999 }), fc.constantFrom(0, 500_000_000, 1));
const scalarIn = (number: number, type: string) => piecesOf([number, type, VALUES[type] ?? fc.constant(0)]);

/** Bytes of a google.protobuf.Value, of a Struct's entries and of a ListValue. */
function jsonBytes(depth: number): fc.Arbitrary<Buffer> {
  const scalars = fc.oneof(scalarIn(1, 'E'), scalarIn(2, 'double'), scalarIn(3, 'string'), scalarIn(4, 'bool'));
  return depth === 0
    ? scalars
    : fc.oneof(
        { weight: 3, arbitrary: scalars },
        { weight: 1, arbitrary: structBytes(depth - 1).map((bytes) => field(5, 2, delimited(bytes))) },
        { weight: 1, arbitrary: listBytes(depth - 1).map((bytes) => field(6, 2, delimited(bytes))) },
      );
}

const structBytes = (depth: number): fc.Arbitrary<Buffer> =>
  fc
    .array(fc.tuple(fc.constantFrom('k', 'j', 'a"'), jsonBytes(depth)), { maxLength: 3 })
    .map((entries) =>
      Buffer.concat(
        entries.map(([key, value]) =>
          field(
            1,
            2,
            delimited(Buffer.concat([field(1, 2, scalarBytes('string', key)), field(2, 2, delimited(value))])),
          ),
        ),
      ),
    );

const listBytes = (depth: number): fc.Arbitrary<Buffer> =>
  fc
    .array(jsonBytes(depth), { maxLength: 3 })
    .map((items) => Buffer.concat(items.map((item) => field(1, 2, delimited(item)))));

const small = (max: number) => fc.integer({ min: 0, max });

/** By full name of a well-known type. */
const WELL_KNOWN_BYTES: Readonly<Record<string, fc.Arbitrary<Buffer>>> = {
  'google.protobuf.Timestamp': piecesOf(
    [
      1,
      'int64',
      fc.oneof(fc.integer({ min: -62_135_596_800, max: 253_402_300_799 }), small(2e9), fc.constant(0)).map(String),
    ],
    [2, 'int32', nanos],
  ),
  'google.protobuf.Duration': piecesOf(
    [1, 'int64', fc.integer({ min: -1e9, max: 1e9 }).map(String)],
    [2, 'int32', fc.integer({ min: -999_999_999, max: 999_999_999 })],
  ),
  'google.protobuf.StringValue': scalarIn(1, 'string'),
  'google.protobuf.Int64Value': scalarIn(1, 'int64'),
  'google.protobuf.DoubleValue': scalarIn(1, 'double'),
  'google.protobuf.BytesValue': scalarIn(1, 'bytes'),
  'google.protobuf.Struct': structBytes(2),
  'google.protobuf.Value': jsonBytes(2),
  'google.protobuf.ListValue': listBytes(2),
  'google.protobuf.Any': piecesOf([1, 'string', fc.constant('x/y')], [2, 'bytes', VALUES['bytes'] ?? fc.constant('')]),
  'google.protobuf.Empty': fc.constant(Buffer.alloc(0)),
  'google.protobuf.FieldMask': piecesOf([1, 'string', fc.constant('a.b')], [1, 'string', fc.constant('c')]),
  'google.type.Date': piecesOf([1, 'int32', small(9_999)], [2, 'int32', small(12)], [3, 'int32', small(31)]),
  'google.type.TimeOfDay': piecesOf(
    ...[[1, 'int32', small(24)] as const, [2, 'int32', small(59)] as const, [3, 'int32', small(60)] as const],
    [4, 'int32', nanos],
  ),
  'confluent.type.Decimal': fc
    .record({ digits: fc.uint8Array({ minLength: 1, maxLength: 20 }), scale: fc.integer({ min: -3, max: 20 }) })
    .map(({ digits, scale }) =>
      Buffer.concat([
        field(1, 2, scalarBytes('bytes', Buffer.from(digits))),
        ...(scale === 0 ? [] : [field(3, 0, scalarBytes('int32', scale))]),
      ]),
    ),
};

const isScalar = (type: string): boolean => SCALARS.includes(type) || type === 'E';

/** What the schema does not have: another field of it is never one of these. */
const unknown = fc.oneof(
  fc.constantFrom(...[field(9, 0, varint(300)), field(9_999, 2, delimited(Buffer.from('x')))]),
  fc.constant(Buffer.concat([tag(10, 3), field(1, 0, varint(1)), tag(11, 3), tag(11, 4), tag(10, 4)])),
);

/** Values of the messages of a schema, in the encoding of Protobuf, as any writer may write them. */
export class AnyBytes {
  readonly #schema: AnySchema;
  readonly #isDelimited: (field: AnyField) => boolean;

  /** @param isDelimited whether messages of a field are groups */
  constructor(schema: AnySchema, isDelimited: (field: AnyField) => boolean) {
    this.#schema = schema;
    this.#isDelimited = isDelimited;
  }

  /** Fields in any order, again and again, with others between them. */
  message(nth: number, depth = 0): fc.Arbitrary<Buffer> {
    const fields = this.#schema.messages[nth] ?? [];
    const within = fields.filter(({ type }) => depth < MOST_DEPTH || !/^M[0-9]$/.test(type));
    const pieces = within.map((each) => this.#piece(each, depth));
    return fc
      .array(fc.oneof(...pieces.map((arbitrary) => ({ weight: 6, arbitrary })), { weight: 1, arbitrary: unknown }), {
        maxLength: depth > 1 ? 3 : MOST_PIECES,
      })
      .map((all) => Buffer.concat(all));
  }

  #piece(each: AnyField, depth: number): fc.Arbitrary<Buffer> {
    const { number, type, label } = each;
    if (label === 'map') {
      return this.#entry(each, depth);
    }
    if (!isScalar(type)) {
      const isGroup = this.#isDelimited(each);
      return this.#content(type, depth).map((bytes) =>
        isGroup ? Buffer.concat([tag(number, 3), bytes, tag(number, 4)]) : field(number, 2, delimited(bytes)),
      );
    }
    const values = VALUES[type] ?? fc.constant(0);
    const single = values.map((value) => field(number, wireOf(type), scalarBytes(type, value)));
    const isPackable = label === 'repeated' && wireOf(type) !== 2;
    const packed = fc
      .array(values, { maxLength: 4 })
      .map((items) => field(number, 2, delimited(Buffer.concat(items.map((item) => scalarBytes(type, item))))));
    return isPackable ? fc.oneof(single, packed) : single;
  }

  #content(type: string, depth: number): fc.Arbitrary<Buffer> {
    return WELL_KNOWN_BYTES[type] ?? this.message(Number(type.slice(1)), depth + 1);
  }

  /** Key and value may be absent, and either may be first. */
  #entry({ number, type, keyType }: AnyField, depth: number): fc.Arbitrary<Buffer> {
    const keys =
      keyType === 'string'
        ? fc.constantFrom('a', 'b', 'k', '')
        : keyType === 'bool'
          ? fc.boolean()
          : fc.constantFrom(0, 1, 2);
    // protobufjs has two forms of a key of 64 bits that is 0.
    const isLong = keyType.endsWith('64');
    const key = keys.map((value) => field(1, wireOf(keyType), scalarBytes(keyType, value)));
    const value = isScalar(type)
      ? (VALUES[type] ?? fc.constant(0)).map((each) => field(2, wireOf(type), scalarBytes(type, each)))
      : this.#content(type, depth).map((bytes) => field(2, 2, delimited(bytes)));
    return fc
      .tuple(isLong ? key : fc.option(key), type === 'confluent.type.Decimal' ? value : fc.option(value), fc.boolean())
      .map(([one, other, isSwapped]) => {
        const parts = [one ?? Buffer.alloc(0), other ?? Buffer.alloc(0)];
        return field(number, 2, delimited(Buffer.concat(isSwapped ? parts.reverse() : parts)));
      });
  }
}
