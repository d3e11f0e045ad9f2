import { DatabaseError, type PoolClient } from 'pg';
import { partitionKey } from '../../records/record.ts';
import type { Gap } from '../../stream/ports/record-sink.ts';
import { FatalError, OutageError } from '../../stream/ports/stream-errors.ts';
import { ofTable } from '../connection/refused-connections.ts';
import { describeDatabaseError } from '../connection/sqlstate.ts';
import { RowRefused } from '../copy/isolate-poison.ts';
import { asRefusal } from '../copy/refused-row.ts';
import type { AdmittedRecords } from '../tables/admit.ts';
import type { OwnTables } from '../tables/own-tables.ts';
import { RECORDS } from '../tables/record-rows.ts';
import { type RefusedRecord, ROWS_THAT_DELETE, sendRows, type Table } from '../tables/table.ts';

/**
 * So many rows of one COPY that a constraint or trigger refuses alike, with none that it takes, are not the fault of
 * each: fewer may be the work of one bad producer, and `deadLetters.maxRatio` bounds those.
 */
const ALIKE_ROWS = 100;

/** Violations of constraints, policies and a view's check option, and errors of triggers; a duplicate is of one row. */
const BY_TABLE = /^(23(?!505)|42501|44|P0)/;

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

/** A record whose row a table refused. */
export interface RefusedRow extends RefusedRecord {
  readonly refusedBy: Table;
  readonly cause: RowRefused;
}

/**
 * Distinguishes a constraint or a trigger that refuses every row from one that refuses some rows.
 *
 * @param records of a COPY of which these were refused
 * @throws FatalError `TABLE_REFUSES_ROWS` when all were, alike, and they are many: all stay ahead of the stored offset
 */
export function requireSomeTaken(poison: readonly RefusedRow[], records: AdmittedRecords): void {
  const [first] = poison;
  if (first === undefined || poison.length < records.length || poison.length < ALIKE_ROWS) {
    return;
  }
  const kind = violationOf(first);
  if (!BY_TABLE.test(first.cause.sqlstate) || !poison.every((other) => violationOf(other) === kind)) {
    return;
  }
  throw new FatalError(
    'TABLE_REFUSES_ROWS',
    `the table ${first.refusedBy.name} refuses each of ${poison.length} rows alike, from offset ${first.record.offset} up to ` +
      `${poison.at(-1)?.record.offset}: ${first.error}. Nothing was written, and these records ` +
      'stay ahead of the stored offset. Drop or change the constraint or trigger and start again; or set ' +
      'deadLetters.maxRatio to 1 to have such records as dead letters',
  );
}

/** The table, the SQLSTATE, and the constraint or column where there is one; a trigger's words may be of the row. */
function violationOf({ refusedBy, cause: { sqlstate, cause } }: RefusedRow): string {
  const { constraint, column } = cause instanceof DatabaseError ? cause : {};
  return [refusedBy.name, sqlstate, constraint, column].join(' ');
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
