import { avroType, type SchemaText } from './avro/avro-schema.ts';
import type { AvroKind, AvroType } from './avro/avro-type.ts';
import { outlineOfJsonSchema } from './json-schema.ts';
import { ProtoSchemaError } from './protobuf/proto-files.ts';
import { outlineOfMessage } from './protobuf/proto-outline.ts';
import { protoSchemaOf } from './protobuf/registered-messages.ts';
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

/** The outline of a schema of Avro. @throws AvroSchemaError where it is none */
export function outlineOfAvro(schema: SchemaText): SchemaOutline {
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

/** Which message values are the registry does not say: nearly always the first one. */
function outlineOfProtobuf(schema: RegisteredSchema): SchemaOutline {
  const message = protoSchemaOf(schema).messageAt([0]);
  if (message === undefined) {
    throw new ProtoSchemaError(`the schema ${schema.id} has no message`);
  }
  return outlineOfMessage(message);
}

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
