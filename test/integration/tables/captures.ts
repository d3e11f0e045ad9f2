import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { KeyedRecord } from './open-keyed.ts';

/**
 * What Debezium 3.7.0 and Kafka Connect 4.3.1 wrote of tables of PostgreSQL 18.4: a snapshot and a stream of changes,
 * once for each way of writing. `json` has no schemas, and `replace.null.with.default` as it is left out; `schema` has
 * schemas; `iso` has neither, with times in ISO 8601 and decimals and intervals as texts; `flat` is what
 * ExtractNewRecordState makes of `json`.
 */
export type Capture = 'json' | 'schema' | 'flat' | 'iso';

/** The rows that the source had in the end, each column as text. */
export interface SourceTable {
  /** Names and types. */
  readonly columns: Readonly<Record<string, string>>;
  readonly rows: readonly (readonly (string | null)[])[];
}

const FOLDER = join(import.meta.dirname, 'captures');

const read = (file: string): string => gunzipSync(readFileSync(join(FOLDER, file))).toString('utf8');

interface CapturedRecord {
  readonly topic: string;
  readonly key: string | null;
  readonly value: string | null;
}

/** The records of a table, in their order. */
export const capturedRecords = (capture: Capture, table: string): readonly KeyedRecord[] =>
  read(`${capture}.jsonl.gz`)
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as CapturedRecord)
    .filter(({ topic }) => topic === `${capture}.public.${table}`)
    .map(({ key, value }) => ({ key, value }));

export const sourceTable = (table: string): SourceTable => {
  const tables = JSON.parse(read('expected.json.gz')) as Readonly<Record<string, SourceTable>>;
  const found = tables[`public.${table}`];
  if (found === undefined) {
    throw new Error(`no table ${table} was captured`);
  }
  return found;
};
