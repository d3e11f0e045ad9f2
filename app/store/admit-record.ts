import { isUtf8 } from 'node:buffer';
import type { DeadLetterReason } from '../../contract/dead-letter-reasons.ts';
import type { StreamRecord } from '../stream/record.ts';
import { isText } from './header-json.ts';
import type { KeyEncoding } from './record-rows.ts';
import { fitsTimestamp } from './timestamp.ts';

/** What decides whether a record can become a row, as far as it can be seen before PostgreSQL sees it. */
export interface Admission {
  readonly maxValueBytes: number;
  readonly keyEncoding: KeyEncoding;
}

/**
 * What is known to be wrong with a record before PostgreSQL sees it; `null` when nothing is. Whether a value is JSON is
 * for PostgreSQL alone to say: its parser is the one that counts.
 */
export function refusal(record: StreamRecord, { maxValueBytes, keyEncoding }: Admission): DeadLetterReason | null {
  const { key, value, timestamp } = record;
  if (keyEncoding === 'text' && key !== null && !isText(key)) {
    return 'key_not_text';
  }
  if (!fitsTimestamp(timestamp)) {
    return 'timestamp_out_of_range';
  }
  if (value === null) {
    return null;
  }
  if (value.length > maxValueBytes) {
    return 'value_too_large';
  }
  if (!isUtf8(value)) {
    return 'invalid_utf8';
  }
  return value.includes(0) ? 'nul_character' : null;
}

/** Why PostgreSQL refused a row, by SQLSTATE (documentation, appendix A). */
export function reasonOf(sqlstate: string): DeadLetterReason {
  const reasons: Readonly<Record<string, DeadLetterReason>> = {
    '22P02': 'invalid_json',
    '22021': 'invalid_utf8',
    '22P05': 'nul_character',
    '22003': 'number_out_of_range',
    '54001': 'nesting_too_deep',
    '54000': 'jsonb_limit_exceeded',
  };
  return reasons[sqlstate] ?? 'rejected_by_database';
}
