import type { FileFormat } from '../../settings/sections/formats.ts';
import { parameterOf, unitOfSchema } from '../tables/json/connect-schema.ts';
import type { FieldPath } from '../tables/mapping/table-mapping.ts';
import { avroType, type SchemaText } from './avro/avro-schema.ts';
import type { AvroKind, AvroType } from './avro/avro-type.ts';
import { outlineOfJsonSchema } from './json-schema.ts';
import type { SchemaKind, SchemaOutline, SchemaPart } from './parts/schema-part.ts';
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

/** A schema of Kafka Connect as its JsonConverter writes it, as far as it is one. */
type Schema = Readonly<Record<string, unknown>>;

const isSchema = (given: unknown): given is Schema =>
  typeof given === 'object' && given !== null && !Array.isArray(given);

/** By the word of `type`: what values are, and what takes them. */
const CONNECT_TYPES: ReadonlyMap<unknown, readonly [SchemaKind, string]> = new Map([
  ['int8', ['number', 'smallint']],
  ['int16', ['number', 'smallint']],
  ['int32', ['number', 'integer']],
  ['int64', ['number', 'bigint']],
  ['float', ['number', 'real']],
  ['double', ['number', 'double precision']],
  ['boolean', ['boolean', 'boolean']],
  ['string', ['string', 'text']],
  ['bytes', ['bytes', 'bytea']],
  ['struct', ['object', 'jsonb']],
  ['map', ['object', 'jsonb']],
  ['array', ['list', 'jsonb']],
]);

const schemaFields = ({ fields }: Schema): readonly Schema[] => (Array.isArray(fields) ? fields.filter(isSchema) : []);

function memberSchema(schema: Schema, part: string | number): Schema | undefined {
  const { type, values, items } = schema;
  const found =
    type === 'struct' ? schemaFields(schema).find(({ field }) => field === part) : type === 'map' ? values : items;
  return isSchema(found) ? found : undefined;
}

/** Items that count or encode something are read one by one in an array alone. */
function typeOfList({ items }: Schema, plain: string | undefined): string | undefined {
  const isEncoded = isSchema(items) && items['type'] !== 'array' && unitOfSchema(items) !== undefined;
  const item = isEncoded ? partOf(items).sqlType : undefined;
  return item === undefined || item === 'jsonb' ? plain : `${item}[]`;
}

function partOf(schema: Schema): SchemaPart {
  const { type, name, optional, parameters } = schema;
  const [kind, plain] = CONNECT_TYPES.get(type) ?? [];
  const unit = unitOfSchema(schema);
  const allowed = isSchema(parameters) ? parameters['allowed'] : undefined;
  const digits = {
    precision: parameterOf(parameters, 'connect.decimal.precision'),
    scale: parameterOf(parameters, 'scale'),
  };
  return {
    kinds: kind === undefined ? [] : [kind],
    isNullable: optional === true,
    isOptional: schema['default'] !== undefined,
    unit,
    sqlType:
      type === 'array' ? typeOfList(schema, plain) : plain && schemaSqlType({ names: [name], unit, ...digits }, plain),
    symbols: typeof allowed === 'string' ? allowed.split(',') : undefined,
    fields: schemaFields(schema).flatMap(({ field }) => (typeof field === 'string' ? field : [])),
  };
}

/** The outline of a schema that is around a value in JSON; it has nothing where it is none. */
export const outlineOfConnect =
  (schema: unknown): SchemaOutline =>
  (path) => {
    const found = path.reduce<Schema | undefined>(
      (from, part) => from && memberSchema(from, part),
      isSchema(schema) ? schema : undefined,
    );
    return found && partOf(found);
  };
