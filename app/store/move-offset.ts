import { escapeIdentifier, escapeLiteral, type PoolClient, type QueryResult } from 'pg';
import { OutageError } from '../stream/outage-error.ts';
import type { Gap } from '../stream/record-sink.ts';

/**
 * Begins a transaction and moves the stored offset from exactly the expected value to the next one; when it is not the
 * expected one, the transaction is rolled back and the answer is `false`.
 *
 * One round trip for four statements; the numbers are ours and the texts are escaped. Deferred constraints are checked at
 * once, or they would refuse the whole at COMMIT, when no row can be named any more. The savepoint `part` is where a part
 * of the rows can be taken back to.
 */
export async function beginMovingOffset(
  client: PoolClient,
  { schema, groupId }: { readonly schema: string; readonly groupId: string },
  { topic, partition, expectedOffset, nextOffset }: Gap,
): Promise<boolean> {
  if (nextOffset <= expectedOffset) {
    throw new RangeError(
      `${topic}/${partition}: the offset can only move forward, not from ${expectedOffset} to ${nextOffset}`,
    );
  }
  const results = await client.query(
    `BEGIN;
     SET CONSTRAINTS ALL IMMEDIATE;
     UPDATE ${escapeIdentifier(schema)}.offsets SET next_offset = ${nextOffset}, updated_at = now()
      WHERE group_id = ${escapeLiteral(groupId)} AND topic = ${escapeLiteral(topic)}
        AND partition = ${partition} AND next_offset = ${expectedOffset};
     SAVEPOINT part`,
  );
  const [, , update] = results as unknown as QueryResult[];
  if (update?.rowCount === 1) {
    return true;
  }
  await client.query('ROLLBACK');
  return false;
}

/**
 * Commits, and makes sure that PostgreSQL did: a transaction that failed before answers COMMIT with ROLLBACK and no error.
 *
 * @throws OutageError when it did not
 */
export async function commit(client: PoolClient): Promise<void> {
  const { command } = await client.query('COMMIT');
  if (command !== 'COMMIT') {
    throw new OutageError(`the transaction ended with ${command} instead of COMMIT`, { reason: 'database_busy' });
  }
}
