import type { PoolClient } from 'pg';
import type { TableOperation } from '../../../contract/metrics/definition.ts';
import type { StreamRecord, TopicPartition } from '../../records/record.ts';
import type { Records } from '../../records/records.ts';
import type { DeadLetter } from '../../stream/ports/dead-letter.ts';
import { CopyQuery, type RowCopy } from '../copy/binary-copy.ts';
import type { RowRefused } from '../copy/isolate-poison.ts';
import type { Memory } from '../copy/row-memory.ts';
import type { RowStatement } from '../copy/row-statements.ts';
import type { TableGuard } from './table-guard.ts';

/** Why a record cannot be a row, in words that do not quote it. */
export type Refusal = Pick<DeadLetter, 'reason' | 'error' | 'target' | 'targetColumn'>;

/** The record of a row that PostgreSQL refused, with its topic and partition. */
export interface RefusedOf extends TopicPartition {
  readonly record: StreamRecord;
}

/** A record that does not become a row of any table. */
export interface RefusedRecord extends Refusal, Pick<DeadLetter, 'record'> {
  /** Its place among the records of the request. */
  readonly place: number;
}

const NO_PLACES: ReadonlySet<number> = new Set();

/** What rows do beside being inserted: the statements around their COPY depend on it. */
export interface RowKinds {
  /** Whether some say that others are deleted. */
  readonly hasDeletes: boolean;
  /** Places of the columns of which some rows keep what the table has. */
  readonly kept: ReadonlySet<number>;
}

/** Rows of every kind that any table knows, for statements before any rows are known. */
export const ROWS_THAT_DELETE: RowKinds = { hasDeletes: true, kept: NO_PLACES };

/** What several rows do. */
export const allKinds = (kinds: readonly RowKinds[]): RowKinds => ({
  hasDeletes: kinds.some(({ hasDeletes }) => hasDeletes),
  kept: new Set(kinds.flatMap(({ kept }) => [...kept])),
});

/** What rows are beside rows that are inserted. */
interface RowPlaces {
  /** Places of the records whose row says that another one is deleted. @default none */
  readonly deletes?: ReadonlySet<number>;
  /** Places of the records that the table does not take, which have no row. @default none */
  readonly unmatched?: ReadonlySet<number>;
  /** Places of the columns of which some rows keep what the table has. @default none */
  readonly kept?: ReadonlySet<number>;
}

/** The encoded rows of records for one table: a row, or none, for each record. Any part can be sent. */
export class Rows {
  readonly #bytes: Buffer;
  readonly #starts: Uint32Array;
  readonly deletes: ReadonlySet<number>;
  readonly unmatched: ReadonlySet<number>;
  readonly #kept: ReadonlySet<number>;
  /** How many rows they are. */
  readonly length: number;

  /**
   * @param bytes the rows, without head and end of their format
   * @param starts where the row of each record begins, and where the last one ends: a record without a row has the
   * start of the next one
   */
  constructor(bytes: Buffer, starts: Uint32Array, places: RowPlaces = {}) {
    this.#bytes = bytes;
    this.#starts = starts;
    this.deletes = places.deletes ?? NO_PLACES;
    this.unmatched = places.unmatched ?? NO_PLACES;
    this.#kept = places.kept ?? NO_PLACES;
    this.length = this.rowsIn(0, starts.length - 1);
  }

  get kinds(): RowKinds {
    return { hasDeletes: this.deletes.size > 0, kept: this.#kept };
  }

  get all(): Buffer {
    return this.part(0, this.#starts.length - 1);
  }

  /** The rows of the records `from` up to but without `to`; the memory is shared. */
  part(from: number, to: number): Buffer {
    return this.#bytes.subarray(this.#starts[from] ?? 0, this.#starts[to] ?? 0);
  }

  /** How many rows {@link part} has. */
  rowsIn(from: number, to: number): number {
    let rows = 0;
    for (let record = from; record < to; record += 1) {
      rows += this.#hasRow(record) ? 1 : 0;
    }
    return rows;
  }

  /** The record of a row, counted from the first row of the records `from` up to `to`; `null` when they have fewer. */
  recordOf(row: number, from: number, to: number): number | null {
    let left = row;
    for (let record = from; record < to; record += 1) {
      if (this.#hasRow(record) && left-- === 0) {
        return record;
      }
    }
    return null;
  }

  /** The rows of these records alone, in their order. */
  of(records: readonly number[]): Rows {
    const parts = records.map((record) => this.part(record, record + 1));
    const starts = new Uint32Array(records.length + 1);
    for (const [nth, part] of parts.entries()) {
      starts[nth + 1] = (starts[nth] ?? 0) + part.length;
    }
    const placesOf = (all: ReadonlySet<number>) =>
      new Set(records.flatMap((record, place) => (all.has(record) ? place : [])));
    return new Rows(Buffer.concat(parts), starts, {
      deletes: placesOf(this.deletes),
      unmatched: placesOf(this.unmatched),
      kept: this.#kept,
    });
  }

  #hasRow(record: number): boolean {
    return this.#starts[record] !== this.#starts[record + 1];
  }
}

/** Rows of records for one table, and the records that can have none, by their places. */
export interface EncodedRecords {
  readonly rows: Rows;
  readonly refused: ReadonlyMap<number, Refusal>;
  /** Fields of the values of the others that no table of the topic takes. @default 0 */
  readonly unmappedFields?: number;
}

/** Statements that take rows into a table. */
export interface Copying {
  /** The COPY, and behind it what moves its rows to the table where it does not go there itself. */
  readonly statements: readonly string[];
  /** Rows that are stored of those sent, by the tags of the statements: fewer where a trigger dropped some. */
  stored(sent: number, tags: readonly string[]): number;
}

/** What takes a few rows into a table, in the place of a {@link Copying} and the guard before it. */
export interface FewRows {
  readonly guard: TableGuard;
  /** Stores each row, or finds that the table has it or a newer one. */
  readonly statement: RowStatement;
}

/**
 * A table that records become rows of, in the transaction that moves their offset: `records`, or one of the user's own.
 */
export interface Table {
  /** For messages: `records`, or the schema and the name of another table. */
  readonly name: string;
  readonly copy: RowCopy;
  /** What a row does to a table of the user's own. Left out: the table is `records`. */
  readonly operation?: TableOperation;
  /** Whether a record that no table of its topic takes is a dead letter. Left out: it is counted. */
  readonly refusesUnmatched?: boolean;
  /** Whether the rows that a trigger leaves are committed without the ones that it drops. */
  readonly allowsDroppedRows: boolean;
  /** @param memory where that of the rows comes from. @default new memory */
  encode(place: TopicPartition, records: Records, memory?: Memory): EncodedRecords;
  /**
   * Asks the catalog whether the table is what rows are encoded for.
   *
   * @throws FatalError `TABLE_MISMATCH` when it is not; nothing was written of the records in hand
   */
  require(client: PoolClient): Promise<void>;
  /** {@link require}, once for each connection. */
  requireOnce(client: PoolClient): Promise<void>;
  /**
   * Statements in a transaction before its first COPY: they take the locks, and set what the text of values is read by.
   */
  opening(kinds: RowKinds): string;
  /** The same on a connection that knows the table, with what shows whether the table was altered. */
  guard(client: PoolClient, batch: RowBatch): TableGuard;
  copying(kinds: RowKinds): Copying;
  /**
   * What takes the few rows that a transaction has for the table, with the same outcome as {@link copying} and for
   * less; `null` where that way alone takes them. Left out: it always does.
   */
  fewRows?(client: PoolClient, batch: RowBatch): FewRows | null;
  /**
   * Asked with the rows in their stage, when fewer were stored than sent. Left out: no row keeps anything.
   *
   * @throws RowRefused for the first row that keeps columns of one that is not there
   */
  requireKept?(client: PoolClient, kinds: RowKinds): Promise<void>;
  /** Names of the triggers that may drop rows, as this connection has found them. */
  rowTriggers(client: PoolClient): readonly string[];
  /**
   * Why PostgreSQL refused a row; asked on a connection without a failed transaction.
   *
   * @param of the record of the row
   */
  refusal(client: PoolClient, refused: RowRefused, of: RefusedOf): Promise<Refusal>;
}

/** Encoded rows of a table, how many they are, and what they do. */
export interface RowBatch extends RowKinds {
  /** In pieces, one behind the other. */
  readonly rows: readonly Buffer[];
  readonly length: number;
}

/**
 * Sends rows within a transaction that has been opened for them. Rejects with PostgreSQL's error; the connection can be
 * used again after a `ROLLBACK TO SAVEPOINT`.
 *
 * @returns how many were stored
 */
export async function sendRows(client: PoolClient, table: Table, sent: RowBatch): Promise<number> {
  const { statements, stored } = table.copying(sent);
  const count = stored(sent.length, await copyRows(client, table.copy, sent.rows, statements));
  if (count < sent.length) {
    await table.requireKept?.(client, sent);
  }
  return count;
}

/** Sends rows with statements that begin with their COPY. @returns the tags of the statements */
export async function copyRows(
  client: PoolClient,
  { emptying, format }: RowCopy,
  rows: readonly Buffer[],
  statements: readonly string[],
): Promise<readonly string[]> {
  const first = emptying === undefined ? [] : [emptying];
  const tags = await client.query(new CopyQuery([...first, ...statements].join('; '), [{ format, rows }])).tags;
  return tags.slice(first.length);
}
