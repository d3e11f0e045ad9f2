import { partitionKey } from '../../records/record.ts';
import type { Gap } from '../../stream/ports/record-sink.ts';
import { FatalError } from '../../stream/ports/stream-errors.ts';
import { RECORDS } from '../tables/record-rows.ts';

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
