import type { PoolClient } from 'pg';
import { partitionKey } from '../../records/record.ts';
import type { Gap } from '../../stream/ports/record-sink.ts';
import { FatalError, OutageError } from '../../stream/ports/stream-errors.ts';
import { ofTable } from '../connection/refused-connections.ts';
import { describeDatabaseError } from '../connection/sqlstate.ts';
import { RowRefused } from '../copy/isolate-poison.ts';
import { asRefusal } from '../copy/refused-row.ts';
import type { OwnTables } from '../tables/own-tables.ts';
import { RECORDS } from '../tables/record-rows.ts';
import { ROWS_THAT_DELETE, sendRows, type Table } from '../tables/table.ts';

/** The tables of a group. */
export interface TableOwner {
  readonly groupId: string;
  readonly ownTables: OwnTables;
}

/**
 * Whether a refusal is about the table instead of a row: then no record becomes a dead letter for it, and all stay
 * ahead of the stored offset.
 */
export class RefusingTable {
  readonly #client: PoolClient;
  readonly #owner: TableOwner;
  readonly #table: Table;
  #hasTried = false;

  constructor(client: PoolClient, owner: TableOwner, table: Table) {
    this.#client = client;
    this.#owner = owner;
    this.#table = table;
  }

  /**
   * Asked with the transaction back at its savepoint.
   *
   * @throws FatalError `RECORD_ALREADY_WRITTEN` for a duplicate of its primary key
   * @throws OutageError when the table does not even take a COPY of no rows
   */
  async requireInnocent({ index, cause }: RowRefused): Promise<void> {
    const { ownTables, groupId } = this.#owner;
    await ownTables.requireUnwritten(this.#client, groupId, cause);
    if (index === null && !this.#hasTried) {
      await this.#requireOpen();
      this.#hasTried = true;
    }
  }

  /** A statement trigger refuses a COPY whatever its rows are, and names none. */
  async #requireOpen(): Promise<void> {
    const { name } = this.#table;
    const none = { rows: [], length: 0, ...ROWS_THAT_DELETE };
    await sendRows(this.#client, this.#table, none).catch((error: unknown) => {
      if (!(asRefusal(error) instanceof RowRefused)) {
        throw ofTable(error, name);
      }
      throw new OutageError(
        `the table ${name} refuses even a COPY without rows for now: ${describeDatabaseError(error)}`,
        {
          cause: error,
          reason: 'database_busy',
          table: name,
        },
      );
    });
    await this.#client.query('ROLLBACK TO SAVEPOINT part');
  }
}

/** A COPY that stored fewer rows than it was sent, without an error: a trigger before INSERT returned NULL. */
interface DroppedRows {
  readonly table: string;
  readonly sent: number;
  readonly stored: number;
  readonly triggers: readonly string[];
  /** Whether the transaction is committed, which takes the stored offset over the rows that are missing. */
  readonly isCommitted: boolean;
}

const offsetRange = (gap: Gap): string =>
  `${partitionKey(gap)} from offset ${gap.expectedOffset} up to ${gap.nextOffset - 1n}`;

/** What became of the records, and what there is to do. */
function remedy({ table, isCommitted }: DroppedRows): string {
  const trigger =
    'Disable the trigger, or let it raise an error where it refuses a row, which makes the record a dead letter';
  if (isCommitted) {
    return (
      'The trigger was created while the consumer ran, and the transaction is COMMITTED: the missing rows are in no ' +
      `table, and the stored offsets are behind them. ${trigger}; to read these offsets again, delete the rows that ` +
      'they have in records and set next_offset in the table offsets to the first of them; then start again'
    );
  }
  const setting =
    table === RECORDS.table
      ? '; or set records.onDroppedRows: allow, which commits the other rows, and logs and counts the missing ones'
      : '';
  return `Nothing was committed, and the stored offset has not moved. ${trigger}${setting}; then start again`;
}

/** @param gaps the offsets of all records that the transaction was for */
export function droppedRows(gaps: readonly Gap[], dropped: DroppedRows): FatalError {
  const { table, sent, stored, triggers } = dropped;
  const names = triggers.length === 0 ? '' : ` (${triggers.join(', ')})`;
  return new FatalError(
    'ROWS_DROPPED',
    `the table ${table} took ${stored} of ${sent} rows of ${gaps.map(offsetRange).join(', ')}, without an error: ` +
      `a row trigger before INSERT${names} returned NULL. ${remedy(dropped)}`,
    // What is committed is missing in the table whatever comes next, and the group may have had several topics.
    dropped.isCommitted ? { topic: null } : {},
  );
}
