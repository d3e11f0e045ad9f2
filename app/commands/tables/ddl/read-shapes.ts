import { formatsOf, isOfFile } from '../../../../settings/sections/formats.ts';
import type { TableSettings } from '../../../../settings/sections/tables.ts';
import type { Settings } from '../../../../settings/settings.ts';
import { AvroSchemaError } from '../../../formats/avro/avro-schema.ts';
import { SIDES, type Side } from '../../../formats/parts/field-reader.ts';
import { ProtoSchemaError } from '../../../formats/protobuf/proto-files.ts';
import type { SchemaRegistry } from '../../../formats/registry/schema-registry.ts';
import { isUsable, type RegisteredSchema, type UnusableSchema } from '../../../formats/registry/schemas.ts';
import { outlineOf, outlineOfConnect, outlineOfFile } from '../../../formats/schema-outline.ts';
import type { ReadRecords, TopicReader } from '../../../kafka/topic-reader.ts';
import { printable } from '../../../logging/printable-text.ts';
import type { LogRange } from '../../../stream/ports/record-source.ts';
import { counted, grouped } from '../../command/output.ts';
import { SideOfRecords, takenBy, wantedParts } from './seen-records.ts';
import { type Shape, shapeOfSchema, unknownShape } from './topic-shape.ts';

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

/** What was read of a topic's records. */
interface RecordsSeen {
  readonly ranges: readonly LogRange[];
  /** How many of them the table takes. Left out: all. */
  readonly taken?: bigint;
}

const MOST_RANGES = 5;

function basisOf(
  topic: string,
  { ranges, taken }: RecordsSeen,
  { side, unread }: { side: Side; unread: number },
): string {
  const records = ranges.reduce((sum, { start, end }) => sum + end - start, 0n);
  const shown = ranges
    .slice(0, MOST_RANGES)
    .map(({ partition, start, end }) => `${grouped(start)}-${grouped(end - 1n)} of partition ${partition}`);
  const more = ranges.length > MOST_RANGES ? [`and of ${ranges.length - MOST_RANGES} other partitions`] : [];
  const matching = taken === undefined ? '' : `. ${taken === 0n ? 'REVIEW: ' : ''}${grouped(taken)} of them match when`;
  const noJson = side === 'value' && unread > 0 ? `. REVIEW: ${grouped(unread)} of them are no JSON` : '';
  return `${counted(records, 'record')} of ${topic}: offsets ${[...shown, ...more].join(', ')}${matching}${noJson}`;
}

/** What the records of a topic that the entries take show of these sides. */
async function shapesOfRecords(
  topic: string,
  entries: readonly TableSettings[],
  sides: readonly Side[],
  { settings, reader, registry, records }: ShapeSources,
): Promise<Readonly<Partial<Record<Side, Shape>>>> {
  const [formats, wanted, isTaken] = [formatsOf(settings, topic), wantedParts(entries), takenBy(entries)];
  const looked = sides.map((side) => ({ side, seen: new SideOfRecords(side, formats[side] ?? [], wanted[side]) }));
  let taken = 0n;
  const take = (read: ReadRecords) =>
    read.records.forEach((record) => {
      if (isTaken === null || isTaken(record)) {
        taken += 1n;
        for (const { seen } of looked) {
          seen.add(record);
        }
      }
    });
  const ranges = await reader.read(topic, { from: 'latest', count: records }, { take });
  const shapes: Partial<Record<Side, Shape>> = {};
  for (const { side, seen } of looked) {
    shapes[side] = await shapeOfSide(topic, seen, { ranges, ...(isTaken && { taken }) }, registry);
  }
  return shapes;
}

async function shapeOfSide(
  topic: string,
  seen: SideOfRecords,
  read: RecordsSeen,
  registry: SchemaRegistry | undefined,
): Promise<Shape> {
  const { side } = seen;
  if (read.ranges.length === 0) {
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
  seen.shape.basis = basisOf(topic, read, seen);
  return seen.shape;
}

/**
 * Reads what is known of a topic: its latest schemas, or else its last records.
 *
 * @param entries of one table that take records of the topic: records that their conditions leave out show nothing
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
  const seen = missing.length > 0 ? await shapesOfRecords(topic, entries, missing, sources) : {};
  const shapes = { ...seen, ...found };
  const unknown = unknownShape(`nothing is known of ${topic}`);
  return { topic, value: shapes.value ?? unknown, key: shapes.key ?? unknown };
}
