import { parameterOf, unitOfSchema } from '../tables/json/connect-schema.ts';
import type { SchemaKind, SchemaOutline, SchemaPart } from './parts/schema-part.ts';
import { schemaSqlType } from './schema-sql-type.ts';

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
