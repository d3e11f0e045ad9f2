import type { FileFormat } from '../../settings/sections/formats.ts';
import type { FieldPath } from '../tables/mapping/table-mapping.ts';
import { avroType, type SchemaText } from './avro/avro-schema.ts';
import type { AvroKind, AvroType } from './avro/avro-type.ts';
import { outlineOfJsonSchema } from './json-schema.ts';
import type { SchemaKind, SchemaOutline } from './parts/schema-part.ts';
import { ProtoSchemaError } from './protobuf/proto-files.ts';
import { outlineOfMessage } from './protobuf/proto-outline.ts';
import { protoSchemaOf } from './protobuf/registered-messages.ts';
import type { RegisteredSchema } from './registry/schemas.ts';
import { avroFile, messageOfFile } from './schema-files.ts';
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
const AVRO_SQL_TYPES: Readonly<Partial<Record<AvroKind, string>>> = {
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
  return schemaSqlType({ names, unit }, AVRO_SQL_TYPES[kind] ?? 'jsonb');
}

/** All strings of an enum; `undefined` where another one may come. */
const symbolsOf = (types: readonly AvroType[]): readonly string[] | undefined =>
  types.length > 0 && types.every(({ kind }) => kind === 'enum')
    ? types.flatMap(({ symbols }) => symbols.map((symbol) => symbol.toString('utf8')))
    : undefined;

/** What a value of a type may be: a union in a union is none of Avro. */
const unionBranches = (type: AvroType): readonly AvroType[] => (type.kind === 'union' ? type.branches : [type]);

function memberTypes({ kind, record, items }: AvroType, part: string | number): readonly AvroType[] {
  if (typeof part === 'number') {
    return kind === 'array' ? unionBranches(items) : [];
  }
  const field = kind === 'map' ? items : record.fields.find(({ name }) => name === part)?.type;
  return field === undefined ? [] : unionBranches(field);
}

/** Whether a record of the schema, or of an older one, may lack the field. */
function mayLack(types: readonly AvroType[], part: string | number | undefined): boolean {
  const records = types.filter(({ kind }) => kind !== 'null');
  return records.some(({ record }) => record.fields.find(({ name }) => name === part)?.hasDefault !== false);
}

/** The outline of a schema of Avro. @throws AvroSchemaError where it is none */
function outlineOfAvro(schema: SchemaText): SchemaOutline {
  const root = avroType(schema);
  return (path) => {
    const at = (given: FieldPath) =>
      given.reduce((from, part) => from.flatMap((type) => memberTypes(type, part)), unionBranches(root));
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

/** Which message values are the registry does not say: nearly always the first one. */
function outlineOfProtobuf(schema: RegisteredSchema): SchemaOutline {
  const message = protoSchemaOf(schema).messageAt([0]);
  if (message === undefined) {
    throw new ProtoSchemaError(`the schema ${schema.id} has no message`);
  }
  return outlineOfMessage(message);
}

/** The outline of a schema in a file. The check of the settings has found the file usable. */
export const outlineOfFile = (format: FileFormat): SchemaOutline =>
  format.avro === undefined ? outlineOfMessage(messageOfFile(format)) : outlineOfAvro(avroFile(format.avro));

/**
 * Reads what a schema says; of Protobuf what its first message says.
 *
 * @throws AvroSchemaError, ProtoSchemaError, SyntaxError where it says nothing that can be read
 */
export function outlineOf(schema: RegisteredSchema): SchemaOutline {
  switch (schema.type) {
    case 'AVRO':
      return outlineOfAvro(schema);
    case 'JSON':
      return outlineOfJsonSchema(schema);
    case 'PROTOBUF':
      return outlineOfProtobuf(schema);
  }
}
