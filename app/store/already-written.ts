import { DatabaseError } from 'pg';
import { FatalError } from '../stream/stream-errors.ts';

const OWN_KEYS = new Set(['records_pkey', 'dead_letters_pkey']);

/** Our own primary key in the way is no fault of the record: somebody else wrote it, and dead letters would hide that. */
export function alreadyWritten(error: unknown, groupId: string): FatalError | null {
  if (!(error instanceof DatabaseError) || error.code !== '23505' || !OWN_KEYS.has(error.constraint ?? '')) {
    return null;
  }
  return new FatalError(
    'RECORD_ALREADY_WRITTEN',
    `the table ${error.table} already holds a record that group ${groupId} has not written yet: ${error.detail ?? ''} ` +
      `Another group writes into this schema, or the row of group ${groupId} in the table offsets was lost or set back. ` +
      'Give each group its own database.schema, or set next_offset behind the last record in the table, and start again',
    { cause: error },
  );
}
