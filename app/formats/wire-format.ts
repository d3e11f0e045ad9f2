import type { RecordCursor } from '../records/record-batch.ts';
import { PREFIX_BYTES, SCHEMA_ID_FOLLOWS } from '../records/schema-prefix.ts';
import { isEqual } from '../tables/json/field-tree.ts';
import type { Side } from './parts/field-reader.ts';

/** An id that no registry gives. */
export const NO_ID = 0;

const AWS_GLUE = 0x03;
const CONFLUENT_GUID = 0x01;
const APICURIO =
  "has an id as Apicurio's older clients write it, which is not read: set as-confluent=true and headers.enabled=false at the producer";
const GUID =
  'has a schema by its GUID, which is not read: let the serializer of the producer write ids (schema.id.serializer, its prefix)';

/** Headers of formats that have no prefix, so that a value may begin with any byte; and what they say of it. */
const FOREIGN_HEADERS: Readonly<Record<Side, readonly (readonly [name: Buffer, words: string])[]>> = {
  value: foreignHeaders('value'),
  key: foreignHeaders('key'),
};

function foreignHeaders(side: Side): readonly (readonly [name: Buffer, words: string])[] {
  return [
    [Buffer.from(`__${side}_schema_id`), GUID],
    ...['contentId', 'globalId', 'contentHash', 'artifactId'].map((name): readonly [Buffer, string] => [
      Buffer.from(`apicurio.${side}.${name}`),
      APICURIO,
    ]),
  ];
}

/** What a header says of the value or the key; `null` where none is of a foreign format. */
function foreignHeader(record: RecordCursor, side: Side): string | null {
  if (record.headerCount === 0) {
    return null;
  }
  const { bytes } = record.batch;
  const reader = record.headerReader();
  for (let left = record.headerCount; left > 0; left -= 1) {
    const length = reader.skipField();
    const found = FOREIGN_HEADERS[side].find(([name]) => isEqual(name, bytes, reader.at - length, reader.at));
    if (found !== undefined) {
      return found[1];
    }
    reader.skipField();
  }
  return null;
}

/** Whether a header says that the value or the key is of a foreign format. */
export const hasForeignHeader = (record: RecordCursor, side: Side): boolean => foreignHeader(record, side) !== null;

/**
 * The id of the schema that the value or the key of a record is written by, where its bytes begin with one. It is 0
 * where they do not, or where a header says that they are of a format without a prefix. The registry is not asked then.
 */
export function schemaIdOf(record: RecordCursor, side: Side): number {
  const { batch } = record;
  const [at, length] = side === 'value' ? [record.valueAt, record.valueLength] : [record.keyAt, record.keyLength];
  const hasPrefix = length >= PREFIX_BYTES && batch.bytes[at] === SCHEMA_ID_FOLLOWS;
  return hasPrefix && foreignHeader(record, side) === null ? batch.view.getUint32(at + 1) : NO_ID;
}

/** Why the bytes of a value or a key, which has no {@link schemaIdOf | id}, cannot be read, in words. */
export function withoutSchemaId(record: RecordCursor, side: Side): string {
  const bytes = (side === 'value' ? record.value : record.key) ?? Buffer.alloc(0);
  return `its ${side} ${foreignHeader(record, side) ?? ofBytes(bytes)}`;
}

function ofBytes(bytes: Buffer): string {
  const [first] = bytes;
  switch (first) {
    case undefined:
      return 'is empty, and has no schema id';
    case SCHEMA_ID_FOLLOWS:
      return bytes.length < PREFIX_BYTES
        ? `has ${bytes.length} bytes, and a schema id alone takes ${PREFIX_BYTES}`
        : bytes.length >= PREFIX_BYTES + 4
          ? APICURIO
          : 'begins with the schema id 0, which no registry gives';
    case AWS_GLUE:
      return 'begins with 0x03, as AWS Glue writes, which is not read';
    case CONFLUENT_GUID:
      return `begins with 0x01 and so ${GUID}`;
    default:
      return `begins with 0x${first.toString(16).padStart(2, '0')}, not with a schema id: is its format json?`;
  }
}
