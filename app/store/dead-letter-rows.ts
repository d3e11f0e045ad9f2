import type { DeadLetter } from '../stream/dead-letter.ts';
import type { CopyTarget } from './binary-copy.ts';
import { CopyBuffer } from './copy-buffer.ts';
import { headersJson } from './header-json.ts';
import { postgresTimestamp } from './timestamp.ts';

/** Columns of `dead_letters` in the order in which {@link deadLetterRows} has them. */
export const DEAD_LETTERS: CopyTarget = {
  table: 'dead_letters',
  columns: ['group_id', 'topic', 'partition', 'offset', 'timestamp', 'key', 'headers', 'value', 'reason', 'error'],
};

const FIRST_BYTES = 65_536;

/** Rows of `dead_letters`: key and value byte for byte, whatever they are; a timestamp that does not fit is NULL. */
export function deadLetterRows(letters: readonly DeadLetter[]): Buffer {
  const rows = new CopyBuffer(FIRST_BYTES);
  for (const { groupId, topic, partition, record, reason, error } of letters) {
    rows.row(DEAD_LETTERS.columns.length);
    rows.text(groupId);
    rows.text(topic);
    rows.int4(partition);
    rows.int8(record.offset);
    rows.int8(postgresTimestamp(record.timestamp));
    rows.bytes(record.key);
    rows.jsonb(headersJson(record.headers));
    rows.bytes(record.value);
    rows.text(reason);
    rows.text(error);
  }
  return rows.slice(0, rows.end);
}
