import { escapeIdentifier, escapeLiteral, type PoolClient, type QueryResult } from 'pg';
import type { Gap } from '../stream/record-sink.ts';
import { CopyQuery, copyStatement } from './binary-copy.ts';
import { RowRefused } from './isolate-poison.ts';
import { RECORDS } from './record-rows.ts';
import { asRefusal } from './sqlstate.ts';
import { BEGIN_ROWS, requireCommitted } from './transaction.ts';

/**
 * The wait for an offset that another writer holds: long enough for a writer that is about to commit, and short,
 * because a frozen one may hold many offsets, and each wait keeps a connection that the other partitions need.
 */
const LOCK_TIMEOUT_MS = 200;

/** The schema and the group of the offsets. */
interface OffsetOwner {
  readonly schema: string;
  readonly groupId: string;
}

/**
 * Statements that begin a transaction and move the stored offset from exactly the expected value to the next one, with
 * one update. The numbers are ours and the texts are escaped.
 *
 * @throws RangeError when the offset would not move forward
 */
export function movingOffset(
  { schema, groupId }: OffsetOwner,
  { topic, partition, expectedOffset, nextOffset }: Gap,
): string {
  requireForward({ topic, partition, expectedOffset, nextOffset });
  return `${BEGIN_ROWS}; SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS};
     UPDATE ${escapeIdentifier(schema)}.offsets SET next_offset = ${nextOffset}, updated_at = now()
      WHERE group_id = ${escapeLiteral(groupId)} AND topic = ${escapeLiteral(topic)}
        AND partition = ${partition} AND next_offset = ${expectedOffset};
     SET LOCAL lock_timeout TO DEFAULT`;
}

/**
 * The same for several partitions, with one update of as many rows as had the expected offset.
 *
 * A row that another transaction holds is passed over instead of waited for. The others are locked first, which keeps
 * the update from waiting, so two of them never wait for each other.
 *
 * @throws RangeError when an offset would not move forward
 */
export function movingOffsets({ schema, groupId }: OffsetOwner, gaps: readonly Gap[]): string {
  const offsets = `${escapeIdentifier(schema)}.offsets`;
  const group = escapeLiteral(groupId);
  const values = gaps.map((gap) => {
    requireForward(gap);
    return `(${escapeLiteral(gap.topic)}, ${gap.partition}, ${gap.expectedOffset}::bigint, ${gap.nextOffset}::bigint)`;
  });
  return `${BEGIN_ROWS};
     WITH wanted (topic, partition, expected, next) AS (VALUES ${values.join(', ')}),
     held AS (
       SELECT wanted.* FROM wanted JOIN ${offsets} AS stored
           ON stored.group_id = ${group} AND stored.topic = wanted.topic AND stored.partition = wanted.partition
          AND stored.next_offset = wanted.expected
          FOR UPDATE OF stored SKIP LOCKED)
     UPDATE ${offsets} AS stored SET next_offset = held.next, updated_at = now() FROM held
      WHERE stored.group_id = ${group} AND stored.topic = held.topic AND stored.partition = held.partition
        AND stored.next_offset = held.expected`;
}

function requireForward({ topic, partition, expectedOffset, nextOffset }: Gap): void {
  if (nextOffset <= expectedOffset) {
    throw new RangeError(
      `${topic}/${partition}: the offset can only move forward, not from ${expectedOffset} to ${nextOffset}`,
    );
  }
}

/**
 * Begins a transaction that moves one offset; when the offset is not the expected one, it is rolled back and the answer
 * is `false`.
 *
 * One round trip for all statements: the savepoint `part` is where a part of the rows can be taken back to.
 */
export async function beginMovingOffset(client: PoolClient, owner: OffsetOwner, gap: Gap): Promise<boolean> {
  const results = await client.query(`${movingOffset(owner, gap)}; SAVEPOINT part`);
  const update = (results as unknown as readonly QueryResult[]).find(({ command }) => command === 'UPDATE');
  if (update?.rowCount === 1) {
    return true;
  }
  await client.query('ROLLBACK');
  return false;
}

/** Statements that begin a transaction, one of which is an update that moves offsets; and how many it has to move. */
interface OffsetMove {
  readonly moving: string;
  readonly moved: number;
}

/**
 * The whole of a transaction in two round trips: a message with all statements, up to `COMMIT`, and one with the rows,
 * which are sent only when PostgreSQL has moved the offsets. Nothing is left of a transaction that did not commit, and
 * the connection can be used.
 *
 * @param rows encoded rows of `records`
 * @returns `declined` when not all offsets were moved, `refused` when a row was refused: either way nothing was
 * written.
 */
export async function writeAtOnce(
  client: PoolClient,
  owner: OffsetOwner,
  { moving, moved }: OffsetMove,
  rows: Buffer,
): Promise<'committed' | 'declined' | 'refused'> {
  const statements = `${moving}; ${copyStatement(owner.schema, RECORDS)}; COMMIT`;
  const copy = new CopyQuery(statements, rows, (tags) => tags.includes(`UPDATE ${moved}`));
  try {
    const tags = await client.query(copy).tags;
    if (!copy.isDeclined) {
      requireCommitted(tags.at(-1));
      return 'committed';
    }
  } catch (error) {
    const cause = asRefusal(error, owner.groupId);
    if (!(cause instanceof RowRefused)) {
      throw cause;
    }
  }
  await client.query('ROLLBACK');
  return copy.isDeclined ? 'declined' : 'refused';
}
