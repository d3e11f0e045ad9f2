import type { DeadLetter } from '../../stream/ports/dead-letter.ts';
import type { TableColumns } from '../copy/binary-copy.ts';
import { CopyBuffer } from '../copy/copy-buffer.ts';
import { writeHeaders } from '../copy/headers-json.ts';
import { postgresTimestamp } from './record-rows.ts';

/** Columns of `dead_letters` in the order in which {@link deadLetterRows} has them. */
export const DEAD_LETTERS: TableColumns = {
  table: 'dead_letters',
  columns: {
    group_id: 'text',
    topic: 'text',
    partition: 'integer',
    offset: 'bigint',
    timestamp: 'timestamp with time zone',
    key: 'bytea',
    headers: 'jsonb',
    value: 'bytea',
    reason: 'text',
    error: 'text',
    target: 'text',
    target_column: 'text',
  },
};

const DEAD_LETTER_FIELDS = Object.keys(DEAD_LETTERS.columns).length;

const FIRST_BYTES = 65_536;

/** Rows of `dead_letters`: key and value byte for byte, whatever they are; a timestamp that does not fit is NULL. */
export function deadLetterRows(letters: readonly DeadLetter[]): Buffer {
  const rows = new CopyBuffer(FIRST_BYTES);
  for (const { groupId, topic, partition, record, reason, error, target, targetColumn } of letters) {
    rows.row(DEAD_LETTER_FIELDS);
    rows.text(groupId);
    rows.text(topic);
    rows.int4(partition);
    rows.int8(record.offset);
    rows.int8(postgresTimestamp(record.timestamp));
    rows.bytes(record.key);
    writeHeaders(rows, record.headers);
    rows.bytes(record.value);
    rows.text(reason);
    rows.text(error);
    rows.text(target ?? null);
    rows.text(targetColumn ?? null);
  }
  return rows.slice(0, rows.end);
}
