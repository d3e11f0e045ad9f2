import type { DeadLetter } from '../stream/dead-letter.ts';
import type { StreamRecord } from '../stream/record.ts';
import {
  type CopyField,
  copyBytes,
  copyInt4,
  copyInt8,
  copyJsonb,
  copyNull,
  copyText,
  encodeRow,
} from './copy-binary.ts';
import type { CopyTarget } from './copy-into.ts';
import { headersJson } from './header-json.ts';
import { postgresTimestamp } from './timestamp.ts';

/** Columns of `records` in the order in which {@link encodeRecord} writes them. */
export const RECORDS: CopyTarget = {
  table: 'records',
  columns: ['topic', 'partition', 'offset', 'timestamp', 'key', 'headers', 'value'],
};

/** Columns of `dead_letters` in the order in which {@link encodeDeadLetter} writes them. */
export const DEAD_LETTERS: CopyTarget = {
  table: 'dead_letters',
  columns: ['group_id', 'topic', 'partition', 'offset', 'timestamp', 'key', 'headers', 'value', 'reason', 'error'],
};

function timestampField(timestamp: bigint): CopyField {
  const microseconds = postgresTimestamp(timestamp);
  return typeof microseconds === 'bigint' ? copyInt8(microseconds) : copyNull;
}

/** A row of `records`; key and value were found to be text before, or PostgreSQL finds out. */
export function encodeRecord(topic: string, partition: number, record: StreamRecord): Buffer {
  const { offset, timestamp, key, headers, value } = record;
  return encodeRow([
    copyText(topic),
    copyInt4(partition),
    copyInt8(offset),
    timestampField(timestamp),
    key === null ? copyNull : copyBytes(key),
    copyJsonb(headersJson(headers)),
    value === null ? copyNull : copyJsonb(value),
  ]);
}

/** A row of `dead_letters`: key and value byte for byte, whatever they are; a timestamp that does not fit is NULL. */
export function encodeDeadLetter({ groupId, topic, partition, record, reason, error }: DeadLetter): Buffer {
  const { offset, timestamp, key, headers, value } = record;
  return encodeRow([
    copyText(groupId),
    copyText(topic),
    copyInt4(partition),
    copyInt8(offset),
    timestampField(timestamp),
    key === null ? copyNull : copyBytes(key),
    copyJsonb(headersJson(headers)),
    value === null ? copyNull : copyBytes(value),
    copyText(reason),
    copyText(error),
  ]);
}
