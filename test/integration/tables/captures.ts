import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { Schemas } from '../../../app/formats/registry/schemas.ts';
import type { KeyedRecord } from './open-keyed.ts';

/**
 * What Debezium 3.7.0 and Kafka Connect 4.3.1 wrote of tables of PostgreSQL 18.4: a snapshot and a stream of changes,
 * once for each way of writing. `json` has no schemas, and `replace.null.with.default` as it is left out; `schema` has
 * schemas; `iso` has neither, with times in ISO 8601 and decimals and intervals as texts; `flat` is what
 * ExtractNewRecordState makes of `json`. `avro` and `avroflat` are the same two by Apicurio's AvroConverter.
 */
export type Capture = 'json' | 'schema' | 'flat' | 'iso' | 'avro' | 'avroflat';

/** The rows that the source had in the end, each column as text. */
export interface SourceTable {
  /** Names and types. */
  readonly columns: Readonly<Record<string, string>>;
  readonly rows: readonly (readonly (string | null)[])[];
}

const FOLDER = join(import.meta.dirname, 'captures');

const read = (file: string): string => gunzipSync(readFileSync(join(FOLDER, file))).toString('utf8');

type CapturedBytes = string | { readonly base64: string } | null;

interface CapturedRecord {
  readonly topic: string;
  readonly key: CapturedBytes;
  readonly value: CapturedBytes;
}

const bytesOf = (captured: CapturedBytes): string | Buffer | null =>
  typeof captured === 'object' && captured !== null ? Buffer.from(captured.base64, 'base64') : captured;

/** The records of a table, in their order. */
export const capturedRecords = (capture: Capture, table: string): readonly KeyedRecord[] =>
  read(`${capture}.jsonl.gz`)
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as CapturedRecord)
    .filter(({ topic }) => topic === `${capture}.public.${table}`)
    .map(({ key, value }) => ({ key: bytesOf(key), value: bytesOf(value) }));

export const sourceTable = (table: string): SourceTable => {
  const tables = JSON.parse(read('expected.json.gz')) as Readonly<Record<string, SourceTable>>;
  const found = tables[`public.${table}`];
  if (found === undefined) {
    throw new Error(`no table ${table} was captured`);
  }
  return found;
};

/** The schemas of `avro` and `avroflat`, as the registry had them. */
export function capturedSchemas(): Schemas {
  const answers = JSON.parse(read('schemas.json.gz')) as Readonly<Record<string, { readonly schema: string }>>;
  const schemas = new Map(
    Object.entries(answers).map(([id, { schema }]) => [
      Number(id),
      { id: Number(id), type: 'AVRO' as const, text: schema, references: [] },
    ]),
  );
  return { of: (id) => schemas.get(id), fetch: async () => undefined };
}
