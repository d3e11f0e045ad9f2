import type { PoolClient } from 'pg';
import type { TopicPartition } from '../../records/record.ts';
import type { Records } from '../../records/records.ts';
import { describeDatabaseError } from '../connection/sqlstate.ts';
import type { RowCopy } from '../copy/binary-copy.ts';
import { copyStatement, rowsStored } from '../copy/binary-copy.ts';
import type { RowRefused } from '../copy/isolate-poison.ts';
import { reasonOf } from '../copy/refused-row.ts';
import type { Memory } from '../copy/row-memory.ts';
import type { OwnTables } from './own-tables.ts';
import { type Admission, encodeRecords, RECORDS } from './record-rows.ts';
import type { Refusal, RowTarget, SentRows, TableRows } from './row-target.ts';
import { lockOf, type TableGuard } from './table-guard.ts';

/** The schema of `records`, and the conditions of its rows. */
interface RecordsOptions extends Admission {
  readonly schema: string;
  readonly tables: OwnTables;
  readonly allowsDroppedRows: boolean;
}

/** The table `records`: each record as it is, with its value as jsonb. */
export class RecordsTarget implements RowTarget {
  readonly name = RECORDS.table;
  readonly copy: RowCopy;
  readonly allowsDroppedRows: boolean;
  readonly #opening: string;
  readonly #admission: Admission;
  readonly #tables: OwnTables;

  constructor({ schema, tables, allowsDroppedRows, ...admission }: RecordsOptions) {
    this.copy = { statement: copyStatement(schema, RECORDS), format: 'binary', relation: RECORDS.table };
    this.#opening = lockOf(schema, RECORDS.table);
    this.allowsDroppedRows = allowsDroppedRows;
    this.#admission = admission;
    this.#tables = tables;
  }

  encode(place: TopicPartition, records: Records, memory?: Memory): TableRows {
    return encodeRecords(place, records, this.#admission, memory);
  }

  require(client: PoolClient): Promise<void> {
    return this.#tables.require(client);
  }

  requireOnce(client: PoolClient): Promise<void> {
    return this.#tables.requireOnce(client);
  }

  opening(): string {
    return this.#opening;
  }

  following(): readonly string[] {
    return [];
  }

  stored(_sent: SentRows, tags: readonly string[]): number {
    return rowsStored(tags);
  }

  /** Rows of `records` are inserted once and never wait for each other. */
  deadlocked(): void {}

  guard(client: PoolClient): TableGuard {
    return this.#tables.guard(client);
  }

  rowTriggers(client: PoolClient): readonly string[] {
    return this.#tables.rowTriggers(client);
  }

  async refusal(_client: PoolClient, { sqlstate, cause }: RowRefused): Promise<Refusal> {
    return { reason: reasonOf(sqlstate), error: describeDatabaseError(cause) };
  }
}
