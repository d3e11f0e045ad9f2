import { pathText } from '../../../../settings/sections/column-source.ts';
import { formatsOf, isOfFile } from '../../../../settings/sections/formats.ts';
import type { Settings } from '../../../../settings/settings.ts';
import { AvroSchemaError } from '../../../formats/avro/avro-schema.ts';
import { SIDES, type Side } from '../../../formats/parts/field-reader.ts';
import type { SchemaKind, SchemaOutline, SchemaPart } from '../../../formats/parts/schema-part.ts';
import { ProtoSchemaError } from '../../../formats/protobuf/proto-files.ts';
import { isUsable, type RegisteredSchema, type UnusableSchema } from '../../../formats/registry/schemas.ts';
import { outlineOf, outlineOfFile } from '../../../formats/schema-outline.ts';
import { FatalError, OutageError } from '../../../stream/ports/stream-errors.ts';
import { valueAt } from '../../../tables/json/json-slice.ts';
import type { ColumnType, FieldPath, MappedColumn, TableMapping } from '../../../tables/mapping/table-mapping.ts';
import { rowPath } from '../../../tables/rows/column-plan.ts';
import { NoText, textOfJson } from '../../../tables/rows/column-text.ts';
import { rowColumn } from '../../../tables/rows/row-column.ts';
import { keyFieldsOf, takesRecordKey } from './record-keys.ts';

/** What answers with the latest schema of a topic. */
interface LatestSchemas {
  /**
   * @returns `undefined` where the registry has none of the subject yet
   * @throws OutageError, FatalError where the registry is away or refuses
   */
  latest(subject: string): Promise<RegisteredSchema | UnusableSchema | undefined>;
}

/** The latest schema of a topic's values or keys, or that of its file. */
export interface TopicSchema {
  readonly topic: string;
  readonly side: Side;
  /** With its id in the registry, or the path of its file; `null` where there is none that can be read. */
  readonly schema: { readonly id: number | string; readonly outline: SchemaOutline } | null;
  /** Why there is none. */
  readonly fault?: string;
}

/**
 * Reads the schemas of these topics: those of files, and the latest ones of topics that have theirs in the registry.
 *
 * @param registry left out: only files are read
 */
export async function readSchemas(
  settings: Settings,
  topics: readonly string[],
  registry?: LatestSchemas,
): Promise<readonly TopicSchema[]> {
  const found: TopicSchema[] = [];
  for (const topic of new Set(topics)) {
    const formats = formatsOf(settings, topic);
    for (const side of SIDES) {
      const file = formats[side]?.find(isOfFile);
      if (file !== undefined) {
        found.push({ topic, side, schema: { id: file.avro ?? file.protobuf, outline: outlineOfFile(file) } });
      } else if (registry !== undefined && formats[side]?.includes('registry')) {
        found.push({ topic, side, ...(await latest(registry, `${topic}-${side}`)) });
      }
    }
  }
  return found;
}

const isFaultOfSchema = (error: unknown): error is Error =>
  error instanceof AvroSchemaError || error instanceof ProtoSchemaError || error instanceof SyntaxError;

async function latest(registry: LatestSchemas, subject: string): Promise<Pick<TopicSchema, 'schema' | 'fault'>> {
  try {
    const schema = await registry.latest(subject);
    if (schema === undefined) {
      return { schema: null, fault: `the registry has no ${subject} yet` };
    }
    return isUsable(schema)
      ? { schema: { id: schema.id, outline: outlineOf(schema) } }
      : { schema: null, fault: schema.words };
  } catch (error) {
    const isKnown = error instanceof OutageError || error instanceof FatalError;
    if (isKnown || isFaultOfSchema(error)) {
      return { schema: null, fault: error.message };
    }
    throw error;
  }
}

/** Values of these kinds as JSON: whether a column takes them depends on no more than that. */
const SAMPLES: Readonly<Partial<Record<SchemaKind, string>>> = {
  number: '1',
  boolean: 'true',
  object: '{}',
  list: '[]',
};

/** Types of which nothing but one value of theirs is read. */
const SCALARS: readonly ColumnType['kind'][] = [
  ...(['boolean', 'integer', 'numeric', 'float', 'date', 'time', 'timestamp', 'interval'] as const),
];

/** Types of scalars and more that have no text of a kind, where no unit makes one of it. */
function isRefused({ kind: type }: ColumnType, kind: SchemaKind): boolean {
  switch (kind) {
    case 'bytes':
      return SCALARS.includes(type) || type === 'array' || type === 'composite';
    case 'boolean':
      return type !== 'boolean' && SCALARS.includes(type);
    case 'object':
    case 'list':
      return SCALARS.includes(type);
    default:
      return false;
  }
}

/** Whether a column can take values of a kind at all: of a string's content nothing is known. */
function mayTake(column: MappedColumn, kind: SchemaKind, { unit: bySchema }: SchemaPart): boolean {
  const { type, unit } = rowColumn(column, bySchema);
  if (unit === undefined && isRefused(type, kind)) {
    return false;
  }
  const sample = SAMPLES[kind];
  return (
    sample === undefined ||
    isReadFurther(type, kind) ||
    !(textOfJson(type, unit, valueAt(Buffer.from(sample), 0)) instanceof NoText)
  );
}

/** What an object has to hold depends on more than its kind. */
const isReadFurther = ({ kind, name }: ColumnType, given: SchemaKind): boolean =>
  given === 'object' && (kind === 'numeric' || (kind === 'other' && name === 'point'));

/** A column that takes a field of the value, and the part that the schema has there. */
interface ComparedColumn {
  readonly column: MappedColumn;
  readonly part: SchemaPart | undefined;
}

function comparedColumns({ columns, envelope }: TableMapping, side: Side, outline: SchemaOutline) {
  return columns.flatMap((column): readonly ComparedColumn[] => {
    const path = pathInSide(column, side, rowPath(envelope));
    return path === null ? [] : [{ column, part: outline(path) }];
  });
}

function pathInSide({ source }: MappedColumn, side: Side, row: FieldPath): FieldPath | null {
  switch (source.kind) {
    case 'field':
      return side === 'value' ? (source.path.length === 0 ? [] : [...row, ...source.path]) : null;
    case 'event':
      return side === 'value' ? source.path : null;
    case 'key':
      return side === 'key' ? source.path : null;
    default:
      return null;
  }
}

/** What the latest schema of a topic means for a table. */
export interface SchemaFindings {
  readonly topic: string;
  readonly side: Side;
  readonly id: number | string | null;
  readonly fault?: string;
  /** Columns whose field it does not have. */
  readonly missing: readonly string[];
  /** Fields of conditions that it does not have: no record of it matches. */
  readonly unmatchable: readonly string[];
  /** Columns that take none of the values that it has for them. */
  readonly unfit: readonly { readonly column: string; readonly kinds: readonly SchemaKind[]; readonly type: string }[];
  /** Columns that are NOT NULL, and may get null. */
  readonly nullable: readonly string[];
  /** Fields of the value that no column takes. */
  readonly unmapped: readonly string[];
  /** Columns of the table's key that the record key has no field for: its tombstones delete nothing. */
  readonly lacking: readonly string[];
  /** Fields of the record key beyond the table's key: rows of one key may be in several partitions. */
  readonly beyond: readonly string[];
}

/** Compares a table with the schemas of its topics, column by column. */
export const schemaFindings = (mapping: TableMapping, schemas: readonly TopicSchema[]): readonly SchemaFindings[] =>
  schemas.filter(({ topic }) => mapping.topics.includes(topic)).map((found) => findingsOf(mapping, found));

function findingsOf(mapping: TableMapping, { topic, side, schema, fault }: TopicSchema): SchemaFindings {
  const about = { topic, side, id: schema?.id ?? null, ...(fault !== undefined && { fault }) };
  if (schema === null) {
    return { ...about, missing: [], unmatchable: [], unfit: [], nullable: [], unmapped: [], lacking: [], beyond: [] };
  }
  const compared = comparedColumns(mapping, side, schema.outline);
  return {
    ...about,
    missing: compared.flatMap(({ column, part }) =>
      part === undefined && !takesRecordKey(column, mapping.key) ? column.name : [],
    ),
    unmatchable: side === 'value' ? unmatchableFields(mapping, schema.outline) : [],
    unfit: compared.flatMap(({ column, part }) => {
      const isUnfit =
        part !== undefined && part.kinds.length > 0 && !part.kinds.some((kind) => mayTake(column, kind, part));
      return isUnfit ? { column: column.name, kinds: part.kinds, type: column.type.name } : [];
    }),
    nullable: compared.flatMap(({ column, part }) => (column.isNotNull && part?.isNullable ? column.name : [])),
    unmapped: side === 'value' ? unmappedFields(mapping, schema.outline) : [],
    ...(side === 'key' ? keyFindings(mapping, schema.outline) : { lacking: [], beyond: [] }),
  };
}

/** A key that is no object is the whole of a table's key of one column. */
function keyFindings(mapping: TableMapping, outline: SchemaOutline): Pick<SchemaFindings, 'lacking' | 'beyond'> {
  const wanted = keyFieldsOf(mapping);
  const { kinds = [], fields = [] } = outline([]) ?? {};
  if (mapping.key === null || (wanted.length === 1 && !kinds.includes('object'))) {
    return { lacking: [], beyond: [] };
  }
  return {
    lacking: wanted.filter((name) => !fields.includes(name)),
    beyond: fields.filter((name) => !wanted.includes(name)),
  };
}

function unmatchableFields({ envelope, when = [] }: TableMapping, outline: SchemaOutline): readonly string[] {
  const row = rowPath(envelope);
  const paths = when.flatMap(({ source }) => (source.kind === 'field' ? [source.path] : []));
  return paths.filter((path) => outline([...row, ...path]) === undefined).map(pathText);
}

function unmappedFields({ columns, envelope, when = [] }: TableMapping, outline: SchemaOutline): readonly string[] {
  const row = rowPath(envelope);
  const taken = [...columns, ...when].flatMap(({ source }) => (source.kind === 'field' ? [source.path[0]] : []));
  const takesAll = columns.some(({ source }) => source.kind === 'field' && source.path.length === 0);
  return takesAll ? [] : (outline(row)?.fields ?? []).filter((name) => !taken.includes(name));
}

/** The findings for a person. */
export function schemaLines({ topic, side, id, fault, ...found }: SchemaFindings): readonly string[] {
  if (id === null) {
    return [`no ${side} schema of ${topic} was compared: ${fault ?? 'it is not known'}`];
  }
  const schema = `schema ${id}, ${typeof id === 'string' ? 'that' : 'the latest'} of the ${side}s of ${topic},`;
  const lines = [
    ...found.missing.map((name) => `WARNING: ${schema} has no field for the column ${name}`),
    ...found.unmatchable.map((path) => `WARNING: ${schema} has no field ${path}: when matches no record of it`),
    ...found.unfit.map(
      ({ column, kinds, type }) =>
        `WARNING: ${schema} has ${kinds.join(' or ')} for the column ${column}, and ${type} takes none`,
    ),
    ...found.nullable.map((name) => `${schema} may have null for the column ${name}, which is NOT NULL`),
    ...found.lacking.map((name) => `WARNING: ${schema} has no field ${name}: deletes are dead letters`),
    ...(found.beyond.length > 0
      ? [
          `WARNING: ${schema} has ${found.beyond.join(', ')}, too: rows of one key may be in several partitions, without an order`,
        ]
      : []),
    ...(found.unmapped.length > 0 ? [`${schema} has fields without a column: ${found.unmapped.join(', ')}`] : []),
  ];
  return lines.length > 0 ? lines : [`${schema} has what each column takes`];
}
