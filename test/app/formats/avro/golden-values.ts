import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { SchemaText } from '../../../../app/formats/avro/avro-schema.ts';
import type { FieldPath } from '../../../../app/tables/mapping/table-mapping.ts';
import { joined, long, text } from './encoding.ts';

/** A value, its schema, and paths of what a table may take of it. */
export interface GoldenValue {
  readonly schema: SchemaText;
  readonly bytes: Buffer;
  readonly paths: readonly FieldPath[];
}

const CAPTURES = join(import.meta.dirname, '../../../integration/tables/captures');
const read = (file: string): string => gunzipSync(readFileSync(join(CAPTURES, file))).toString('utf8');

interface CapturedRecord {
  readonly key: { readonly base64: string } | null;
  readonly value: { readonly base64: string } | null;
}

const PATHS: readonly FieldPath[] = [
  [],
  ['op'],
  ['after'],
  ['after', 'id'],
  ['id'],
  ['source', 'lsn'],
  ['after', 'ta', 0],
];

/** A value of each schema that Debezium wrote: the longest one. */
function capturedValues(): readonly GoldenValue[] {
  const schemas = JSON.parse(read('schemas.json.gz')) as Readonly<Record<string, { readonly schema: string }>>;
  const records = ['avro.jsonl.gz', 'avroflat.jsonl.gz']
    .flatMap((file) => read(file).trim().split('\n'))
    .map((line) => JSON.parse(line) as CapturedRecord)
    .flatMap(({ key, value }) =>
      [key, value].flatMap((each) => (each === null ? [] : Buffer.from(each.base64, 'base64'))),
    );
  return Object.entries(schemas).flatMap(([id, { schema }]) => {
    const own = records.filter((bytes) => bytes.readUInt32BE(1) === Number(id));
    const [longest] = own.sort((one, other) => other.length - one.length);
    return longest === undefined
      ? []
      : { schema: { id: Number(id), text: schema, references: [] }, bytes: longest.subarray(5), paths: PATHS };
  });
}

/** A value with every kind of type, within each other. */
function ownValue(): GoldenValue {
  const fields = {
    id: 'long',
    s: 'string',
    l: { type: 'array', items: { type: 'map', values: ['null', 'string', 'R'] } },
    d: { type: 'bytes', logicalType: 'decimal', precision: 9, scale: 2 },
    g: { type: 'bytes', logicalType: 'big-decimal' },
    e: { type: 'enum', name: 'E', symbols: ['a', 'b'] },
    n: { type: 'array', items: 'null' },
    f: 'float',
    w: 'double',
    b: 'boolean',
    x: { type: 'fixed', name: 'F', size: 3 },
    u: { type: 'fixed', name: 'U', size: 16, logicalType: 'uuid' },
    p: { type: 'fixed', name: 'P', size: 12, logicalType: 'duration' },
    t: { type: 'array', items: { type: 'long', logicalType: 'timestamp-micros' } },
    next: ['null', 'R'],
  };
  const schema = { type: 'record', name: 'R', fields: Object.entries(fields).map(([name, type]) => ({ name, type })) };
  const one = (depth: number): Buffer =>
    joined(
      ...[long(12_345_678_901), text('text é '.repeat(3))],
      ...[long(1), long(2), text('k'), long(0), text('j'), long(1), text('x"'), long(0), long(0)],
      ...[text(Buffer.from([1, 2])), text(joined(text(Buffer.from([1, 2])), long(3))), long(1)],
      ...[long(-2), long(0), long(0), Buffer.alloc(12, 1), Buffer.from([1]), Buffer.alloc(31, 7)],
      ...[long(1), long(1_795_443_420_578_620), long(0)],
      ...(depth === 0 ? [long(0)] : [long(1), one(depth - 1)]),
    );
  return {
    schema: { id: 1, text: JSON.stringify(schema), references: [] },
    bytes: one(3),
    paths: [
      [],
      ['id'],
      ['l', 0, 'j'],
      ['next', 'next'],
      ['next', 'd'],
      ['g'],
      ['f'],
      ['t'],
      ['t', 0],
      ['u'],
      ['p'],
      ['x'],
    ],
  };
}

export const goldenValues = (): readonly GoldenValue[] => [ownValue(), ...capturedValues()];
