import { DEAD_LETTER_REASON } from '../../../contract/dead-letter-reasons.ts';
import type { StreamRecord, TopicPartition } from '../../records/record.ts';
import type { Records } from '../../records/records.ts';
import type { WriteRequest } from '../../stream/ports/record-sink.ts';
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
