import { DEAD_LETTER_REASON } from '../../../contract/dead-letter-reasons.ts';
import type { StreamRecord, TopicPartition } from '../../records/record.ts';
import type { Records } from '../../records/records.ts';
import type { TableCounts, TableLetters, TableRecords, WriteRequest } from '../../stream/ports/record-sink.ts';
import type { Memory } from '../copy/row-memory.ts';
import type { Refusal, RefusedRecord, Rows, Table } from './table.ts';

/** Rows of the same records for one of their tables. */
export interface TableRows {
  readonly table: Table;
  readonly rows: Rows;
}

/** Records of a request, without those that are refused before PostgreSQL has seen them. */
export class AdmittedRecords {
  /** Their partition. */
  readonly of: TopicPartition;
  readonly #records: Records;
  readonly #places: readonly number[] | null;

  /** @param places of the records that are admitted. @default all are */
  constructor(request: WriteRequest, places: readonly number[] | null = null) {
    const { topic, partition, records } = request;
    this.of = { topic, partition };
    this.#records = records;
    this.#places = places;
  }

  get length(): number {
    return this.#places?.length ?? this.#records.length;
  }

  /** Which of these are at the places in the request. */
  indexesOf(places: ReadonlySet<number>): readonly number[] {
    return this.#places === null ? [...places] : this.#places.flatMap((place, nth) => (places.has(place) ? nth : []));
  }

  /** The record, and its place in the request. */
  at(nth: number): { readonly record: StreamRecord; readonly place: number } | null {
    const place = this.#places === null ? nth : (this.#places[nth] ?? -1);
    const record = this.#records.at(place);
    return record && { record, place };
  }
}

/** The records of a request that become rows, and those that are refused before PostgreSQL has seen them. */
export interface Admitted {
  readonly admitted: AdmittedRecords;
  readonly refused: readonly RefusedRecord[];
  /** Rows of the admitted ones for each table. */
  readonly batches: readonly TableRows[];
  /** Fields that no table of the topic takes. */
  readonly unmappedFields: number;
  /** Admitted records that no table takes. */
  readonly unmatched: number;
}

/** Of a record that no table takes. */
export const UNMATCHED: Refusal = { reason: 'unmatched', error: DEAD_LETTER_REASON.unmatched };

/** Encodes the records for each table. A record that one of them cannot have has a row in none. */
export function admit(tables: readonly Table[], request: WriteRequest, memory: Memory): Admitted {
  const { records } = request;
  const encoded = tables.map((table) => ({ table, ...table.encode(request, records, memory) }));
  const unmappedFields = encoded.reduce((sum, one) => sum + (one.unmappedFields ?? 0), 0);
  const inNone = unmatchedIn(encoded);
  const letters = tables.some((table) => table.refusesUnmatched) ? inNone : NONE;
  const unmatched = inNone.size - letters.size;
  if (letters.size === 0 && encoded.every(({ refused }) => refused.size === 0)) {
    return { admitted: new AdmittedRecords(request), refused: [], batches: encoded, unmappedFields, unmatched };
  }
  const refused: RefusedRecord[] = [];
  const kept: number[] = [];
  for (let place = 0; place < records.length; place += 1) {
    const ofTable = encoded.find((one) => one.refused.has(place))?.refused.get(place);
    const refusal = ofTable ?? (letters.has(place) ? UNMATCHED : undefined);
    const record = refusal && records.at(place);
    if (refusal && record) {
      refused.push({ record, place, ...refusal });
    } else {
      kept.push(place);
    }
  }
  return {
    admitted: new AdmittedRecords(request, kept),
    refused,
    batches: encoded.map(({ table, rows }) => ({ table, rows: rows.of(kept) })),
    unmappedFields,
    unmatched,
  };
}

const NONE: ReadonlySet<number> = new Set();

/** Places of the records that no table takes. */
function unmatchedIn([first, ...others]: readonly { readonly rows: Rows }[]): ReadonlySet<number> {
  if (first === undefined || first.rows.unmatched.size === 0) {
    return NONE;
  }
  return new Set([...first.rows.unmatched].filter((place) => others.every(({ rows }) => rows.unmatched.has(place))));
}

/**
 * What was done with the records of a committed transaction in tables of the user's own, for the metrics.
 *
 * @param poison records that PostgreSQL refused in it. @default none
 * @returns `undefined` where the topic has no table of the user's own
 */
export function tableCounts(
  { admitted, refused, batches, unmappedFields, unmatched }: Admitted,
  poison: readonly RefusedRecord[] = [],
): TableCounts | undefined {
  if (batches.every(({ table }) => table.operation === undefined)) {
    return undefined;
  }
  const places = admitted.indexesOf(new Set(poison.map(({ place }) => place)));
  const operations = operationsOf(batches, admitted.length, places);
  return { operations, deadLetters: lettersOf([...refused, ...poison]), unmappedFields, unmatched };
}

/**
 * Records by table and by what became of them there; those that a table does not take are none of it.
 *
 * @param records how many the rows are of
 * @param refused places of those that are dead letters
 */
function operationsOf(
  batches: readonly TableRows[],
  records: number,
  refused: readonly number[],
): readonly TableRecords[] {
  return batches.flatMap(({ table: { name: table, operation }, rows }) => {
    if (operation === undefined) {
      return [];
    }
    const written = refused.reduce((left, place) => left - rows.rowsIn(place, place + 1), rows.length);
    const letters = new Set(refused);
    const [deletes = 0, unmatched = 0] = [rows.deletes, rows.unmatched].map(
      (places) => [...places].filter((place) => !letters.has(place)).length,
    );
    const counts = [
      { table, operation, records: written - deletes },
      { table, operation: 'delete', records: deletes },
      { table, operation: 'skip', records: records - refused.length - written - unmatched },
    ] as const;
    return counts.filter((count) => count.records > 0);
  });
}

/** Those that a table of the user's own made. */
function lettersOf(letters: readonly RefusedRecord[]): readonly TableLetters[] {
  const counts = new Map<string, TableLetters>();
  for (const { target: table, targetColumn: column = '', reason } of letters) {
    if (table !== undefined) {
      const key = JSON.stringify([table, column, reason]);
      counts.set(key, { table, column, reason, records: (counts.get(key)?.records ?? 0) + 1 });
    }
  }
  return [...counts.values()];
}
