import { FieldReaders } from '../../../../app/formats/field-readers.ts';
import type { RegisteredSchema, UnusableSchema } from '../../../../app/formats/registry/schemas.ts';
import { recordsOf } from '../../../../app/records/pack-records.ts';
import type { RecordHeader } from '../../../../app/records/record.ts';
import type { ColumnType, MappedColumn, TableMapping } from '../../../../app/tables/mapping/table-mapping.ts';
import { TableEncoder } from '../../../../app/tables/table/table-encoder.ts';
import type { TopicFormats } from '../../../../settings/sections/formats.ts';
import { aRecord } from '../../stream/records.ts';

export type Kind = Exclude<ColumnType['kind'], 'array' | 'composite'>;

export const column = (name: string, kind: Kind, source?: MappedColumn['source']): MappedColumn => ({
  name,
  type: { kind, name: kind },
  source: source ?? { kind: 'field', path: [name] },
  isNotNull: name === 'id',
  hasDefault: false,
});

export const WHOLE: MappedColumn['source'] = { kind: 'field', path: [] };
export const ofKey = (...path: readonly string[]): MappedColumn['source'] => ({ kind: 'key', path });

export const mappingOf = (columns: readonly MappedColumn[], keyColumns: readonly string[] = []): TableMapping => ({
  ...{ schema: 'public', table: 'orders', topics: ['orders'], columns },
  key: keyColumns.length === 0 ? null : { columns: keyColumns, existing: 'replace', delete: 'tombstones' },
  stage:
    keyColumns.length === 0
      ? null
      : { columns: [], equality: {}, tableOid: 1, overridesIdentity: false, mayDropRows: false },
});

const MICROS = { type: 'integer', title: 'io.debezium.time.MicroTimestamp' };
const JSON_SCHEMA: RegisteredSchema = {
  id: 7,
  type: 'JSON',
  text: JSON.stringify({ type: 'object', properties: { id: { type: 'integer' }, at: MICROS } }),
  references: [],
};
const PROTOBUF = `syntax = "proto3"; import "line.proto"; import "google/protobuf/timestamp.proto";
  message Order { int32 id = 1; google.protobuf.Timestamp at = 2; Line line = 3; message Inner { int32 id = 1; } }
  message Other { optional int32 id = 9; int64 at = 2; }`;
const LINE = 'syntax = "proto3"; message Line { string sku = 1; }';
export const SCHEMAS = new Map<number, RegisteredSchema | UnusableSchema>([
  [7, JSON_SCHEMA],
  [8, { ...JSON_SCHEMA, id: 8, text: '{}' }],
  [9, { id: 9, reason: 'unknown_schema', words: 'the registry has no schema 9' }],
  [10, { ...JSON_SCHEMA, id: 10, text: '{' }],
  [11, { ...JSON_SCHEMA, id: 11, type: 'PROTOBUF', text: 'message M {' }],
  [13, { id: 13, type: 'PROTOBUF', text: PROTOBUF, references: [{ name: 'line.proto', text: LINE }] }],
]);

export const registered = (id: number, json: string): Buffer =>
  Buffer.concat([Buffer.from([0, 0, 0, 0, id]), Buffer.from(json, 'utf8')]);

interface Given {
  readonly key?: Buffer | string | null;
  readonly value: Buffer | string | null;
  readonly headers?: readonly RecordHeader[];
}

const bytes = (given: Buffer | string | null): Buffer | null =>
  typeof given === 'string' ? Buffer.from(given, 'utf8') : given;

/** The rows, without what a stage needs; reasons and words of what is refused. */
export function linesOf(mapping: TableMapping, formats: Partial<TopicFormats>, ...given: readonly Given[]) {
  const readers = new FieldReaders(() => ({ key: undefined, value: ['json'], ...formats }), {
    of: (id) => SCHEMAS.get(id),
    fetch: async () => undefined,
  });
  const encoder = new TableEncoder(mapping, { maxValueBytes: 10_000, takesDefaults: false }, undefined, readers);
  const records = recordsOf(
    given.map(({ key = null, value, headers = [] }, nth) =>
      aRecord(BigInt(nth), { key: bytes(key), value: bytes(value), headers }),
    ),
  );
  const { rows, refused } = encoder.encode({ topic: 'orders', partition: 0 }, records);
  return given.map((_, nth) => {
    const line = rows.part(nth, nth + 1).toString('utf8');
    const { reason, error = '' } = refused.get(nth) ?? {};
    return reason === undefined
      ? line.replace(/\n$/, '').replace(/\t[0-9]+\t([ud])(\t|$)/, ' $1')
      : `${reason}: ${error.replace(/^not for public\.orders(?:, column ("[a-z]+"))?: /, '$1 ').trim()}`;
  });
}
