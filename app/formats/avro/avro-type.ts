import { BITS, bitsUnit, DECIMAL, parameterOf, unitByName } from '../../tables/json/connect-schema.ts';
import { MOST_SCALE } from '../../tables/json/number-text.ts';
import type { ValueUnit } from '../../tables/mapping/table-mapping.ts';

/** What a value is: a type of Avro, or what a logical type makes of one that PostgreSQL gets other text of. */
export type AvroKind =
  | 'null'
  | 'boolean'
  | 'int'
  | 'long'
  | 'float'
  | 'double'
  | 'bytes'
  | 'string'
  | 'record'
  | 'enum'
  | 'array'
  | 'map'
  | 'fixed'
  | 'union'
  | 'decimal'
  | 'uuid'
  | 'duration';

/** Types that a schema may name without a definition. */
export const PRIMITIVES: ReadonlySet<string> = new Set([
  'null',
  'boolean',
  'int',
  'long',
  'float',
  'double',
  'bytes',
  'string',
]);

/**
 * Where the digits of a decimal are: in all bytes of a `bytes` or a `fixed`, in a `bytes` with the scale behind them
 * (logical type big-decimal), or in a record of scale and bytes (Debezium's VariableScaleDecimal).
 */
export type DecimalForm = 'bytes' | 'fixed' | 'big' | 'variable';

export const FLOAT_BYTES = 4;
export const DOUBLE_BYTES = 8;
export const UUID_BYTES = 16;
export const DURATION_BYTES = 12;

/** A field of a record. */
export interface AvroField {
  readonly name: string;
  /** Its name in JSON, with the colon. */
  readonly json: Buffer;
  readonly type: AvroType;
  /** Whether older schemas may lack it. */
  readonly hasDefault: boolean;
}

/** A type of a schema. Those that it refers to are in their places, so that types may be in circles. */
export class AvroType {
  readonly kind: AvroKind;
  /** Of a record. */
  readonly fields: readonly AvroField[];
  /** Of a union. */
  readonly branches: readonly AvroType[];
  /** Of an array, or the values of a map; of other types the type itself. */
  readonly items: AvroType;
  /** Of an enum. */
  readonly symbols: readonly Buffer[];
  /** Bytes of a fixed. */
  readonly size: number;
  /** Of a decimal: digits behind the point, and where they are. */
  readonly scale: number;
  readonly form: DecimalForm;
  /** What its values count, or how they are written. */
  readonly unit: ValueUnit | undefined;
  /** Names of its schema that say more: of Kafka Connect or Debezium, and of the logical type. */
  readonly names: readonly unknown[];
  /** Of a decimal: its digits, as the schema has them. */
  readonly precision: unknown;
  /** The record that a decimal is made of, for paths that lead into it; of other types the type itself. */
  readonly record: AvroType;

  constructor(kind: string, parts: Partial<Omit<AvroType, 'kind'>> = {}) {
    this.kind = kind as AvroKind;
    this.fields = parts.fields ?? [];
    this.branches = parts.branches ?? [];
    this.items = parts.items ?? this;
    this.symbols = parts.symbols ?? [];
    this.size = parts.size ?? 0;
    this.scale = parts.scale ?? 0;
    this.form = parts.form ?? 'bytes';
    this.unit = parts.unit;
    this.names = parts.names ?? [];
    this.precision = parts.precision;
    this.record = parts.record ?? this;
  }
}

/** What the keys of a map are. */
export const MAP_KEY = new AvroType('string');

export type Json = Readonly<Record<string, unknown>>;

/** By the logical type (specification, "Logical Types"): what it is made of, and what its values count. */
const LOGICAL_UNITS: ReadonlyMap<string, readonly [AvroKind, ValueUnit]> = new Map([
  ['date', ['int', 'epoch-days']],
  ['time-millis', ['int', 'time-millis']],
  ['time-micros', ['long', 'time-micros']],
  ['timestamp-millis', ['long', 'epoch-millis']],
  ['timestamp-micros', ['long', 'epoch-micros']],
  ['timestamp-nanos', ['long', 'epoch-nanos']],
  ['local-timestamp-millis', ['long', 'epoch-millis']],
  ['local-timestamp-micros', ['long', 'epoch-micros']],
  ['local-timestamp-nanos', ['long', 'epoch-nanos']],
]);

const isScale = (given: unknown, least: number): given is number =>
  typeof given === 'number' && Number.isInteger(given) && given >= least && given <= MOST_SCALE;

/**
 * The type of a schema by its logical type, or by the name that Kafka Connect and Debezium give it. An unknown one, or
 * one for another type, is ignored, as the specification has it.
 */
export function logicalType(type: AvroType, schema: Json): AvroType {
  const { logicalType: logical, precision } = schema;
  const name = schema['connect.name'];
  const ofConnect = parameterOf(schema['connect.parameters'], 'connect.decimal.precision');
  return Object.assign(typeBy(type, schema), { names: [name, logical], precision: ofConnect ?? precision });
}

/** A record keeps its identity, as fields may refer to it. */
function typeBy(type: AvroType, schema: Json): AvroType {
  const { logicalType: logical } = schema;
  const name = schema['connect.name'];
  switch (type.kind) {
    case 'bytes':
    case 'fixed':
      return logicalBytes(type, schema);
    case 'record':
      return isVariableDecimal(type, name)
        ? new AvroType('decimal', { form: 'variable', fields: type.fields, record: type })
        : ofUnit(type, unitByName(name));
    default:
      return ofUnit(type, unitOfLogicalType(type, logical) ?? unitByName(name));
  }
}

function unitOfLogicalType({ kind }: AvroType, logical: unknown): ValueUnit | undefined {
  const [made, unit] = typeof logical === 'string' ? (LOGICAL_UNITS.get(logical) ?? []) : [];
  return made === kind ? unit : undefined;
}

const ofUnit = (type: AvroType, unit: ValueUnit | undefined): AvroType =>
  unit === undefined ? type : Object.assign(type, { unit });

function logicalBytes(type: AvroType, schema: Json): AvroType {
  const { kind, size } = type;
  const { logicalType: logical, scale = 0 } = schema;
  const [name, parameters] = [schema['connect.name'], schema['connect.parameters']];
  const form = kind === 'fixed' ? 'fixed' : 'bytes';
  if (logical === 'decimal' && isScale(scale, 0)) {
    return new AvroType('decimal', { form, size, scale });
  }
  if (name === DECIMAL) {
    const ofConnect = parameterOf(parameters, 'scale');
    return isScale(ofConnect, -MOST_SCALE) ? new AvroType('decimal', { form, size, scale: ofConnect }) : type;
  }
  if (logical === 'big-decimal' && kind === 'bytes') {
    return new AvroType('decimal', { form: 'big' });
  }
  if (kind === 'fixed' && logical === 'uuid' && size === UUID_BYTES) {
    return new AvroType('uuid', { size });
  }
  if (kind === 'fixed' && logical === 'duration' && size === DURATION_BYTES) {
    return new AvroType('duration', { size });
  }
  return ofUnit(type, name === BITS ? bitsUnit(parameterOf(parameters, 'length')) : unitByName(name));
}

/** Whether a record is a number with its scale beside it. */
function isVariableDecimal({ fields }: AvroType, name: unknown): boolean {
  const [scale, value] = fields;
  return (
    unitByName(name) === 'variable-decimal' &&
    fields.length === 2 &&
    scale?.name === 'scale' &&
    scale.type.kind === 'int' &&
    value?.name === 'value' &&
    value.type.kind === 'bytes'
  );
}
