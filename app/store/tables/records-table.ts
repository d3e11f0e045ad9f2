import type { PoolClient } from 'pg';
import type { TopicPartition } from '../../records/record.ts';
import type { Records } from '../../records/records.ts';
import { describeDatabaseError } from '../connection/sqlstate.ts';
import type { RowCopy } from '../copy/binary-copy.ts';
import { copyStatement, rowsStored } from '../copy/binary-copy.ts';
import type { RowRefused } from '../copy/isolate-poison.ts';
import { reasonOfSqlstate } from '../copy/refused-row.ts';
import type { Memory } from '../copy/row-memory.ts';
import type { OwnTables } from './own-tables.ts';
import { type Admission, encodeRecords, RECORDS, type RecordDecoders } from './record-rows.ts';
import type { Copying, EncodedRecords, Refusal, Table } from './table.ts';
import { lockOf, type TableGuard } from './table-guard.ts';

/** The schema of `records`, and the conditions of its rows. */
interface RecordsOptions extends Admission {
  readonly schema: string;
  readonly ownTables: OwnTables;
  readonly allowsDroppedRows: boolean;
  readonly decoderOf: RecordDecoders;
}

/** The table `records`: each record as it is, with its value as jsonb. */
export class RecordsTable implements Table {
  readonly name = RECORDS.table;
  readonly copy: RowCopy;
  readonly allowsDroppedRows: boolean;
  readonly #opening: string;
  readonly #admission: Admission;
  readonly #ownTables: OwnTables;
  readonly #decoderOf: RecordDecoders;

  constructor({ schema, ownTables, allowsDroppedRows, decoderOf, ...admission }: RecordsOptions) {
    this.copy = { statement: copyStatement(schema, RECORDS), format: 'binary', relation: RECORDS.table };
    this.#opening = lockOf(schema, RECORDS.table);
    this.allowsDroppedRows = allowsDroppedRows;
    this.#admission = admission;
    this.#ownTables = ownTables;
    this.#decoderOf = decoderOf;
  }

  encode(place: TopicPartition, records: Records, memory?: Memory): EncodedRecords {
    return encodeRecords(place, records, this.#admission, { memory, decoder: this.#decoderOf(place.topic) });
  }

  require(client: PoolClient): Promise<void> {
    return this.#ownTables.require(client);
  }

  requireOnce(client: PoolClient): Promise<void> {
    return this.#ownTables.requireOnce(client);
  }

  opening(): string {
    return this.#opening;
  }

  copying(): Copying {
    return { statements: [this.copy.statement], stored: (_sent, tags) => rowsStored(tags) };
  }

  guard(client: PoolClient): TableGuard {
    return this.#ownTables.guard(client);
  }

  rowTriggers(client: PoolClient): readonly string[] {
    return this.#ownTables.rowTriggers(client);
  }

  async refusal(_client: PoolClient, { sqlstate, cause }: RowRefused): Promise<Refusal> {
    return { reason: reasonOfSqlstate(sqlstate), error: describeDatabaseError(cause) };
  }
}
