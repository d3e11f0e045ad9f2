import { parseSource } from '../../../../settings/sections/column-source.ts';
import { type Format, formatsOf, isOfFile } from '../../../../settings/sections/formats.ts';
import type { TableSettings } from '../../../../settings/sections/tables.ts';
import type { Settings } from '../../../../settings/settings.ts';
import { AvroSchemaError } from '../../../formats/avro/avro-schema.ts';
import { outlineOfConnect } from '../../../formats/connect-outline.ts';
import { SIDES, type Side } from '../../../formats/parts/field-reader.ts';
import { ProtoSchemaError } from '../../../formats/protobuf/proto-files.ts';
import type { SchemaRegistry } from '../../../formats/registry/schema-registry.ts';
import { isUsable, type RegisteredSchema, type UnusableSchema } from '../../../formats/registry/schemas.ts';
import { outlineOf, outlineOfFile } from '../../../formats/schema-outline.ts';
import { schemaIdOf } from '../../../formats/wire-format.ts';
import type { ReadRecords, TopicReader } from '../../../kafka/topic-reader.ts';
import { printable } from '../../../logging/printable-text.ts';
import type { RecordCursor } from '../../../records/record-batch.ts';
import type { LogRange } from '../../../stream/ports/record-source.ts';
import { DocumentFields } from '../../../tables/json/document-fields.ts';
import { EnvelopeFields } from '../../../tables/json/envelope-fields.ts';
import { sentJson } from '../../../tables/json/json-slice.ts';
import type { FieldPath } from '../../../tables/mapping/table-mapping.ts';
import { rowPath } from '../../../tables/rows/column-plan.ts';
import { counted, grouped } from '../../command/output.ts';
import { SeenShape, type Shape, shapeOfSchema, unknownShape } from './topic-shape.ts';

/** What is known of a topic. */
export interface TopicShapes {
  readonly topic: string;
  readonly value: Shape;
  readonly key: Shape;
}

/** What shapes are read by, and from. */
interface ShapeSources {
  readonly settings: Settings;
  readonly reader: TopicReader;
  /** `undefined` where no topic has schemas. */
  readonly registry: SchemaRegistry | undefined;
  readonly from: 'registry' | 'records' | undefined;
  /** Offsets of a topic that are looked at, at most. */
  readonly records: number;
}

const TYPE_NAMES: Readonly<Record<RegisteredSchema['type'], string>> = {
  AVRO: 'Avro',
  JSON: 'JSON Schema',
  PROTOBUF: 'Protobuf',
};

/** A schema's shape, or why it has none. */
function shapeOf(schema: RegisteredSchema | UnusableSchema, words: string): Shape {
  if (!isUsable(schema)) {
    return unknownShape(printable(schema.words));
  }
  try {
    return shapeOfSchema(outlineOf(schema), `schema ${schema.id} (${TYPE_NAMES[schema.type]}), ${words}`);
  } catch (error) {
    const isOfSchema = error instanceof AvroSchemaError || error instanceof ProtoSchemaError;
    if (isOfSchema || error instanceof SyntaxError) {
      return unknownShape(`schema ${schema.id}: ${printable(error.message)}`);
    }
    throw error;
  }
}

/** The schema of a file, or the latest one, of a side of a topic; `undefined` where records have to be looked at. */
async function latestShape(topic: string, side: Side, { settings, registry, from }: ShapeSources) {
  const formats = formatsOf(settings, topic)[side] ?? [];
  const file = formats.find(isOfFile);
  if (file !== undefined) {
    return shapeOfSchema(outlineOfFile(file), `${file.avro ?? file.protobuf}, the schema of the ${side}s of ${topic}`);
  }
  if (from === 'records' || !formats.includes('registry')) {
    return undefined;
  }
  const schema = await registry?.latest(`${topic}-${side}`);
  if (schema === undefined) {
    return from === 'registry' ? unknownShape(`the registry has no ${topic}-${side} yet`) : undefined;
  }
  return shapeOf(schema, `the latest of the ${side}s of ${topic}`);
}

/** What is looked at in the values, or in the keys, of one topic's records. */
class SideOfRecords {
  readonly shape: SeenShape;
  readonly #side: Side;
  readonly #formats: readonly Format[];
  readonly #fields = new EnvelopeFields([[]]);
  readonly #wrapper = new DocumentFields([['schema'], ['payload']]);
  readonly #mayBeWrapped: boolean;
  /** Of the last record that has one; 0: none has. */
  schemaId = 0;
  /** What is around the payload of the last record that has a schema there. */
  schema: unknown;
  /** Values that are none of JSON. */
  unread = 0;

  constructor(side: Side, formats: readonly Format[], { row, wanted, isWrapped }: WantedParts) {
    this.#side = side;
    this.#formats = formats;
    this.#mayBeWrapped = isWrapped;
    this.shape = new SeenShape(row, wanted);
  }

  add(record: RecordCursor): void {
    const { bytes } = record.batch;
    const [at, length] =
      this.#side === 'value' ? [record.valueAt, record.valueLength] : [record.keyAt, record.keyLength];
    const id = this.#formats.includes('registry') ? schemaIdOf(record, this.#side) : 0;
    if (id !== 0) {
      this.schemaId = id;
    } else if (length >= 0) {
      this.#addBytes(bytes, at, at + length);
    }
  }

  #addBytes(bytes: Buffer, start: number, end: number): void {
    if (this.#formats.some((format) => format === 'text' || format === 'bytes')) {
      this.shape.add({ bytes, start, end, kind: 'text', hasEscapes: true });
      return;
    }
    if (this.#fields.read(bytes, start, end) !== null) {
      this.unread += 1;
      // A key without a format is text where it is no JSON.
      if (this.#side === 'key') {
        this.shape.add({ bytes, start, end, kind: 'text', hasEscapes: true });
      }
      return;
    }
    const value = this.#fields.of(0);
    if (this.#mayBeWrapped && this.#wrapper.read(bytes, start, end) === null) {
      const schema = this.#wrapper.of(0);
      const isSchema = schema?.kind === 'object' && this.#wrapper.of(1) !== undefined;
      this.schema = isSchema ? JSON.parse(sentJson(schema)) : this.schema;
    }
    if (value !== undefined) {
      this.shape.add(value);
    }
  }
}

/** What columns take of the values, or of the keys. */
interface WantedParts {
  readonly row: FieldPath;
  readonly wanted: readonly FieldPath[];
  /** Whether an object of schema and payload may be around them. */
  readonly isWrapped: boolean;
}

/** @param read offsets of each partition */
function basisOf(topic: string, ranges: readonly LogRange[], { side, unread }: { side: Side; unread: number }): string {
  const records = ranges.reduce((sum, { start, end }) => sum + end - start, 0n);
  const shown = ranges
    .slice(0, MOST_RANGES)
    .map(({ partition, start, end }) => `${grouped(start)}-${grouped(end - 1n)} of partition ${partition}`);
  const more = ranges.length > MOST_RANGES ? [`and of ${ranges.length - MOST_RANGES} other partitions`] : [];
  const noJson = side === 'value' && unread > 0 ? `. REVIEW: ${grouped(unread)} of them are no JSON` : '';
  return `${counted(records, 'record')} of ${topic}: offsets ${[...shown, ...more].join(', ')}${noJson}`;
}

const MOST_RANGES = 5;

/** What the records of a topic show of these sides. */
async function shapesOfRecords(
  topic: string,
  wanted: Readonly<Record<Side, WantedParts>>,
  sides: readonly Side[],
  { settings, reader, registry, records }: ShapeSources,
): Promise<Readonly<Partial<Record<Side, Shape>>>> {
  const formats = formatsOf(settings, topic);
  const looked = sides.map((side) => ({ side, seen: new SideOfRecords(side, formats[side] ?? [], wanted[side]) }));
  const take = (read: ReadRecords) =>
    read.records.forEach((record) => {
      for (const { seen } of looked) {
        seen.add(record);
      }
    });
  const ranges = await reader.read(topic, { from: 'latest', count: records }, { take });
  const shapes: Partial<Record<Side, Shape>> = {};
  for (const { side, seen } of looked) {
    shapes[side] = await shapeOfSide(topic, side, { seen, ranges, registry });
  }
  return shapes;
}

async function shapeOfSide(
  topic: string,
  side: Side,
  {
    seen,
    ranges,
    registry,
  }: {
    readonly seen: SideOfRecords;
    readonly ranges: readonly LogRange[];
    readonly registry: SchemaRegistry | undefined;
  },
): Promise<Shape> {
  if (ranges.length === 0) {
    return unknownShape(`${topic} has no records yet, so nothing is known of its ${side}s`);
  }
  if (seen.schemaId !== 0 && registry !== undefined) {
    await registry.fetch(new Set([seen.schemaId]));
    const schema = registry.of(seen.schemaId);
    if (schema !== undefined) {
      return shapeOf(schema, `which the last ${side}s of ${topic} name`);
    }
  }
  if (seen.schema !== undefined) {
    return shapeOfSchema(outlineOfConnect(seen.schema), `the schema around the last ${side}s of ${topic}`);
  }
  seen.shape.basis = basisOf(topic, ranges, { side, unread: seen.unread });
  return seen.shape;
}

/** The parts that columns of these entries take, beside the fields of their rows. */
function wantedParts(entries: readonly TableSettings[]): Readonly<Record<Side, WantedParts>> {
  const envelope = entries.find((entry) => entry.envelope !== undefined)?.envelope;
  const row = rowPath(envelope);
  const sources = entries.flatMap(({ columns }) => Object.values(columns));
  const parts = sources.flatMap((setting) => (setting === false ? [] : [parseSource(setting.from)]));
  const value = parts.flatMap((source) =>
    source.kind === 'field'
      ? [source.path.length === 0 ? [] : [...row, ...source.path]]
      : source.kind === 'event'
        ? [source.path]
        : [],
  );
  const key = parts.flatMap((source) => (source.kind === 'key' ? [source.path] : []));
  return {
    value: { row, wanted: value, isWrapped: envelope !== undefined },
    key: { row: [], wanted: [[], ...key.filter((path) => path.length > 0)], isWrapped: true },
  };
}

/**
 * Reads what is known of a topic: its latest schemas, or else its last records.
 *
 * @param entries of the settings that take records of the topic
 * @throws OutageError, FatalError where Kafka or the registry is away or refuses
 */
export async function readShapes(
  topic: string,
  entries: readonly TableSettings[],
  sources: ShapeSources,
): Promise<TopicShapes> {
  const found: Partial<Record<Side, Shape>> = {};
  for (const side of SIDES) {
    const shape = await latestShape(topic, side, sources);
    if (shape !== undefined) {
      found[side] = shape;
    }
  }
  const missing = SIDES.filter((side) => found[side] === undefined);
  const seen = missing.length > 0 ? await shapesOfRecords(topic, wantedParts(entries), missing, sources) : {};
  const shapes = { ...seen, ...found };
  const unknown = unknownShape(`nothing is known of ${topic}`);
  return { topic, value: shapes.value ?? unknown, key: shapes.key ?? unknown };
}
