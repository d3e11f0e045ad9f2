import protobuf from 'protobufjs';
import { BUILT_IN_FILES, BUILT_IN_IMPORTS } from '../../../../app/formats/protobuf/proto-files.ts';
import { twosComplement } from '../../../../app/tables/json/number-text.ts';
import { isoOfEpoch } from '../../../../app/tables/json/time-text.ts';

/** What a value is in JSON, with what a number or a point in time is exactly. */
export type Expected =
  | { readonly kind: 'object'; readonly members: ReadonlyMap<string, Expected>; readonly isWhole?: true }
  | { readonly kind: 'list'; readonly items: readonly Expected[]; readonly isWhole?: true }
  | { readonly kind: 'number'; readonly text: string }
  | { readonly kind: 'float'; readonly value: number; readonly isSingle: boolean }
  | { readonly kind: 'time'; readonly nanos: bigint }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'word'; readonly word: 'true' | 'false' | 'null' };

type Message = Readonly<Record<string, unknown>>;

const text = (value: unknown): Expected => ({ kind: 'text', text: String(value) });
const digits = (value: unknown): Expected => ({ kind: 'number', text: String(value) });

/** Reads values with protobufjs, and says what they are in JSON. */
export class Oracle {
  readonly root = new protobuf.Root();

  constructor(schema: string) {
    const { imports = [] } = protobuf.parse(schema, this.root, { keepCase: true });
    const wanted = new Set(imports.flatMap((name) => [name, ...(BUILT_IN_IMPORTS.get(name) ?? [])]));
    for (const name of wanted) {
      protobuf.parse(BUILT_IN_FILES.get(name) ?? '', this.root, { keepCase: true });
    }
    this.root.resolveAll();
  }

  /** What a message of a type is. */
  read(name: string, bytes: Buffer): Expected {
    const type = this.root.lookupType(name);
    return messageOf(type, type.decode(bytes) as unknown as Message);
  }
}

function messageOf(type: protobuf.Type, message: Message): Expected {
  const known = WELL_KNOWN[type.fullName.slice(1)];
  if (known !== undefined) {
    return known(message, type);
  }
  return { kind: 'object', members: new Map(type.fieldsArray.flatMap((field) => memberOf(field, message))) };
}

/** A field with its name; none where it is absent. */
function memberOf(field: protobuf.Field, message: Message): [string, Expected][] {
  const value = Object.hasOwn(message, field.name) ? message[field.name] : undefined;
  if (field instanceof protobuf.MapField) {
    return [[field.name, mapOf(field, value ?? {})]];
  }
  if (field.repeated) {
    const items = ((value ?? []) as readonly unknown[]).map((item) => jsonValue(field, item));
    return [[field.name, { kind: 'list', items }]];
  }
  if (value !== undefined) {
    return [[field.name, jsonValue(field, value)]];
  }
  return field.hasPresence || field.resolvedType instanceof protobuf.Type ? [] : [[field.name, zeroOf(field)]];
}

/** protobufjs keeps keys of 64 bits as eight characters. */
function keyOf({ keyType }: protobuf.MapField, key: string): string {
  const isLong = /64$/.test(keyType);
  return isLong ? String(protobuf.util.longFromHash(key, /^(u|fixed)/.test(keyType))) : key;
}

const mapOf = (field: protobuf.MapField, entries: unknown): Expected => ({
  kind: 'object',
  members: new Map(
    Object.entries(entries as Message).map(([key, value]) => [keyOf(field, key), jsonValue(field, value)]),
  ),
});

const ZEROS: Readonly<Record<string, unknown>> = { string: '', bool: false, bytes: Buffer.alloc(0) };

function zeroOf(field: protobuf.FieldBase): Expected {
  return jsonValue(field, Object.hasOwn(ZEROS, field.type) ? ZEROS[field.type] : 0);
}

function jsonValue({ type, resolvedType }: protobuf.FieldBase, value: unknown): Expected {
  if (resolvedType instanceof protobuf.Type) {
    return messageOf(resolvedType, value as Message);
  }
  if (resolvedType instanceof protobuf.Enum) {
    const name = resolvedType.valuesById[Number(value)];
    return name === undefined ? digits(value) : text(name);
  }
  switch (type) {
    case 'double':
    case 'float':
      return { kind: 'float', value: Number(value), isSingle: type === 'float' };
    case 'bool':
      return { kind: 'word', word: value === true ? 'true' : 'false' };
    case 'string':
      return text(value);
    case 'bytes':
      return text(Buffer.from(value as Uint8Array).toString('base64'));
    default:
      return digits(value);
  }
}

const number = (value: unknown): bigint => BigInt(String(value ?? 0));
const get = (message: Message, name: string): unknown => (Object.hasOwn(message, name) ? message[name] : undefined);
const nanosOf = (message: Message): bigint =>
  number(get(message, 'seconds')) * 1_000_000_000n + number(get(message, 'nanos'));
const pad = (value: unknown, size: number): string => String(value ?? 0).padStart(size, '0');

function durationOf(nanos: bigint): string {
  const size = nanos < 0n ? -nanos : nanos;
  const fraction = size % 1_000_000_000n;
  const behind = fraction === 0n ? '' : `.${String(fraction).padStart(9, '0').replace(/0+$/, '')}`;
  return `${nanos < 0n ? '-' : ''}${size / 1_000_000_000n}${behind}`;
}

function wrapped(message: Message, type: protobuf.Type): Expected {
  const [field] = type.fieldsArray;
  const value = get(message, 'value');
  return field === undefined ? text('') : value === undefined ? zeroOf(field) : jsonValue(field, value);
}

type Reader = (message: Message, type: protobuf.Type) => Expected;

const jsonOf: Reader = (message, type) => {
  const name = ['number_value', 'string_value', 'bool_value', 'struct_value', 'list_value'].find(
    (each) => get(message, each) !== undefined && get(message, each) !== null,
  );
  return name === undefined
    ? { kind: 'word', word: 'null' }
    : jsonValue(type.get(name) as protobuf.Field, message[name]);
};

const only: Reader = (message, type) => {
  const [field] = type.fieldsArray;
  const value = field && get(message, field.name);
  return field instanceof protobuf.MapField
    ? mapOf(field, value ?? {})
    : {
        kind: 'list',
        items: ((value ?? []) as readonly unknown[]).map((item) => jsonValue(field as protobuf.Field, item)),
      };
};

/** No path leads into it. */
const whole = (value: Expected): Expected =>
  value.kind === 'object' || value.kind === 'list' ? { ...value, isWhole: true } : value;

const WELL_KNOWN: Readonly<Record<string, Reader>> = {
  'google.protobuf.Timestamp': (message) => ({ kind: 'time', nanos: nanosOf(message) }),
  'google.protobuf.Duration': (message) => digits(durationOf(nanosOf(message))),
  'google.protobuf.Struct': (message, type) => whole(only(message, type)),
  'google.protobuf.ListValue': (message, type) => whole(only(message, type)),
  'google.protobuf.Value': (message, type) => whole(jsonOf(message, type)),
  'google.type.Date': (message) =>
    text(`${pad(get(message, 'year'), 4)}-${pad(get(message, 'month'), 2)}-${pad(get(message, 'day'), 2)}`),
  'google.type.TimeOfDay': (message) => {
    const nanos = get(message, 'nanos') ?? 0;
    const clock = ['hours', 'minutes', 'seconds'].map((part) => pad(get(message, part), 2)).join(':');
    return text(`${clock}${nanos === 0 ? '' : `.${pad(nanos, 9)}`}`);
  },
  'confluent.type.Decimal': (message) =>
    digits(twosComplement(Buffer.from(get(message, 'value') as Uint8Array), Number(get(message, 'scale') ?? 0))),
  ...Object.fromEntries(
    ['StringValue', 'Int64Value', 'DoubleValue', 'BytesValue'].map((name) => [`google.protobuf.${name}`, wrapped]),
  ),
};

/** The part at a path; `undefined` where there is none. */
export function partAt(whole: Expected, path: readonly (string | number)[]): Expected | undefined {
  return path.reduce<Expected | undefined>((from, part) => {
    if (from?.kind === 'object' && from.isWhole !== true) {
      return typeof part === 'string' ? from.members.get(part) : undefined;
    }
    return from?.kind === 'list' && from.isWhole !== true && typeof part === 'number' ? from.items[part] : undefined;
  }, whole);
}

/** ISO 8601, with three, six or nine digits of the second where it has some. */
export const isoOf = (nanos: bigint): string =>
  (isoOfEpoch(String(nanos), 'epoch-nanos') ?? '').replace(/(?:000){1,2}Z$/, (zeros, at, whole) =>
    String(whole).includes('.') && at > String(whole).indexOf('.') ? 'Z' : String(zeros),
  );
