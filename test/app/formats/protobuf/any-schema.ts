import fc from 'fast-check';

/** A field of a random message. */
export interface AnyField {
  readonly name: string;
  readonly number: number;
  readonly label: 'single' | 'optional' | 'repeated' | 'map' | 'oneof';
  /** A scalar, `E` for the enum, `M0` and so on for messages, else the full name of a well-known type. */
  readonly type: string;
  readonly keyType: string;
  /** What an edition says of the field. */
  readonly features: readonly string[];
}

/** A random schema: messages M0 and so on, the first of which is that of the values. */
export interface AnySchema {
  readonly syntax: 'proto2' | 'proto3' | '2023';
  /** Of an edition: options of the file. */
  readonly features: readonly string[];
  readonly messages: readonly (readonly AnyField[])[];
}

export const SCALARS = [
  ...['double', 'float', 'int32', 'int64', 'uint32', 'uint64', 'sint32', 'sint64', 'fixed32', 'fixed64', 'sfixed32'],
  ...['sfixed64', 'bool', 'string', 'bytes'],
];
const KEYS = ['int32', 'int64', 'uint64', 'sint32', 'fixed64', 'bool', 'string', 'string'];

/** By full name, the file of a well-known type. */
const WELL_KNOWN: Readonly<Record<string, string>> = {
  'google.protobuf.Timestamp': 'google/protobuf/timestamp.proto',
  'google.protobuf.Duration': 'google/protobuf/duration.proto',
  'google.protobuf.StringValue': 'google/protobuf/wrappers.proto',
  'google.protobuf.Int64Value': 'google/protobuf/wrappers.proto',
  'google.protobuf.DoubleValue': 'google/protobuf/wrappers.proto',
  'google.protobuf.BytesValue': 'google/protobuf/wrappers.proto',
  'google.protobuf.Struct': 'google/protobuf/struct.proto',
  'google.protobuf.Value': 'google/protobuf/struct.proto',
  'google.protobuf.ListValue': 'google/protobuf/struct.proto',
  'google.protobuf.Any': 'google/protobuf/any.proto',
  'google.protobuf.Empty': 'google/protobuf/empty.proto',
  'google.protobuf.FieldMask': 'google/protobuf/field_mask.proto',
  'google.type.Date': 'google/type/date.proto',
  'google.type.TimeOfDay': 'google/type/timeofday.proto',
  'confluent.type.Decimal': 'confluent/type/decimal.proto',
};

/** Names of fields: paths of the tests are made of them. */
export const NAMES = ['a', 'b', 'c', 'id', 'Name', '_x', 'list', 'next', 'map_of', 'camelCase'];
const NUMBERS = [1, 2, 3, 4, 7, 15, 16, 255, 256, 300, 2_047, 2_048, 100_000, 536_870_911];
const MOST_FIELDS = 7;
const MOST_MESSAGES = 3;

const anyType = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...SCALARS) },
  { weight: 1, arbitrary: fc.constant('E') },
  { weight: 3, arbitrary: fc.constantFrom('M0', 'M1', 'M2') },
  { weight: 3, arbitrary: fc.constantFrom(...Object.keys(WELL_KNOWN)) },
);

const isMessage = (type: string): boolean => !SCALARS.includes(type) && type !== 'E';

const anyField = fc.record({
  label: fc.constantFrom<AnyField['label']>('single', 'single', 'optional', 'repeated', 'map', 'oneof', 'oneof'),
  type: anyType,
  keyType: fc.constantFrom(...KEYS),
  presence: fc.constantFrom('', 'IMPLICIT', 'EXPLICIT'),
  packing: fc.constantFrom('', 'PACKED', 'EXPANDED'),
  encoding: fc.constantFrom('', 'DELIMITED', 'LENGTH_PREFIXED'),
});

interface Drawn extends Pick<AnyField, 'label' | 'type'> {
  readonly presence: string;
  readonly packing: string;
  readonly encoding: string;
}

/** What an edition may say of a field. */
function featuresOf({ label, type, presence, packing, encoding }: Drawn): readonly string[] {
  const mayBeImplicit = presence !== 'IMPLICIT' || !(isMessage(type) || type === 'E');
  return [
    ...(presence !== '' && mayBeImplicit && (label === 'single' || label === 'optional')
      ? [`features.field_presence = ${presence}`]
      : []),
    ...(packing !== '' && label === 'repeated' && !isMessage(type) && type !== 'string' && type !== 'bytes'
      ? [`features.repeated_field_encoding = ${packing}`]
      : []),
    ...(encoding !== '' && label !== 'map' && isMessage(type) ? [`features.message_encoding = ${encoding}`] : []),
  ];
}

const anyMessage = (syntax: AnySchema['syntax'], messages: number) =>
  fc
    .record({
      names: fc.shuffledSubarray(NAMES, { minLength: 1, maxLength: MOST_FIELDS }),
      numbers: fc.shuffledSubarray(NUMBERS, { minLength: MOST_FIELDS }),
      fields: fc.array(anyField, { minLength: MOST_FIELDS, maxLength: MOST_FIELDS }),
    })
    .map(({ names, numbers, fields }) =>
      names.map((name, nth): AnyField => {
        const { label, type, keyType, ...rest } = fields[nth] ?? { label: 'single', type: 'int32', keyType: 'string' };
        const known = /^M[0-9]$/.test(type) && Number(type.slice(1)) >= messages ? 'M0' : type;
        const drawn = { presence: '', packing: '', encoding: '', ...rest, label, type: known };
        const features = syntax === '2023' ? featuresOf(drawn) : [];
        return { name, number: numbers[nth] ?? 1, label, type: known, keyType, features };
      }),
    );

export const anySchema: fc.Arbitrary<AnySchema> = fc
  .record({
    syntax: fc.constantFrom<AnySchema['syntax']>('proto2', 'proto3', '2023'),
    messages: fc.integer({ min: 1, max: MOST_MESSAGES }),
    isImplicit: fc.boolean(),
    isDelimited: fc.boolean(),
  })
  .chain(({ syntax, messages, isImplicit, isDelimited }) =>
    fc.record({
      syntax: fc.constant(syntax),
      features: fc.constant([
        ...(isImplicit ? ['features.field_presence = IMPLICIT'] : []),
        ...(isDelimited ? ['features.message_encoding = DELIMITED'] : []),
      ]),
      messages: fc.tuple(...Array.from({ length: messages }, () => anyMessage(syntax, messages))),
    }),
  );

/** A single field has a label in proto2 alone. */
function labelOf({ label }: AnyField, syntax: AnySchema['syntax']): string {
  if (label === 'repeated') {
    return 'repeated ';
  }
  return syntax === 'proto2' || (label === 'optional' && syntax === 'proto3') ? 'optional ' : '';
}

function fieldText(field: AnyField, syntax: AnySchema['syntax']): string {
  const { name, number, label, type, keyType, features } = field;
  const options = features.length > 0 ? ` [${features.join(', ')}]` : '';
  return label === 'map'
    ? `map<${keyType}, ${type}> ${name} = ${number};`
    : `${label === 'oneof' ? '' : labelOf(field, syntax)}${type} ${name} = ${number}${options};`;
}

/** The text of a schema. */
export function schemaText({ syntax, features, messages }: AnySchema): string {
  const types = messages.flat().map(({ type }) => type);
  const files = new Set(types.flatMap((type) => WELL_KNOWN[type] ?? []));
  return [
    syntax === '2023' ? 'edition = "2023";' : `syntax = "${syntax}";`,
    'package acme.test;',
    ...[...files].map((file) => `import "${file}";`),
    ...(syntax === '2023' ? features.map((feature) => `option ${feature};`) : []),
    'enum E { ZERO = 0; ONE = 1; MANY = 4000; BELOW = -1; }',
    ...messages.map((fields, nth) => {
      const others = fields.filter(({ label }) => label !== 'oneof').map((field) => fieldText(field, syntax));
      const rivals = fields.filter(({ label }) => label === 'oneof').map((field) => fieldText(field, syntax));
      const oneof = rivals.length > 0 ? [`oneof choice { ${rivals.join(' ')} }`] : [];
      return `message M${nth} {\n  ${[...others, ...oneof].join('\n  ')}\n}`;
    }),
  ].join('\n');
}
