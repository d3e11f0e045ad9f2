import { DatabaseError, escapeIdentifier, type PoolClient } from 'pg';
import { WINDOW_RECORDS } from '../stream/dead-letter.ts';

/** `undefined_column`: the times of rows are written by defaults, and nothing else needs those columns. */
const UNDEFINED_COLUMN = '42703';

/** The tables of a group, and whether its dead letters are rows of one. */
interface LetterOwner {
  readonly schema: string;
  readonly groupId: string;
  readonly deadLetters: { readonly toTable: boolean };
}

/**
 * The newest of each partition by its offset, whose primary key is read from its end, and of those the newest by time:
 * gaps of compaction and of transactions do not count as records.
 *
 * Rows of `records` may have been moved elsewhere, letters have not: those from a day before the last progress do not count.
 */
const newest = (schema: string): string => {
  const part = (table: string, columns: string, condition: string): string => `
    SELECT topic, partition, of_table.* FROM own CROSS JOIN LATERAL (
      SELECT "offset", ${columns} FROM ${schema}.${table} AS stored
       WHERE stored.topic = own.topic AND stored.partition = own.partition ${condition}
       ORDER BY "offset" DESC LIMIT ${WINDOW_RECORDS}) AS of_table`;
  return `
  WITH own AS (
    SELECT topic, partition, max(updated_at) OVER () - interval '1 day' AS since FROM ${schema}.offsets WHERE group_id = $1),
  newest AS (
    ${part('records', 'ingested_at AS written_at, false AS "isLetter"', '')}
    UNION ALL
    ${part('dead_letters', 'failed_at, true', 'AND group_id = $1 AND failed_at >= own.since')})
  SELECT "isLetter" FROM newest ORDER BY written_at DESC, topic, partition, "offset" DESC LIMIT ${WINDOW_RECORDS}`;
};

/**
 * Which of the newest records of the group, of all its partitions, are dead letters, the oldest first. Where letters go
 * to a topic alone no table tells of them, and the answer is empty.
 */
export async function newestLetters(client: PoolClient, owner: LetterOwner): Promise<readonly boolean[]> {
  if (!owner.deadLetters.toTable) {
    return [];
  }
  try {
    const { rows } = await client.query<{ isLetter: boolean }>(newest(escapeIdentifier(owner.schema)), [owner.groupId]);
    return rows.map(({ isLetter }) => isLetter).reverse();
  } catch (error) {
    if (error instanceof DatabaseError && error.code === UNDEFINED_COLUMN) {
      return [];
    }
    throw error;
  }
}
