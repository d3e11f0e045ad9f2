import { avroType } from './avro/avro-schema.ts';
import type { AvroKind, AvroType } from './avro/avro-type.ts';
import { outlineOfJsonSchema } from './json-schema.ts';
import type { RegisteredSchema } from './registry/schemas.ts';
import type { SchemaKind, SchemaOutline } from './schema-part.ts';

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

/** What a value of a type may be: a union in a union is none of Avro. */
const branchesOf = (type: AvroType): readonly AvroType[] => (type.kind === 'union' ? type.branches : [type]);

function memberOf({ kind, record, items }: AvroType, part: string | number): readonly AvroType[] {
  if (typeof part === 'number') {
    return kind === 'array' ? branchesOf(items) : [];
  }
  const field = kind === 'map' ? items : record.fields.find(({ name }) => name === part)?.type;
  return field === undefined ? [] : branchesOf(field);
}

function outlineOfAvro(schema: RegisteredSchema): SchemaOutline {
  const root = avroType(schema);
  return (path) => {
    const types = path.reduce((from, part) => from.flatMap((type) => memberOf(type, part)), branchesOf(root));
    const kinds = types.flatMap(({ kind }) => (kind === 'null' || kind === 'union' ? [] : AVRO_KINDS[kind]));
    return types.length === 0
      ? undefined
      : {
          kinds: [...new Set(kinds)],
          isNullable: types.some(({ kind }) => kind === 'null'),
          unit: types.find(({ unit }) => unit !== undefined)?.unit,
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
