import { isUtf8 } from 'node:buffer';
import { DEAD_LETTER_REASON, type DeadLetterReason } from '../../../contract/dead-letter-reasons.ts';
import type { Settings } from '../../../settings/settings.ts';
import type { StreamRecord, TopicPartition } from '../../records/record.ts';
import { NO_TIMESTAMP, type RecordCursor } from '../../records/record-batch.ts';
import type { Records } from '../../records/records.ts';
import { wordsOfJson } from '../../records/schema-prefix.ts';
import type { TableColumns } from '../copy/binary-copy.ts';
import { CopyBuffer } from '../copy/copy-buffer.ts';
import { isPostgresText, writeHeadersOf } from '../copy/headers-json.ts';
import type { Memory } from '../copy/row-memory.ts';
import { type EncodedRecords, type Refusal, Rows } from './table.ts';

/** How keys are stored: the setting `records.keyEncoding`. */
export type KeyEncoding = Settings['records']['keyEncoding'];

/** A record of a topic whose format is another one than JSON, as `records` takes it. */
export interface DecodedRecord {
  /** Left out: the key is text. */
  readonly key?: string | null;
  /** As JSON. Left out: the value is JSON. */
  readonly value?: string | null;
}

/** Decodes records of one topic. */
export interface RecordDecoder {
  /** @throws OutageError where a schema is needed that was not fetched */
  decode(record: RecordCursor): DecodedRecord | Pick<Refusal, 'reason' | 'error'>;
}

/** The decoder of a topic; `null` where its values are JSON, and its keys are text. */
export type RecordDecoders = (topic: string) => RecordDecoder | null;

/** The conditions of a row that can be checked before PostgreSQL sees it. */
export interface Admission {
  readonly maxValueBytes: number;
  readonly keyEncoding: KeyEncoding;
}

/**
 * The fault of a record that is known before PostgreSQL sees it; `null` without one. Whether a value is JSON is
 * for PostgreSQL alone to say: its parser is the one that counts.
 */
export function reasonToRefuse(
  record: Pick<StreamRecord, 'key' | 'value' | 'timestamp'>,
  { maxValueBytes, keyEncoding }: Admission,
): DeadLetterReason | null {
  const { key, value, timestamp } = record;
  if (keyEncoding === 'text' && key !== null && !isPostgresText(key)) {
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
export const RECORDS: TableColumns = {
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

/** Beside what a record counts for: the fields' lengths and numbers, and what JSON adds to a header. */
const ROW_BYTES = 48;

/**
 * Rows of `records`. Whether a value is JSON, PostgreSQL finds out.
 *
 * @param options memory where that of the rows comes from, and what decodes the topic's records
 */
export function encodeRecords(
  place: TopicPartition,
  records: Records,
  admission: Admission,
  { memory, decoder = null }: RowOptions = {},
): EncodedRecords {
  const rows = new CopyBuffer(records.bytes + records.length * (HEAD_BYTES + place.topic.length + ROW_BYTES), memory);
  const head = writeHead(rows, place);
  const starts = new Uint32Array(records.length + 1);
  let refused: Map<number, Refusal> | null = null;
  records.forEach((record, nth) => {
    const start = rows.end;
    rows.repeat(head);
    const refusal =
      decoder === null ? writeSent(rows, record, admission) : writeDecoded(rows, record, admission, decoder);
    if (refusal !== null) {
      rows.takeBack(start);
      refused ??= new Map();
      refused.set(nth, refusal);
    }
    starts[nth + 1] = rows.end;
  });
  return { rows: new Rows(rows.slice(0, rows.end), starts), refused: refused ?? NONE_REFUSED };
}

/** What rows are made with. */
interface RowOptions {
  /** @default new memory */
  readonly memory?: Memory | undefined;
  /** @default values are JSON, and keys are text */
  readonly decoder?: RecordDecoder | null;
}

const NONE_REFUSED: ReadonlyMap<number, Refusal> = new Map();

const writeSent = (rows: CopyBuffer, record: RecordCursor, admission: Admission): Refusal | null =>
  writeRow(rows, record, admission) ? null : refusalWithWords(record, admission);

function writeDecoded(
  rows: CopyBuffer,
  record: RecordCursor,
  admission: Admission,
  decoder: RecordDecoder,
): Refusal | null {
  const decoded = decodedRecord(record, admission, decoder);
  if ('reason' in decoded) {
    return decoded;
  }
  return writeRow(rows, record, admission, decoded) ? null : refusalWithWords(record, admission, decoded);
}

/** A record as its row has it; or why it has none, as far as that is known before PostgreSQL sees it. */
export function decodedRecord(
  record: RecordCursor,
  { maxValueBytes }: Admission,
  decoder: RecordDecoder,
): DecodedRecord | Refusal {
  if (record.valueLength > maxValueBytes) {
    return { reason: 'value_too_large', error: DEAD_LETTER_REASON.value_too_large };
  }
  const decoded = decoder.decode(record);
  return 'key' in decoded && decoded.key?.includes('\0') === true
    ? { reason: 'key_not_text', error: DEAD_LETTER_REASON.key_not_text }
    : decoded;
}

function refusalWithWords(record: RecordCursor, admission: Admission, decoded: DecodedRecord = {}): Refusal {
  const reason = reasonToRefuse(
    {
      key: decoded.key === undefined ? record.key : null,
      value: decoded.value === undefined ? record.value : null,
      timestamp: record.timestamp,
    },
    admission,
  );
  if (reason === null) {
    throw new Error(`the record at offset ${record.offset} has no row, and no fault`);
  }
  return { reason, error: wordsOf(reason, decoded.value === undefined ? record.value : null) };
}

/** A fault of a value by its reason, and what the value looks like. */
const wordsOf = (reason: DeadLetterReason, value: Buffer | null): string =>
  (reason === 'invalid_utf8' || reason === 'nul_character' ? value && wordsOfJson(value, 0, value.length) : null) ??
  DEAD_LETTER_REASON[reason];

/** Two lengths, the count of fields and the partition. */
const HEAD_BYTES = 14;

/** Puts where the first row will be what all rows of a partition begin with. @returns its length */
function writeHead(rows: CopyBuffer, { topic, partition }: TopicPartition): number {
  rows.row(RECORD_FIELDS);
  rows.text(topic);
  rows.int4(partition);
  const length = rows.end;
  rows.takeBack(0);
  return length;
}

const AS_SENT: DecodedRecord = {};

/** @returns whether the record is a row; where it is not, {@link reasonToRefuse} says why */
function writeRow(rows: CopyBuffer, record: RecordCursor, admission: Admission, decoded = AS_SENT): boolean {
  const { maxValueBytes, keyEncoding } = admission;
  const { batch, keyLength, valueLength } = record;
  if (valueLength > maxValueBytes) {
    return false;
  }
  writeOffset(rows, record);
  if (!writeRecordTimestamp(rows, record)) {
    return false;
  }
  if (keyEncoding !== 'text') {
    rows.text(record.key?.toString('base64') ?? null);
  } else if (decoded.key !== undefined) {
    rows.text(decoded.key);
  } else if (keyLength < 0) {
    rows.null();
  } else if (!rows.textOf(batch, record.keyAt, keyLength)) {
    return false;
  }
  writeHeadersOf(rows, record);
  if (valueLength < 0) {
    rows.null();
    return true;
  }
  if (decoded.value !== undefined) {
    rows.jsonb(decoded.value ?? 'null');
    return true;
  }
  return rows.jsonbTextOf(batch, record.valueAt, valueLength);
}

function writeOffset(rows: CopyBuffer, record: RecordCursor): void {
  const { offsetNumber } = record;
  if (Number.isNaN(offsetNumber)) {
    rows.int8(record.offset);
  } else {
    rows.int8OfNumber(offsetNumber);
  }
}

/** As numbers: what it takes to make one of a bigint is as much as the rest of a timestamp. */
const NO_TIMESTAMP_NUMBER = Number(NO_TIMESTAMP);
const POSTGRES_EPOCH_NUMBER = 946_684_800_000;

/** @returns whether a timestamptz can hold it */
function writeRecordTimestamp(rows: CopyBuffer, record: RecordCursor): boolean {
  const { milliseconds } = record;
  const microseconds = (milliseconds - POSTGRES_EPOCH_NUMBER) * 1_000;
  if (milliseconds !== NO_TIMESTAMP_NUMBER && Number.isSafeInteger(microseconds)) {
    rows.int8OfNumber(microseconds);
    return true;
  }
  const { timestamp } = record;
  rows.int8(postgresTimestamp(timestamp));
  return fitsTimestamp(timestamp);
}

/** Milliseconds from 1970 to 2000-01-01, where PostgreSQL's timestamps begin to count. */
const POSTGRES_EPOCH_MS = BigInt(POSTGRES_EPOCH_NUMBER);

/**
 * 4713 BC and 294277 AD: MIN_TIMESTAMP and END_TIMESTAMP of PostgreSQL's datatype/timestamp.h, in milliseconds since
 * 1970.
 */
const FIRST_TIMESTAMP_MS = -210_866_803_200_000n;
const END_TIMESTAMP_MS = 9_224_318_016_000_000n;

/** Whether a timestamptz can hold a record's timestamp; one that is not given can be NULL. */
const fitsTimestamp = (milliseconds: bigint): boolean =>
  milliseconds >= FIRST_TIMESTAMP_MS && milliseconds < END_TIMESTAMP_MS;

/** A record's timestamp for PostgreSQL, in microseconds since 2000; `null` when there is none, or none that fits. */
export function postgresTimestamp(milliseconds: bigint): bigint | null {
  if (milliseconds === NO_TIMESTAMP || !fitsTimestamp(milliseconds)) {
    return null;
  }
  return (milliseconds - POSTGRES_EPOCH_MS) * 1_000n;
}
