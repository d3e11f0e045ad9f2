import protobuf from 'protobufjs';
import { printable } from '../../logging/printable-text.ts';

/** A scalar in a message, as `google.protobuf` wraps it. */
const wrapper = (name: string, type: string): string => `message ${name}Value { ${type} value = 1; }`;

const proto3 = (pkg: string, body: string): string => `syntax = "proto3"; package ${pkg}; ${body}`;

/** By name below `google/protobuf/`. Of descriptor.proto what options extend. */
const PROTOBUF: Readonly<Record<string, string>> = {
  any: 'message Any { string type_url = 1; bytes value = 2; }',
  duration: 'message Duration { int64 seconds = 1; int32 nanos = 2; }',
  timestamp: 'message Timestamp { int64 seconds = 1; int32 nanos = 2; }',
  empty: 'message Empty {}',
  field_mask: 'message FieldMask { repeated string paths = 1; }',
  source_context: 'message SourceContext { string file_name = 1; }',
  struct: `message Struct { map<string, Value> fields = 1; }
    message Value {
      oneof kind {
        NullValue null_value = 1; double number_value = 2; string string_value = 3; bool bool_value = 4;
        Struct struct_value = 5; ListValue list_value = 6;
      }
    }
    enum NullValue { NULL_VALUE = 0; }
    message ListValue { repeated Value values = 1; }`,
  wrappers: [
    ...[wrapper('Double', 'double'), wrapper('Float', 'float'), wrapper('Int64', 'int64'), wrapper('UInt64', 'uint64')],
    ...[wrapper('Int32', 'int32'), wrapper('UInt32', 'uint32'), wrapper('Bool', 'bool')],
    ...[wrapper('String', 'string'), wrapper('Bytes', 'bytes')],
  ].join('\n'),
  descriptor: ['File', 'Message', 'Field', 'Oneof', 'ExtensionRange', 'Enum', 'EnumValue', 'Service', 'Method']
    .map((name) => `message ${name}Options {}`)
    .join('\n'),
};

/** By name below `google/type/`. */
const TYPE: Readonly<Record<string, string>> = {
  calendar_period: `enum CalendarPeriod {
    CALENDAR_PERIOD_UNSPECIFIED = 0; DAY = 1; WEEK = 2; FORTNIGHT = 3; MONTH = 4; QUARTER = 5; HALF = 6; YEAR = 7; }`,
  color: 'message Color { float red = 1; float green = 2; float blue = 3; google.protobuf.FloatValue alpha = 4; }',
  date: 'message Date { int32 year = 1; int32 month = 2; int32 day = 3; }',
  datetime: `message DateTime {
      int32 year = 1; int32 month = 2; int32 day = 3; int32 hours = 4; int32 minutes = 5; int32 seconds = 6;
      int32 nanos = 7;
      oneof time_offset { google.protobuf.Duration utc_offset = 8; TimeZone time_zone = 9; }
    }
    message TimeZone { string id = 1; string version = 2; }`,
  dayofweek: `enum DayOfWeek { DAY_OF_WEEK_UNSPECIFIED = 0; MONDAY = 1; TUESDAY = 2; WEDNESDAY = 3; THURSDAY = 4;
    FRIDAY = 5; SATURDAY = 6; SUNDAY = 7; }`,
  decimal: 'message Decimal { string value = 1; }',
  expr: 'message Expr { string expression = 1; string title = 2; string description = 3; string location = 4; }',
  fraction: 'message Fraction { int64 numerator = 1; int64 denominator = 2; }',
  interval: `message Interval { google.protobuf.Timestamp start_time = 1; google.protobuf.Timestamp end_time = 2; }`,
  latlng: 'message LatLng { double latitude = 1; double longitude = 2; }',
  localized_text: 'message LocalizedText { string text = 1; string language_code = 2; }',
  money: 'message Money { string currency_code = 1; int64 units = 2; int32 nanos = 3; }',
  month: `enum Month { MONTH_UNSPECIFIED = 0; JANUARY = 1; FEBRUARY = 2; MARCH = 3; APRIL = 4; MAY = 5; JUNE = 6;
    JULY = 7; AUGUST = 8; SEPTEMBER = 9; OCTOBER = 10; NOVEMBER = 11; DECEMBER = 12; }`,
  phone_number: `message PhoneNumber {
      message ShortCode { string region_code = 1; string number = 2; }
      oneof kind { string e164_number = 1; ShortCode short_code = 2; }
      string extension = 3;
    }`,
  postal_address: `message PostalAddress {
      int32 revision = 1; string region_code = 2; string language_code = 3; string postal_code = 4;
      string sorting_code = 5; string administrative_area = 6; string locality = 7; string sublocality = 8;
      repeated string address_lines = 9; repeated string recipients = 10; string organization = 11;
    }`,
  quaternion: 'message Quaternion { double x = 1; double y = 2; double z = 3; double w = 4; }',
  timeofday: 'message TimeOfDay { int32 hours = 1; int32 minutes = 2; int32 seconds = 3; int32 nanos = 4; }',
};

const named = (folder: string, pkg: string, files: Readonly<Record<string, string>>) =>
  Object.entries(files).map(([name, body]) => [`${folder}/${name}.proto`, proto3(pkg, body)] as const);

/**
 * Files that schemas import without bringing them, by name: those that Confluent's serializers know. Of each what
 * values are decoded with, from the published files of Google (protobuf, googleapis) and Confluent (schema-registry).
 */
export const BUILT_IN_FILES: ReadonlyMap<string, string> = new Map([
  ...named('google/protobuf', 'google.protobuf', PROTOBUF),
  ...named('google/type', 'google.type', TYPE),
  [
    'confluent/type/decimal.proto',
    proto3('confluent.type', 'message Decimal { bytes value = 1; uint32 precision = 2; int32 scale = 3; }'),
  ],
  [
    'confluent/meta.proto',
    proto3('confluent', 'message Meta { string doc = 1; map<string, string> params = 2; repeated string tags = 3; }'),
  ],
]);

/** Files that built-in files need in their turn. */
export const BUILT_IN_IMPORTS: ReadonlyMap<string, readonly string[]> = new Map([
  ['google/type/color.proto', ['google/protobuf/wrappers.proto']],
  ['google/type/datetime.proto', ['google/protobuf/duration.proto']],
  ['google/type/interval.proto', ['google/protobuf/timestamp.proto']],
]);

/** A schema that no value can be read with. The message says why, and that of which schema. */
export class ProtoSchemaError extends Error {
  override name = 'ProtoSchemaError';
}

/** Characters of a file's text. */
const MOST_FILE_TEXT = 1_048_576;
/** Characters of a fault of the text in a message. */
const MOST_SHOWN_FILE_TEXT = 200;

/**
 * Fields of a message by number, kept while it is parsed. The parser forgets them with each field that it adds, and
 * finds all anew for the next one: of a message of 5,000 fields that is seconds.
 */
const FIELDS_BY_NUMBER = new WeakMap<protobuf.Type, Record<number, protobuf.Field>>();
const addToMessage = protobuf.Type.prototype.add;
protobuf.Type.prototype.add = function add(object) {
  const byNumber: Record<number, protobuf.Field> = FIELDS_BY_NUMBER.get(this) ?? this.fieldsById;
  FIELDS_BY_NUMBER.set(this, byNumber);
  Reflect.set(this, '_fieldsById', byNumber);
  const added = addToMessage.call(this, object);
  if (object instanceof protobuf.Field && object.extend === undefined) {
    byNumber[object.id] = object;
  }
  return added;
};

const OPTIONS: protobuf.IParseOptions = { keepCase: true };

/** A file of a schema, by the name that others import it by. */
interface ProtoFile {
  readonly name: string;
  readonly text: string;
}

export function shown(text: string): string {
  const line = printable(text);
  return line.length > MOST_SHOWN_FILE_TEXT ? `${line.slice(0, MOST_SHOWN_FILE_TEXT)}…` : line;
}

/** What the parser throws for a text is no fault of this program. */
function refuse(error: unknown, file: string | null): never {
  const where = file === null ? '' : `in its import ${shown(file)}: `;
  throw new ProtoSchemaError(`${where}${shown(error instanceof Error ? error.message : String(error))}`);
}

function parsedFile({ name, text }: ProtoFile, root: protobuf.Root, isMain: boolean): protobuf.IParserResult {
  if (text.length > MOST_FILE_TEXT) {
    throw new ProtoSchemaError(`the text of ${isMain ? 'it' : shown(name)} has more than ${MOST_FILE_TEXT} characters`);
  }
  try {
    return protobuf.parse(text, root, OPTIONS);
  } catch (error) {
    return refuse(error, isMain ? null : name);
  }
}

/** The text of a file by the name that it is imported by; `null`: there is none. */
export type ImportedText = (name: string) => string | null;

const isMessage = (object: protobuf.ReflectionObject): object is protobuf.Type => object instanceof protobuf.Type;

/** Whether a message is defined by a group of proto2: the parser says so, its declarations do not. */
export const isGroup = (type: protobuf.Type): boolean => Reflect.get(type, 'group') === true;

/** Messages in the order of a file, as Confluent's serializers count them: a group is none. */
export const messagesIn = (namespace: protobuf.NamespaceBase): readonly protobuf.Type[] =>
  namespace.nestedArray.filter(isMessage).filter((type) => !isGroup(type));

/** What the texts of a schema define. */
export interface ParsedFiles {
  readonly root: protobuf.Root;
  /** Messages of the schema's own text that are in no other one. */
  readonly messages: readonly protobuf.Type[];
}

/**
 * Parses a schema and all files that it imports: those given, else those that are built in.
 *
 * @throws ProtoSchemaError where a text is none of a schema, or a file is missing
 */
export function parseFiles(text: string, imported: ImportedText): ParsedFiles {
  const root = new protobuf.Root();
  const main = parsedFile({ name: '', text }, root, true);
  const namespace = main.package === undefined ? root : root.lookup(main.package);
  const messages = namespace instanceof protobuf.Namespace ? messagesIn(namespace) : [];
  parseImports(importsOf(main), root, imported);
  try {
    root.resolveAll();
  } catch (error) {
    refuse(error, null);
  }
  return { root, messages };
}

function parseImports(names: readonly string[], root: protobuf.Root, imported: ImportedText): void {
  const wanted = [...names];
  const known = new Set<string>();
  for (let name = wanted.pop(); name !== undefined; name = wanted.pop()) {
    if (known.has(name)) {
      continue;
    }
    known.add(name);
    const given = imported(name);
    const text = given ?? BUILT_IN_FILES.get(name);
    if (text === undefined) {
      throw new ProtoSchemaError(`it imports ${shown(name)}, which is neither given nor built in`);
    }
    const imports = importsOf(parsedFile({ name, text }, root, false));
    wanted.push(...imports, ...(given === null ? (BUILT_IN_IMPORTS.get(name) ?? []) : []));
  }
}

const importsOf = ({ imports = [], weakImports = [] }: protobuf.IParserResult): readonly string[] => [
  ...imports,
  ...weakImports,
];
