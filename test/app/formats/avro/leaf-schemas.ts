import fc from 'fast-check';

/** A schema as JSON has it. */
export type Schema = string | readonly Schema[] | { readonly [name: string]: unknown };

/** A value: as avsc takes it, and as JSON, with times as ISO 8601 and as numbers. */
export interface AnyValue {
  readonly avsc: unknown;
  readonly iso: string;
  readonly raw: string;
}

/** A schema, and values of it. */
export interface AnySchema {
  readonly schema: Schema;
  readonly values: fc.Arbitrary<AnyValue>;
  /** What a union calls it. */
  readonly branch: string;
}

export const both = (avsc: unknown, json: string): AnyValue => ({ avsc, iso: json, raw: json });

const simple = <Value>(schema: string, of: fc.Arbitrary<Value>, json: (value: Value) => string): AnySchema => ({
  schema,
  values: of.map((value) => both(value, json(value))),
  branch: schema,
});

const float = (value: number, text: string): string =>
  Number.isFinite(value) ? (Object.is(value, -0) ? '-0' : text) : JSON.stringify(String(value));

/** The shortest text that reads back as the same float32, by trying all lengths. */
function float32(value: number): string {
  const texts = Array.from({ length: 9 }, (_, digits) => String(Number(value.toPrecision(digits + 1))));
  return texts.find((text) => Math.fround(Number(text)) === value) ?? String(value);
}

const anyText = fc.string({
  unit: fc.oneof(
    fc.constantFrom('"', '\\', '\n', '\t', '\u0001', ' '),
    fc.string({ maxLength: 1 }),
    fc.constantFrom('é', '𝄞', '\u2028'),
  ),
});
const anyBytes = fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes));
const base64 = (bytes: Buffer): string => JSON.stringify(bytes.toString('base64'));

const long = fc.oneof(
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.bigInt({ min: -200n, max: 200n }),
  fc.bigInt({ min: 2n ** 53n - 2n, max: 2n ** 53n + 2n }),
);
const int = fc.oneof(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }), fc.integer({ min: -130, max: 130 }));

export const SIMPLE_SCHEMAS: readonly AnySchema[] = [
  simple('null', fc.constant(null), () => 'null'),
  simple('boolean', fc.boolean(), String),
  simple('int', int, String),
  simple('long', long, String),
  simple('float', fc.float(), (value) => float(value, float32(value))),
  simple('double', fc.double(), (value) => float(value, String(value))),
  simple('bytes', anyBytes, base64),
  simple('string', anyText, (text) => JSON.stringify(text)),
];

const logical = <Value>(
  type: string,
  logicalType: string,
  of: fc.Arbitrary<Value>,
  value: (of: Value) => AnyValue,
): AnySchema => ({ schema: { type, logicalType }, values: of.map(value), branch: type });

const SECONDS = { min: -62_135_596_800, max: 253_402_300_799 };
const isoOf = (seconds: number, fraction: string): string =>
  JSON.stringify(
    `${new Date(seconds * 1_000).toISOString().slice(0, 19)}${/[1-9]/.test(fraction) ? `.${fraction}` : ''}Z`,
  );

const epoch = (logicalType: string, digits: number): AnySchema =>
  logical(
    'long',
    logicalType,
    fc.tuple(
      // Nanoseconds of all years are no longs.
      fc.integer(digits === 9 ? { min: -9_000_000_000, max: 9_000_000_000 } : SECONDS),
      fc.nat(10 ** digits - 1),
    ),
    ([seconds, part]) => {
      const value = BigInt(seconds) * 10n ** BigInt(digits) + BigInt(part);
      return { avsc: value, iso: isoOf(seconds, String(part).padStart(digits, '0')), raw: String(value) };
    },
  );

const DAYS = fc.integer({ min: -719_162, max: 2_932_896 });
const SECOND_OF_DAY = fc.nat(86_399);
const clock = (seconds: number, fraction: string): string =>
  JSON.stringify(
    `${new Date(seconds * 1_000).toISOString().slice(11, 19)}${/[1-9]/.test(fraction) ? `.${fraction}` : ''}`,
  );

export const LOGICAL_SCHEMAS: readonly AnySchema[] = [
  logical('int', 'date', DAYS, (days) => ({
    avsc: days,
    iso: JSON.stringify(new Date(days * 86_400_000).toISOString().slice(0, 10)),
    raw: String(days),
  })),
  logical('int', 'time-millis', fc.tuple(SECOND_OF_DAY, fc.nat(999)), ([seconds, part]) => ({
    avsc: seconds * 1_000 + part,
    iso: clock(seconds, String(part).padStart(3, '0')),
    raw: String(seconds * 1_000 + part),
  })),
  logical('long', 'time-micros', fc.tuple(SECOND_OF_DAY, fc.nat(999_999)), ([seconds, part]) => ({
    avsc: BigInt(seconds * 1_000_000 + part),
    iso: clock(seconds, String(part).padStart(6, '0')),
    raw: String(seconds * 1_000_000 + part),
  })),
  epoch('timestamp-millis', 3),
  epoch('timestamp-micros', 6),
  epoch('timestamp-nanos', 9),
  epoch('local-timestamp-millis', 3),
  epoch('local-timestamp-micros', 6),
  epoch('local-timestamp-nanos', 9),
  logical('string', 'uuid', fc.uuid(), (uuid) => both(uuid, JSON.stringify(uuid))),
  // A logical type for another type says nothing.
  logical('string', 'date', anyText, (text) => both(text, JSON.stringify(text))),
  logical('bytes', 'uuid', anyBytes, (bytes) => both(bytes, base64(bytes))),
  logical('long', 'unknown', long, (value) => both(value, String(value))),
];

/** Two's complement in as few bytes as it takes, or in so many. */
function twosComplement(value: bigint, size?: number): Buffer {
  let length = size ?? 1;
  while (BigInt.asIntN(length * 8, value) !== value) {
    length += 1;
  }
  return Buffer.from(
    BigInt.asUintN(length * 8, value)
      .toString(16)
      .padStart(length * 2, '0'),
    'hex',
  );
}

function withPoint(value: bigint, scale: number): string {
  const digits = String(value < 0n ? -value : value).padStart(scale + 1, '0');
  const text = scale === 0 ? digits : `${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
  return `${value < 0n ? '-' : ''}${text}`;
}

const unscaled = (bits: bigint) =>
  fc.oneof(
    fc.bigInt({ min: -(2n ** bits), max: 2n ** bits - 1n }),
    fc.bigInt({ min: -1_000n, max: 1_000n }),
    fc.bigInt({ min: -(2n ** 48n), max: 2n ** 48n }),
  );

function zigzag(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value >= 0 ? value * 2 : -value * 2 - 1;
  for (; rest >= 128; rest = Math.floor(rest / 128)) {
    bytes.push((rest % 128) + 128);
  }
  return Buffer.from([...bytes, rest]);
}

let names = 0;
/** A name that no other type of a test has, in a namespace or in none. */
export function anyName(): { name: string; namespace?: string; fullName: string } {
  names += 1;
  const name = `T${names}`;
  return names % 3 === 0 ? { name, fullName: name } : { name, namespace: 'a.b', fullName: `a.b.${name}` };
}

/** Types that have a name or a parameter. */
export const declared: fc.Arbitrary<AnySchema> = fc.oneof(
  fc.nat(40).map(
    (scale): AnySchema => ({
      schema: { type: 'bytes', logicalType: 'decimal', precision: 50, scale },
      values: unscaled(160n).map((value) => both(twosComplement(value), withPoint(value, scale))),
      branch: 'bytes',
    }),
  ),
  fc.constant<AnySchema>({
    schema: { type: 'bytes', logicalType: 'big-decimal' },
    values: fc.tuple(unscaled(160n), fc.nat(30)).map(([value, scale]) => {
      const digits = twosComplement(value);
      return both(Buffer.concat([zigzag(digits.length), digits, zigzag(scale)]), withPoint(value, scale));
    }),
    branch: 'bytes',
  }),
  fc.tuple(fc.integer({ min: 1, max: 20 }), fc.nat(10)).map(([size, scale]): AnySchema => {
    const { fullName, ...name } = anyName();
    return {
      schema: {
        type: 'fixed',
        ...name,
        namespace: name.namespace ?? '',
        size,
        logicalType: 'decimal',
        precision: 9,
        scale,
      },
      values: fc
        .bigInt({ min: -(2n ** BigInt(size * 8 - 1)), max: 2n ** BigInt(size * 8 - 1) - 1n })
        .map((value) => both(twosComplement(value, size), withPoint(value, scale))),
      branch: fullName,
    };
  }),
  fc.nat(12).map((size): AnySchema => {
    const { fullName, ...name } = anyName();
    return {
      schema: { type: 'fixed', ...name, namespace: name.namespace ?? '', size },
      values: fc.uint8Array({ minLength: size, maxLength: size }).map((bytes) => {
        const fixed = Buffer.from(bytes);
        return both(fixed, base64(fixed));
      }),
      branch: fullName,
    };
  }),
  fc.constant(null).map((): AnySchema => {
    const { fullName, ...name } = anyName();
    return {
      schema: { type: 'fixed', ...name, namespace: name.namespace ?? '', size: 16, logicalType: 'uuid' },
      values: fc.uuid().map((uuid) => both(Buffer.from(uuid.replaceAll('-', ''), 'hex'), JSON.stringify(uuid))),
      branch: fullName,
    };
  }),
  fc.constant(null).map((): AnySchema => {
    const { fullName, ...name } = anyName();
    return {
      schema: { type: 'fixed', ...name, namespace: name.namespace ?? '', size: 12, logicalType: 'duration' },
      values: fc.tuple(fc.nat(1_000_000), fc.nat(1_000_000), fc.nat(2 ** 31)).map((parts) => {
        const bytes = Buffer.alloc(12);
        for (const [nth, part] of parts.entries()) {
          bytes.writeUInt32LE(part, nth * 4);
        }
        const [months, days, ms] = parts;
        const seconds = `${Math.floor(ms / 1_000)}.${String(ms % 1_000).padStart(3, '0')}`;
        return both(bytes, JSON.stringify(`P${months}M${days}DT${seconds}S`));
      }),
      branch: fullName,
    };
  }),
  fc.uniqueArray(fc.constantFrom('A', 'b', 'C_1', '_d'), { minLength: 1 }).map((symbols): AnySchema => {
    const { fullName, ...name } = anyName();
    return {
      schema: { type: 'enum', ...name, namespace: name.namespace ?? '', symbols },
      values: fc.constantFrom(...symbols).map((symbol) => both(symbol, JSON.stringify(symbol))),
      branch: fullName,
    };
  }),
);
