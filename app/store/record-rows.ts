import { isUtf8 } from 'node:buffer';
import { DEAD_LETTER_REASON, type DeadLetterReason } from '../../contract/dead-letter-reasons.ts';
import type { Settings } from '../../settings/settings.ts';
import type { DeadLetter } from '../stream/dead-letter.ts';
import { type RecordHeader, recordBytes, type StreamRecord, type TopicPartition } from '../stream/record.ts';
import { CopyBuffer, type CopyTarget } from './binary-copy.ts';
import { EncodedRows, type Refusal, type TableRows } from './row-target.ts';

/** How keys are stored: the setting `records.keyEncoding`. */
export type KeyEncoding = Settings['records']['keyEncoding'];

/** The conditions of a row that can be checked before PostgreSQL sees it. */
export interface Admission {
  readonly maxValueBytes: number;
  readonly keyEncoding: KeyEncoding;
}

/**
 * The fault of a record that is known before PostgreSQL sees it; `null` without one. Whether a value is JSON is
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

/** Columns of `records` in the order in which {@link encodeRecords} has them. */
export const RECORDS: CopyTarget = {
  table: 'records',
  columns: {
    topic: 'text',
    partition: 'integer',
    offset: 'bigint',
    timestamp: 'timestamp with time zone',
    key: 'text',
    headers: 'jsonb',
    value: 'jsonb',
  },
};

const RECORD_FIELDS = Object.keys(RECORDS.columns).length;

/** Rows of `records`. Values were found to be text before; whether they are JSON, PostgreSQL finds out. */
export function encodeRecords(
  { topic, partition }: TopicPartition,
  records: readonly StreamRecord[],
  admission: Admission,
): TableRows {
  const prefix = prefixOf(topic, partition);
  let size = 0;
  for (const record of records) {
    size += prefix.length + recordBytes(record);
  }
  const rows = new CopyBuffer(size);
  const starts = [0];
  const refused = new Map<number, Refusal>();
  for (const record of records) {
    const reason = refusal(record, admission);
    if (reason === null) {
      rows.raw(prefix);
      encode(rows, record, admission.keyEncoding);
    } else {
      refused.set(starts.length - 1, { reason, error: DEAD_LETTER_REASON[reason] });
    }
    starts.push(rows.end);
  }
  return { rows: new EncodedRows(rows.slice(0, rows.end), starts), refused };
}

/** Two lengths, the count of fields and the partition, roughly. */
const PREFIX_BYTES = 64;

/** The head of all rows of a partition. */
function prefixOf(topic: string, partition: number): Buffer {
  const prefix = new CopyBuffer(PREFIX_BYTES + topic.length);
  prefix.row(RECORD_FIELDS);
  prefix.text(topic);
  prefix.int4(partition);
  return prefix.slice(0, prefix.end);
}

function encode(
  rows: CopyBuffer,
  { offset, timestamp, key, headers, value }: StreamRecord,
  encoding: KeyEncoding,
): void {
  rows.int8(offset);
  rows.int8(postgresTimestamp(timestamp));
  rows.bytes(keyBytes(key, encoding));
  writeHeaders(rows, headers);
  rows.jsonb(value);
}

const keyBytes = (key: Buffer | null, encoding: KeyEncoding): Buffer | null =>
  key === null || encoding === 'text' ? key : Buffer.from(key.toString('base64'), 'latin1');

/** Columns of `dead_letters` in the order in which {@link deadLetterRows} has them. */
export const DEAD_LETTERS: CopyTarget = {
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

/** Whether PostgreSQL's text and jsonb can hold the bytes: UTF-8 without NUL. */
export const isText = (bytes: Buffer): boolean => isUtf8(bytes) && !bytes.includes(0);

const base64Json = (bytes: Buffer): string => `{"base64":"${bytes.toString('base64')}"}`;

const valueJson = (value: Buffer): string =>
  isText(value) ? JSON.stringify(value.toString('utf8')) : base64Json(value);

function keyJson(key: string | Buffer): string {
  if (typeof key !== 'string') {
    return base64Json(key);
  }
  return key.includes('\0') ? base64Json(Buffer.from(key, 'utf8')) : JSON.stringify(key);
}

/**
 * Headers as a JSON array of `{"key", "value"}` in record order. A key or value is text when it is UTF-8 without NUL,
 * else `{"base64": ...}`; a value may be null.
 */
export function headersJson(headers: readonly RecordHeader[]): string {
  let json = '[';
  for (const { key, value } of headers) {
    const separator = json.length === 1 ? '' : ',';
    json += `${separator}{"key":${keyJson(key)},"value":${value === null ? 'null' : valueJson(value)}}`;
  }
  return `${json}]`;
}

/** Headers whose JSON is one text: the parts of a text that grows are objects until it is written. */
const HEADERS_PER_TEXT = 1_000;

function writeHeaders(rows: CopyBuffer, headers: readonly RecordHeader[]): void {
  if (headers.length <= HEADERS_PER_TEXT) {
    rows.jsonb(headersJson(headers));
  } else {
    rows.jsonbOf(headersTexts(headers));
  }
}

/** The parts of {@link headersJson}. */
function* headersTexts(headers: readonly RecordHeader[]): Generator<string> {
  for (let from = 0; from < headers.length; from += HEADERS_PER_TEXT) {
    const text = headersJson(headers.slice(from, from + HEADERS_PER_TEXT));
    yield `${from === 0 ? '[' : ','}${text.slice(1, -1)}`;
  }
  yield ']';
}

/** Milliseconds from 1970 to 2000-01-01, where PostgreSQL's timestamps begin to count. */
const POSTGRES_EPOCH_MS = 946_684_800_000n;

/**
 * 4713 BC and 294277 AD: MIN_TIMESTAMP and END_TIMESTAMP of PostgreSQL's datatype/timestamp.h, in milliseconds since
 * 1970.
 */
const FIRST_MS = -210_866_803_200_000n;
const END_MS = 9_224_318_016_000_000n;

/** Kafka's word for "no timestamp". */
const NO_TIMESTAMP = -1n;

/** Whether a timestamptz can hold a record's timestamp; one that is not given can be NULL. */
const fitsTimestamp = (milliseconds: bigint): boolean => milliseconds >= FIRST_MS && milliseconds < END_MS;

/** A record's timestamp for PostgreSQL, in microseconds since 2000; `null` when there is none, or none that fits. */
function postgresTimestamp(milliseconds: bigint): bigint | null {
  if (milliseconds === NO_TIMESTAMP || !fitsTimestamp(milliseconds)) {
    return null;
  }
  return (milliseconds - POSTGRES_EPOCH_MS) * 1_000n;
}
