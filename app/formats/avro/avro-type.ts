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
