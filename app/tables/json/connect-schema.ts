import type { FieldPath, ValueUnit } from '../mapping/table-mapping.ts';

/** Units of parts of a value, in the order of their paths; `undefined` where the schema says nothing of a unit. */
export type SchemaUnits = readonly (ValueUnit | undefined)[];

export const NO_UNITS: SchemaUnits = [];

/** A schema of Kafka Connect as its JsonConverter writes it, as far as it is one. */
type Schema = Readonly<Record<string, unknown>>;

/** By the name of a schema: what its values count, or how they are written. */
const UNITS: Readonly<Record<string, ValueUnit>> = {
  'org.apache.kafka.connect.data.Date': 'epoch-days',
  'org.apache.kafka.connect.data.Time': 'time-millis',
  'org.apache.kafka.connect.data.Timestamp': 'epoch-millis',
  'io.debezium.time.Date': 'epoch-days',
  'io.debezium.time.Time': 'time-millis',
  'io.debezium.time.MicroTime': 'time-micros',
  'io.debezium.time.NanoTime': 'time-nanos',
  'io.debezium.time.Timestamp': 'epoch-millis',
  'io.debezium.time.MicroTimestamp': 'epoch-micros',
  'io.debezium.time.NanoTimestamp': 'epoch-nanos',
  'io.debezium.time.MicroDuration': 'duration-micros',
  'io.debezium.data.Json': 'json',
  'io.debezium.data.VariableScaleDecimal': 'variable-decimal',
  'io.debezium.data.geometry.Point': 'point',
  'io.debezium.data.geometry.Geometry': 'point',
  'io.debezium.data.geometry.Geography': 'point',
};

/** Names of schemas whose parameters say more. */
export const DECIMAL = 'org.apache.kafka.connect.data.Decimal';
export const BITS = 'io.debezium.data.Bits';

/** The unit of a schema's name; `undefined` for names that mean no unit. */
export const unitByName = (name: unknown): ValueUnit | undefined =>
  typeof name === 'string' && Object.hasOwn(UNITS, name) ? UNITS[name] : undefined;

/** What Debezium says of a varbit without a length. */
const UNKNOWN_LENGTH = 2_147_483_647;

/** The unit of bits. @param length `null`: the schema says none */
export const bitsUnit = (length: number | null): ValueUnit =>
  length === null || length === UNKNOWN_LENGTH ? 'bits' : `bits(${length})`;

const isSchema = (given: unknown): given is Schema => typeof given === 'object' && given !== null;

/** The schema of a field of a struct, of a value of a map, or of an item of a list. */
function memberOf(schema: Schema, part: string | number): Schema | null {
  const { type, fields, values, items } = schema;
  const found =
    type === 'struct' && Array.isArray(fields)
      ? fields.find((field: unknown) => isSchema(field) && field['field'] === part)
      : type === 'map'
        ? values
        : items;
  return isSchema(found) ? found : null;
}

/** A number of a schema's parameters, which are texts; `null` for all that is none. */
export function parameterOf(parameters: unknown, name: string): number | null {
  const text = isSchema(parameters) ? parameters[name] : undefined;
  return typeof text === 'string' && /^-?[0-9]{1,10}$/.test(text) ? Number(text) : null;
}

/** Lists within each other that PostgreSQL's arrays have room for. */
export const MOST_DIMENSIONS = 6;

/** @param depth of the lists around */
function unitOf(schema: Schema, depth = 0): ValueUnit | undefined {
  const { name, type, items, parameters } = schema;
  if (type === 'array') {
    return isSchema(items) && depth < MOST_DIMENSIONS ? unitOf(items, depth + 1) : undefined;
  }
  if (name === DECIMAL) {
    const scale = parameterOf(parameters, 'scale');
    return scale === null ? undefined : `decimal(${scale})`;
  }
  if (name === BITS) {
    return bitsUnit(parameterOf(parameters, 'length'));
  }
  return unitByName(name) ?? (type === 'map' ? 'json' : undefined);
}

/** What a schema says of its values; nothing where it is none. */
export const unitOfSchema = (schema: unknown): ValueUnit | undefined => (isSchema(schema) ? unitOf(schema) : undefined);

/**
 * What a schema says of the parts of its values at these paths. @param schema as JSON has it; any other value says
 * nothing
 */
export const unitsOf = (schema: unknown, paths: readonly FieldPath[]): SchemaUnits =>
  paths.map((path) => {
    const found = path.reduce<Schema | null>(
      (from, part) => from && memberOf(from, part),
      isSchema(schema) ? schema : null,
    );
    return unitOfSchema(found);
  });
