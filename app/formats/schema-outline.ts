import type { FieldPath } from '../tables/mapping/table-mapping.ts';
import { avroType } from './avro/avro-schema.ts';
import type { AvroKind, AvroType } from './avro/avro-type.ts';
import { outlineOfJsonSchema } from './json-schema.ts';
import type { RegisteredSchema } from './registry/schemas.ts';
import type { SchemaKind, SchemaOutline } from './schema-part.ts';
import { schemaSqlType, widestType } from './schema-sql-type.ts';

const AVRO_KINDS: Readonly<Record<Exclude<AvroKind, 'null' | 'union'>, SchemaKind>> = {
  boolean: 'boolean',
  int: 'number',
  long: 'number',
  float: 'number',
  double: 'number',
  decimal: 'number',
  bytes: 'bytes',
  fixed: 'bytes',
  string: 'string',
  enum: 'string',
  uuid: 'string',
  duration: 'string',
  record: 'object',
  map: 'object',
  array: 'list',
};

/** What takes the values of a type, where neither its name nor a unit says more. */
const SQL_TYPES: Readonly<Partial<Record<AvroKind, string>>> = {
  boolean: 'boolean',
  int: 'integer',
  long: 'bigint',
  float: 'real',
  double: 'double precision',
  bytes: 'bytea',
  fixed: 'bytea',
  string: 'text',
  enum: 'text',
  uuid: 'uuid',
  duration: 'interval',
};

function sqlTypeOf({ kind, names, unit, precision, scale, form }: AvroType): string {
  if (kind === 'decimal') {
    const isFree = form === 'big' || form === 'variable';
    return isFree ? 'numeric' : schemaSqlType({ names: [], unit: `decimal(${scale})`, precision, scale }, 'numeric');
  }
  return schemaSqlType({ names, unit }, SQL_TYPES[kind] ?? 'jsonb');
}

/** All strings of an enum; `undefined` where another one may come. */
const symbolsOf = (types: readonly AvroType[]): readonly string[] | undefined =>
  types.length > 0 && types.every(({ kind }) => kind === 'enum')
    ? types.flatMap(({ symbols }) => symbols.map((symbol) => symbol.toString('utf8')))
    : undefined;

/** What a value of a type may be: a union in a union is none of Avro. */
const branchesOf = (type: AvroType): readonly AvroType[] => (type.kind === 'union' ? type.branches : [type]);

function memberOf({ kind, record, items }: AvroType, part: string | number): readonly AvroType[] {
  if (typeof part === 'number') {
    return kind === 'array' ? branchesOf(items) : [];
  }
  const field = kind === 'map' ? items : record.fields.find(({ name }) => name === part)?.type;
  return field === undefined ? [] : branchesOf(field);
}

/** Whether a record of the schema, or of an older one, may lack the field. */
function mayLack(types: readonly AvroType[], part: string | number | undefined): boolean {
  const records = types.filter(({ kind }) => kind !== 'null');
  return records.some(({ record }) => record.fields.find(({ name }) => name === part)?.hasDefault !== false);
}

function outlineOfAvro(schema: RegisteredSchema): SchemaOutline {
  const root = avroType(schema);
  return (path) => {
    const at = (given: FieldPath) =>
      given.reduce((from, part) => from.flatMap((type) => memberOf(type, part)), branchesOf(root));
    const types = at(path);
    const kinds = types.flatMap(({ kind }) => (kind === 'null' || kind === 'union' ? [] : AVRO_KINDS[kind]));
    const values = types.filter(({ kind }) => kind !== 'null');
    return types.length === 0
      ? undefined
      : {
          kinds: [...new Set(kinds)],
          isNullable: types.some(({ kind }) => kind === 'null'),
          isOptional: path.length > 0 && mayLack(at(path.slice(0, -1)), path.at(-1)),
          unit: types.find(({ unit }) => unit !== undefined)?.unit,
          sqlType: widestType(values.map(sqlTypeOf)),
          symbols: symbolsOf(values),
          fields: types.flatMap(({ kind, fields }) => (kind === 'record' ? fields.map(({ name }) => name) : [])),
        };
  };
}

/**
 * Reads what a schema says.
 *
 * @throws AvroSchemaError, SyntaxError where it says nothing that can be read
 */
export function outlineOf(schema: RegisteredSchema): SchemaOutline {
  switch (schema.type) {
    case 'AVRO':
      return outlineOfAvro(schema);
    case 'JSON':
      return outlineOfJsonSchema(schema);
    case 'PROTOBUF':
      throw new SyntaxError('it is of Protobuf, which is not read');
  }
}
