/** What one value of a field is (Protocol Buffers, "Language Guide", "Scalar Value Types"). */
export type ProtoKind =
  | 'double'
  | 'float'
  | 'int32'
  | 'int64'
  | 'uint32'
  | 'uint64'
  | 'sint32'
  | 'sint64'
  | 'fixed32'
  | 'fixed64'
  | 'sfixed32'
  | 'sfixed64'
  | 'bool'
  | 'string'
  | 'bytes'
  | 'enum'
  | 'message';

/** How the bytes of a value are delimited (Protocol Buffers, "Encoding"). */
export const WIRE = { varint: 0, eight: 1, length: 2, group: 3, groupEnd: 4, four: 5 } as const;

/** By the kind of a value, its wire type; that of a message may be a group, too. */
export const WIRE_OF: Readonly<Record<ProtoKind, number>> = {
  ...{ double: WIRE.eight, fixed64: WIRE.eight, sfixed64: WIRE.eight },
  ...{ float: WIRE.four, fixed32: WIRE.four, sfixed32: WIRE.four },
  ...{ int32: WIRE.varint, int64: WIRE.varint, uint32: WIRE.varint, uint64: WIRE.varint },
  ...{ sint32: WIRE.varint, sint64: WIRE.varint, bool: WIRE.varint, enum: WIRE.varint },
  ...{ string: WIRE.length, bytes: WIRE.length, message: WIRE.length },
};

/** Messages that mean something else than their fields: how each is written. */
export type WellKnown =
  | 'timestamp'
  | 'duration'
  | 'wrapper'
  | 'struct'
  | 'value'
  | 'listValue'
  | 'date'
  | 'timeOfDay'
  | 'decimal';

/** What a field of a message is made of. */
interface FieldParts {
  readonly name: string;
  readonly number: number;
  readonly kind: ProtoKind;
  /** @default 'single' */
  readonly shape?: ProtoField['shape'];
  /** @default 0 */
  readonly place?: number;
  /** @default none */
  readonly message?: MessageType | null;
  readonly symbols?: ReadonlyMap<number, Buffer>;
  /** @default false */
  readonly hasPresence?: boolean;
  readonly isRequired?: boolean;
  readonly rivals?: readonly number[];
}

export const NO_SYMBOLS: ReadonlyMap<number, Buffer> = new Map();

/** A field of a message: of a class, as objects of one shape are what V8 reads fast. */
export class ProtoField {
  readonly name: string;
  /** Its name in JSON, with the colon. */
  readonly json: Buffer;
  readonly number: number;
  /** Its place in {@link MessageType.fields}. */
  readonly place: number;
  readonly shape: 'single' | 'list' | 'map';
  readonly kind: ProtoKind;
  /** The wire type of a value alone. */
  readonly wire: number;
  /** Of a message; of a map the message of an entry, whose fields are 1, the key, and 2, the value. */
  readonly message: MessageType | null;
  /** Of an enum: names by number. */
  readonly symbols: ReadonlyMap<number, Buffer>;
  /** Whether a value that is absent is not just its zero. */
  readonly hasPresence: boolean;
  readonly isRequired: boolean;
  /** Places of the other fields of its oneof. */
  readonly rivals: readonly number[];

  constructor(parts: FieldParts) {
    this.name = parts.name;
    this.json = Buffer.from(`${JSON.stringify(parts.name)}:`, 'utf8');
    this.number = parts.number;
    this.place = parts.place ?? 0;
    this.shape = parts.shape ?? 'single';
    this.kind = parts.kind;
    this.wire = this.shape === 'map' ? WIRE.length : WIRE_OF[parts.kind];
    this.message = parts.message ?? null;
    this.symbols = parts.symbols ?? NO_SYMBOLS;
    this.hasPresence = parts.hasPresence ?? false;
    this.isRequired = parts.isRequired ?? false;
    this.rivals = parts.rivals ?? [];
  }
}

/** A message of a schema. Those that it refers to are in their places, so that types may be in circles. */
export class MessageType {
  /** Its full name. */
  readonly name: string;
  wellKnown: WellKnown | null = null;
  /** In the order of the text. */
  fields: readonly ProtoField[] = [];
  /** Numbers up to {@link FEW_NUMBERS}, which nearly all are. */
  readonly #few: (ProtoField | undefined)[] = [];
  readonly #others = new Map<number, ProtoField>();

  constructor(name: string) {
    this.name = name;
  }

  setFields(fields: readonly ProtoField[]): void {
    this.fields = fields;
    this.wellKnown = wellKnownOf(this);
    for (const field of fields) {
      if (field.number < FEW_NUMBERS) {
        this.#few[field.number] = field;
      } else {
        this.#others.set(field.number, field);
      }
    }
  }

  /** The field of a number; `undefined`: the schema has none. */
  field(number: number): ProtoField | undefined {
    return number < FEW_NUMBERS ? this.#few[number] : this.#others.get(number);
  }
}

const FEW_NUMBERS = 256;

const WELL_KNOWN: ReadonlyMap<string, WellKnown> = new Map([
  ['google.protobuf.Timestamp', 'timestamp'],
  ['google.protobuf.Duration', 'duration'],
  ['google.protobuf.Struct', 'struct'],
  ['google.protobuf.Value', 'value'],
  ['google.protobuf.ListValue', 'listValue'],
  ['google.type.Date', 'date'],
  ['google.type.TimeOfDay', 'timeOfDay'],
  ['google.type.Decimal', 'wrapper'],
  ['confluent.type.Decimal', 'decimal'],
  ...['Double', 'Float', 'Int64', 'UInt64', 'Int32', 'UInt32', 'Bool', 'String', 'Bytes'].map(
    (name) => [`google.protobuf.${name}Value`, 'wrapper'] as const,
  ),
]);

/** Fields that a message has to have: a schema may bring another one of the same name. */
const FIELDS: Readonly<Record<WellKnown, RegExp>> = {
  timestamp: /^1 single int64,2 single int32$/,
  duration: /^1 single int64,2 single int32$/,
  wrapper: /^1 single (?!message|enum)\w+$/,
  struct: /^1 map message$/,
  value: /^1 single enum,2 single double,3 single string,4 single bool,5 single message,6 single message$/,
  listValue: /^1 list message$/,
  date: /^1 single int32,2 single int32,3 single int32$/,
  timeOfDay: /^1 single int32,2 single int32,3 single int32,4 single int32$/,
  decimal: /^1 single bytes,2 single uint32,3 single int32$/,
};

function wellKnownOf({ name, fields }: MessageType): WellKnown | null {
  const found = WELL_KNOWN.get(name);
  const signature = fields.map(({ number, shape, kind }) => `${number} ${shape} ${kind}`).join();
  return found !== undefined && FIELDS[found].test(signature) ? found : null;
}
