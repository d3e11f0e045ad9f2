import { DatabaseError, escapeIdentifier, type PoolClient } from 'pg';
import { DEAD_LETTER_REASON } from '../../../contract/dead-letter-reasons.ts';
import { packRecords, recordsOf } from '../../records/pack-records.ts';
import type { RecordHeader, StreamRecord } from '../../records/record.ts';
import { NO_TIMESTAMP, RecordCursor } from '../../records/record-batch.ts';
import { describeDatabaseError, verdictOn } from '../../store/connection/sqlstate.ts';
import { RowRefused } from '../../store/copy/isolate-poison.ts';
import { asRefusal, reasonOfSqlstate } from '../../store/copy/refused-row.ts';
import { UNMATCHED } from '../../store/tables/admit.ts';
import {
  type Admission,
  type DecodedRecord,
  decodedRecord,
  type KeyEncoding,
  RECORDS,
  type RecordDecoders,
  reasonToRefuse,
} from '../../store/tables/record-rows.ts';
import { type Refusal, ROWS_THAT_DELETE, type RowBatch, sendRows } from '../../store/tables/table.ts';
import { droppedRows } from '../../store/transaction/refusing-table.ts';
import type { MappedTable } from '../../tables/table/mapped-table.ts';
import {
  type DeadLetterPlace,
  type DeadLetterRow,
  deadLetterOf,
  deadLettersTable,
  type StoredBytes,
} from './dead-letters-table.ts';

/** A dead letter that is locked, with the record in it. */
export interface LockedLetter extends DeadLetterRow {
  readonly key: Buffer | null;
  readonly value: Buffer | null;
}

/** Where the records of topics go, by the settings of now. */
export interface ReplayTables extends Admission {
  readonly schema: string;
  isInRecords(topic: string): boolean;
  /** What decodes the records of `records`. */
  readonly decoderOf: RecordDecoders;
  /** The user's own tables of a topic. */
  tablesOf(topic: string): readonly MappedTable[];
  /** Whether a letter replaces and deletes rows of its key, which may be of newer records. */
  readonly overwrite: boolean;
}

export const PRIMARY_KEY = 'group_id = $1 AND topic = $2 AND partition = $3 AND "offset" = $4';

export const placeValues = ({ groupId, topic, partition, offset }: DeadLetterPlace) => [
  groupId,
  topic,
  partition,
  offset.toString(),
];

const storedBytes = (stored: StoredBytes): Buffer =>
  typeof stored === 'string' ? Buffer.from(stored, 'utf8') : Buffer.from(stored.base64, 'base64');

export function recordOfLetter({ offset, key, value, headers, milliseconds }: LockedLetter): StreamRecord {
  return {
    offset: BigInt(offset),
    timestamp: milliseconds === null ? NO_TIMESTAMP : BigInt(milliseconds),
    key,
    value,
    headers: headers.map(
      (header): RecordHeader => ({
        key: typeof header.key === 'string' ? header.key : storedBytes(header.key),
        value: header.value === null ? null : storedBytes(header.value),
      }),
    ),
  };
}

const cursorAt = (record: StreamRecord): RecordCursor => new RecordCursor().read(packRecords([record]), 0);

/** The table that has the record, or a row of its key, already. */
export interface Present {
  readonly presentIn: string;
}

/**
 * Writes the record of a dead letter into all of its tables, in the transaction that deletes the letter, or into none.
 * A refusal leaves nothing of it, and the transaction has to be rolled back when it is present somewhere. A record that
 * no table takes is refused, whatever the settings say of such records: without its letter it would be nowhere.
 *
 * @throws OutageError when a table was altered at the same time
 */
export async function writeLetter(
  client: PoolClient,
  target: ReplayTables,
  letter: LockedLetter,
): Promise<'written' | Present | Refusal> {
  const isInRecords = target.isInRecords(letter.topic);
  const decoded = isInRecords ? decodedLetter(letter, target) : {};
  if ('reason' in decoded) {
    return decoded;
  }
  await client.query('SAVEPOINT fit');
  const inserted = isInRecords ? await insertRecord(client, target, letter, decoded) : true;
  if (inserted !== true) {
    return inserted === false ? { presentIn: RECORDS.table } : inserted;
  }
  let isTaken = isInRecords;
  for (const table of target.tablesOf(letter.topic)) {
    const outcome = await writeToTable(client, table, letter, target.overwrite);
    if (typeof outcome !== 'string') {
      return outcome;
    }
    isTaken ||= outcome === 'written';
  }
  return isTaken ? 'written' : UNMATCHED;
}

/** The conditions of a record that comes from Kafka; a timestamp that did not fit is not in the table. */
function decodedLetter(letter: LockedLetter, target: ReplayTables): DecodedRecord | Refusal {
  const isLost = letter.reason === 'timestamp_out_of_range' && letter.milliseconds === null;
  const decoder = target.decoderOf(letter.topic);
  const decoded = decoder === null ? {} : decodedRecord(cursorAt(recordOfLetter(letter)), target, decoder);
  if ('reason' in decoded) {
    return decoded;
  }
  const key = decoded.key === undefined ? letter.key : null;
  const value = decoded.value === undefined ? letter.value : null;
  const found = isLost ? 'timestamp_out_of_range' : reasonToRefuse({ key, value, timestamp: 0n }, target);
  return found === null ? decoded : { reason: found, error: DEAD_LETTER_REASON[found] };
}

/** The key as `records` holds it: base64 without the line breaks that PostgreSQL's encode adds. */
const KEY_COLUMN: Readonly<Record<KeyEncoding, string>> = {
  text: "convert_from(key, 'UTF8')",
  base64: "translate(encode(key, 'base64'), E'\\n', '')",
};

/** Whether the row was inserted, `false` when it was there; or PostgreSQL's refusal. */
async function insertRecord(
  client: PoolClient,
  { schema, keyEncoding }: ReplayTables,
  letter: LockedLetter,
  { key, value }: DecodedRecord,
): Promise<boolean | Refusal> {
  try {
    const { rowCount } = await client.query(
      `INSERT INTO ${escapeIdentifier(schema)}.records (topic, partition, "offset", timestamp, key, headers, value)
       SELECT topic, partition, "offset", timestamp, coalesce($5::text, ${KEY_COLUMN[keyEncoding]}), headers,
              coalesce($6::text, convert_from(value, 'UTF8'))::jsonb
         FROM ${deadLettersTable(schema)} WHERE ${PRIMARY_KEY}
       ON CONFLICT (topic, partition, "offset") DO NOTHING`,
      [...placeValues(deadLetterOf(letter)), keyEncoding === 'text' ? key : null, value],
    );
    return rowCount === 1;
  } catch (error) {
    if (!(error instanceof DatabaseError) || error.code === undefined || verdictOn(error) !== 'isolate') {
      throw error;
    }
    await client.query('ROLLBACK TO SAVEPOINT fit');
    return { reason: reasonOfSqlstate(error.code), error: describeDatabaseError(error) };
  }
}

/** @throws FatalError `ROWS_DROPPED` when a trigger dropped the row: the letter stays */
async function writeToTable(
  client: PoolClient,
  table: MappedTable,
  letter: LockedLetter,
  overwrite: boolean,
): Promise<Refusal | Present | 'written' | 'unmatched'> {
  const record = recordOfLetter(letter);
  const { topic, partition } = letter;
  await client.query(table.opening(ROWS_THAT_DELETE));
  await table.require(client);
  const { rows, refused } = table.encode({ topic, partition }, recordsOf([record]));
  const refusal = refused.get(0);
  if (refusal !== undefined) {
    await client.query('ROLLBACK TO SAVEPOINT fit');
    return refusal;
  }
  if (rows.unmatched.size > 0) {
    return 'unmatched';
  }
  const row = { rows: [rows.all], length: rows.length, ...rows.kinds };
  const sent = rows.length === 0 ? 'stored' : await sendRow(client, table, row, overwrite);
  if (sent instanceof RowRefused) {
    await client.query('ROLLBACK TO SAVEPOINT fit');
    return table.refusal(client, sent, { topic, partition, record });
  }
  if (sent === 'dropped') {
    const gap = { topic, partition, expectedOffset: record.offset, nextOffset: record.offset + 1n };
    const triggers = table.rowTriggers(client);
    throw droppedRows([gap], { table: table.name, sent: 1, stored: 0, triggers, isCommitted: false });
  }
  return sent === 'present' ? { presentIn: table.name } : 'written';
}

async function sendRow(
  client: PoolClient,
  table: MappedTable,
  row: RowBatch,
  overwrite: boolean,
): Promise<'stored' | 'present' | 'dropped' | RowRefused> {
  try {
    if (!overwrite) {
      return await table.sendLate(client, row);
    }
    return (await sendRows(client, table, row)) < row.length ? 'dropped' : 'stored';
  } catch (error) {
    const fault = asRefusal(error, table.copy);
    if (fault instanceof RowRefused) {
      return fault;
    }
    throw fault;
  }
}
