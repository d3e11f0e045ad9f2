import type { ValueUnit } from '../tables/mapping/table-mapping.ts';

/**
 * By the name of a schema, which is that of Kafka Connect or Debezium, of a logical type of Avro, or a format of JSON
 * Schema: the type of PostgreSQL that its values were made of, or are made for.
 */
const BY_NAME: Readonly<Record<string, string>> = {
  uuid: 'uuid',
  duration: 'interval',
  'big-decimal': 'numeric',
  'date-time': 'timestamptz',
  date: 'date',
  time: 'timetz',
  'local-timestamp-millis': 'timestamp',
  'local-timestamp-micros': 'timestamp',
  'local-timestamp-nanos': 'timestamp',
  'io.debezium.time.Timestamp': 'timestamp',
  'io.debezium.time.MicroTimestamp': 'timestamp',
  'io.debezium.time.NanoTimestamp': 'timestamp',
  'io.debezium.time.ZonedTimestamp': 'timestamptz',
  'io.debezium.time.ZonedTime': 'timetz',
  'io.debezium.time.IsoDate': 'date',
  'io.debezium.time.IsoTime': 'time',
  'io.debezium.time.IsoTimestamp': 'timestamp',
  'io.debezium.time.Interval': 'interval',
  'io.debezium.data.Uuid': 'uuid',
  'io.debezium.data.Xml': 'xml',
  // Their values need PostGIS, which may not be there.
  'io.debezium.data.geometry.Geometry': 'jsonb',
  'io.debezium.data.geometry.Geography': 'jsonb',
};

/** What PostgreSQL's numeric takes as precision. */
const MOST_PRECISION = 1_000;

/** What a schema says of its values, in the words of its format. */
interface SchemaWords {
  /** Of which the first that is known counts. */
  readonly names: readonly unknown[];
  readonly unit: ValueUnit | undefined;
  /** Digits of a decimal. */
  readonly precision?: unknown;
  readonly scale?: number | null;
}

function decimalType({ precision, scale = 0 }: SchemaWords): string {
  const isPrecise =
    typeof precision === 'number' && Number.isInteger(precision) && precision > 0 && precision <= MOST_PRECISION;
  return isPrecise && scale !== null && scale >= 0 && scale <= precision ? `numeric(${precision},${scale})` : 'numeric';
}

function typeByUnit(unit: ValueUnit, words: SchemaWords): string | undefined {
  switch (unit) {
    case 'epoch-days':
      return 'date';
    case 'duration-micros':
      return 'interval';
    case 'json':
      return 'jsonb';
    case 'base64':
    case 'hex':
      return 'bytea';
    case 'bits':
      return 'bit varying';
    case 'point':
      return 'point';
    case 'variable-decimal':
      return 'numeric';
    case 'debezium':
      return undefined;
    default:
      return typeByCounted(unit, words);
  }
}

function typeByCounted(unit: string, words: SchemaWords): string | undefined {
  const [, bits] = /^bits\((\d+)\)$/.exec(unit) ?? [];
  if (bits !== undefined) {
    return `bit varying(${bits})`;
  }
  if (unit.startsWith('decimal')) {
    return decimalType(words);
  }
  return unit.startsWith('time-') ? 'time' : 'timestamptz';
}

/**
 * The type of PostgreSQL for the values of a schema, as SQL.
 *
 * @param plain of the values without their name and unit
 */
export function schemaSqlType(words: SchemaWords, plain: string): string {
  const named = words.names.find((name) => typeof name === 'string' && Object.hasOwn(BY_NAME, name));
  const byName = typeof named === 'string' ? BY_NAME[named] : undefined;
  return byName ?? (words.unit === undefined ? undefined : typeByUnit(words.unit, words)) ?? plain;
}

/** The type of PostgreSQL that a unit is for, as SQL. */
export const typeOfUnit = (unit: ValueUnit): string | undefined => typeByUnit(unit, { names: [], unit });

const NUMBER_TYPES: readonly string[] = ['smallint', 'integer', 'bigint', 'numeric', 'real', 'double precision'];
const baseOf = (type: string): string => type.replace(/\(.*/, '');
const isNumber = (type: string): boolean => NUMBER_TYPES.includes(baseOf(type));

/** The type that takes the values of both, as SQL. */
function widerOf(one: string, other: string): string {
  if (one === other) {
    return one;
  }
  if (isNumber(one) && isNumber(other)) {
    const [low = '', high = ''] = [one, other].sort(
      (a, b) => NUMBER_TYPES.indexOf(baseOf(a)) - NUMBER_TYPES.indexOf(baseOf(b)),
    );
    return baseOf(low) === 'numeric' || baseOf(high) === 'numeric' ? 'numeric' : exactOrDouble(low, high);
  }
  return [one, other].some((type) => type === 'jsonb' || type === 'bytea') ? 'jsonb' : 'text';
}

/** A float takes no whole number of more than its digits. */
const exactOrDouble = (low: string, high: string): string =>
  NUMBER_TYPES.indexOf(high) <= NUMBER_TYPES.indexOf('bigint') ? high : low === 'real' ? 'double precision' : 'numeric';

/** The type that takes the values of all of these, as SQL; `undefined` of none. */
export const widestType = (types: readonly string[]): string | undefined =>
  types.length === 0 ? undefined : types.reduce(widerOf);
