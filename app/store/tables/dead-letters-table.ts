import { DatabaseError, escapeIdentifier, type PoolClient } from 'pg';
import { type DeadLetter, WINDOW_RECORDS } from '../../stream/ports/dead-letter.ts';
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

/** `undefined_column`: the times of rows are written by defaults, and nothing else needs those columns. */
const UNDEFINED_COLUMN = '42703';

/** The tables of a group, the topics that have no rows in `records`, and whether dead letters are rows of a table. */
interface LetterOwner {
  readonly schema: string;
  readonly groupId: string;
  readonly tables: { readonly topicsWithoutRecords: readonly string[] };
  readonly deadLetters: { readonly toTable: boolean };
}

/**
 * The newest records of a topic: the newest of each partition by its offset, whose primary key is read from its end,
 * and of those the newest by time. Gaps of compaction and of transactions do not count as records.
 *
 * Rows of `records` may have been moved elsewhere, letters have not: those from a day before the topic's last progress
 * do not count.
 */
const newestRows = (schema: string): string => {
  const part = (table: string, columns: string, condition: string): string => `
    SELECT partition, of_table.* FROM own CROSS JOIN LATERAL (
      SELECT "offset", ${columns} FROM ${schema}.${table} AS stored
       WHERE stored.topic = $2 AND stored.partition = own.partition ${condition}
       ORDER BY "offset" DESC LIMIT ${WINDOW_RECORDS}) AS of_table`;
  return `${part('records', 'ingested_at AS written_at, false AS "isLetter"', '')}
    UNION ALL ${part('dead_letters', 'failed_at, true', 'AND group_id = $1 AND failed_at >= own.since')}`;
};

/**
 * The same of a topic that has rows in users' tables alone, which no table of ours lists. Each offset below the stored
 * one counts as a record, so gaps count as well, and as written when it had certainly been passed: with the next letter
 * of its partition, or at the partition's last progress. Both let more letters pass after a restart, never fewer.
 */
const newestOffsets = (schema: string): string => `
    SELECT partition, passed.* FROM own CROSS JOIN LATERAL (
      SELECT "offset", coalesce(min(failed_at) OVER (ORDER BY "offset" DESC), own.updated_at) AS written_at,
             failed_at IS NOT NULL AS "isLetter"
        FROM generate_series(greatest(next_offset - ${WINDOW_RECORDS}, 0), next_offset - 1) AS below ("offset")
        LEFT JOIN (SELECT "offset", failed_at FROM ${schema}.dead_letters AS stored
             WHERE group_id = $1 AND stored.topic = $2 AND stored.partition = own.partition
               AND failed_at >= own.since) AS letters USING ("offset")) AS passed`;

const newest = (schema: string, ofTopic: string): string => `
  WITH own AS (
    SELECT partition, next_offset, updated_at, max(updated_at) OVER () - interval '1 day' AS since
      FROM ${schema}.offsets WHERE group_id = $1 AND topic = $2),
  newest AS (${ofTopic})
  SELECT "isLetter" FROM newest ORDER BY written_at DESC, partition, "offset" DESC LIMIT ${WINDOW_RECORDS}`;

/**
 * Which of a topic's newest records, of all its partitions, are dead letters of the group, the oldest first. Where
 * letters go to a topic alone, no table lists them, and the answer is empty.
 */
export async function newestLetters(
  client: PoolClient,
  owner: LetterOwner,
  topic: string,
): Promise<readonly boolean[]> {
  if (!owner.deadLetters.toTable) {
    return [];
  }
  try {
    const ofTopic = owner.tables.topicsWithoutRecords.includes(topic) ? newestOffsets : newestRows;
    const schema = escapeIdentifier(owner.schema);
    const { rows } = await client.query<{ isLetter: boolean }>(newest(schema, ofTopic(schema)), [owner.groupId, topic]);
    return rows.map(({ isLetter }) => isLetter).reverse();
  } catch (error) {
    if (error instanceof DatabaseError && error.code === UNDEFINED_COLUMN) {
      return [];
    }
    throw error;
  }
}
