import { escapeIdentifier, escapeLiteral, type PoolClient, type QueryResult } from 'pg';
import type { Gap } from '../../stream/ports/record-sink.ts';
import type { OffsetOrigin } from '../../stream/ports/record-source.ts';
import { beginRows, commit, requireCommitted, type Timeouts } from '../connection/transaction.ts';
import { isCopyTag } from '../copy/binary-copy.ts';
import { RowRefused } from '../copy/isolate-poison.ts';
import type { OwnTables } from '../tables/own-tables.ts';
import { droppedRows } from './refusing-table.ts';
import {
  type MovingStep,
  sendMessage,
  type TableBatch,
  type Transaction,
  transactionOf,
} from './transaction-messages.ts';

/**
 * Why two owners of a partition that overlap, however long, never both write an offset, in `records` or in a keyed
 * table:
 *
 * 1. Each transaction that writes rows, dead letters or a gap of a partition begins with the update of its row in
 *    `offsets`, from the expected offset to the next one. The update comes before the savepoint `part`, so whatever is
 *    rolled back to that one, it stays, with the lock of the row, until COMMIT or ROLLBACK.
 * 2. Rows are sent only when the update has moved all offsets of the transaction: as COPYs for which PostgreSQL has
 *    answered that it waits, or as statements behind its answer (transaction-messages.ts). Otherwise everything is
 *    rolled back.
 * 3. At READ COMMITTED, which each transaction asks for, a second update of the same row waits for the first
 *    transaction, and then compares with what that has committed. It matches if the first one was rolled back, and not
 *    if it was committed. It fails when the wait takes too long. A group of writes ({@link movingOffsets}) does not
 *    wait: a row that is locked counts as not moved. PostgreSQL compares again what it locks there, too.
 * 4. So the committed transactions of a partition are a chain: each one expects what the one before has stored, and
 *    began to write after that was committed. No offset is in two of them, and none is left out.
 * 5. A keyed table takes rows over others, so the order counts there, too. The staged rows are taken into the table
 *    behind the update, in the same transaction (stage.ts), and the stage is emptied with it. So are the few rows that
 *    a transaction has for a table, without a stage (few-rows.ts). By 4. the upserts and deletes of a former owner are
 *    committed before those of the next one begin, or are never seen. None of them replaces a later state.
 *
 * Nobody has to know who owns a partition for this. An overlap costs transactions that are turned away (handover.ts),
 * so the group may give a partition to its next owner while the former one still writes.
 */

/**
 * The wait for an offset that another writer holds: long enough for a writer that is about to commit, and short,
 * because a frozen one may hold many offsets, and each wait keeps a connection that the other partitions need.
 */
const LOCK_TIMEOUT_MS = 200;

/** The schema and the group of the offsets, and the time-outs of the transactions that move them. */
interface OffsetOwner {
  readonly schema: string;
  readonly groupId: string;
  readonly timeouts: Timeouts;
}

/** Values of an origin as SQL, of their columns' types. */
const originValues = ({ topicId, leaderEpoch }: OffsetOrigin) => ({
  id: `${typeof topicId === 'string' ? escapeLiteral(topicId) : 'NULL'}::text`,
  epoch: `${leaderEpoch ?? 'NULL'}::int`,
});

/** An id that either side does not know is adopted from the other one. */
const isSameTopic = (storedId: string, id: string): string => `coalesce(${storedId} = ${id}, true)`;

/** The columns beside an offset that moves. */
const withOrigin = (next: bigint | string, id: string, epoch: string): string =>
  `topic_id = coalesce(${id}, topic_id), leader_epoch = ${epoch}, leader_epoch_offset = ${next}, updated_at = now()`;

/**
 * Statements that begin a transaction and move the stored offset from exactly the expected value to the next one, with
 * one update, unless it is known to be of a topic with another id. The numbers are ours and the texts are escaped.
 *
 * @throws RangeError when the offset would not move forward
 */
export function movingOffset(
  { schema, groupId, timeouts }: OffsetOwner,
  { topic, partition, expectedOffset, nextOffset, ...origin }: Gap,
): MovingStep {
  requireForward({ topic, partition, expectedOffset, nextOffset });
  const { id, epoch } = originValues(origin);
  const sql = `${beginRows(timeouts)}; SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS};
     UPDATE ${escapeIdentifier(schema)}.offsets SET next_offset = ${nextOffset}, ${withOrigin(nextOffset, id, epoch)}
      WHERE group_id = ${escapeLiteral(groupId)} AND topic = ${escapeLiteral(topic)}
        AND partition = ${partition} AND next_offset = ${expectedOffset} AND ${isSameTopic('topic_id', id)};
     SET LOCAL lock_timeout = ${timeouts.lock_timeout}`;
  return { sql, tag: 'UPDATE 1', behind: 1 };
}

/** A text as an element of an array, which is never taken for NULL. */
const quotedElement = (text: string): string => `"${text.replaceAll(/["\\]/g, '\\$&')}"`;

/** What a literal has to escape. pg makes a string for each character, and the names of topics hold none of these. */
const NEEDS_ESCAPE = /['\\]/;

/** An array of SQL with an element for each gap: 200 rows of VALUES take PostgreSQL twice the processor time. */
function arrayOf(
  type: string,
  gaps: readonly Gap[],
  element: (gap: Gap) => string | number | bigint | null | undefined,
): string {
  const elements = `{${gaps.map((gap) => element(gap) ?? 'NULL').join()}}`;
  return `${NEEDS_ESCAPE.test(elements) ? escapeLiteral(elements) : `'${elements}'`}::${type}[]`;
}

/**
 * The same for several partitions, with one update of as many rows as had the expected offset.
 *
 * A row that another transaction holds is passed over instead of waited for. The others are locked first, which keeps
 * the update from waiting, so two of them never wait for each other.
 *
 * @throws RangeError when an offset would not move forward
 */
export function movingOffsets({ schema, groupId, timeouts }: OffsetOwner, gaps: readonly Gap[]): MovingStep {
  const offsets = `${escapeIdentifier(schema)}.offsets`;
  const group = escapeLiteral(groupId);
  gaps.forEach(requireForward);
  const topics = arrayOf('text', gaps, ({ topic }) => quotedElement(topic));
  const partitions = arrayOf('int', gaps, ({ partition }) => partition);
  const expected = arrayOf('bigint', gaps, ({ expectedOffset }) => expectedOffset);
  const next = arrayOf('bigint', gaps, ({ nextOffset }) => nextOffset);
  const ids = arrayOf('text', gaps, ({ topicId }) => (typeof topicId === 'string' ? quotedElement(topicId) : null));
  const epochs = arrayOf('int', gaps, ({ leaderEpoch }) => leaderEpoch);
  const sql = `${beginRows(timeouts)};
     WITH wanted (topic, partition, expected, next, id, epoch) AS (
       SELECT * FROM unnest(${[topics, partitions, expected, next, ids, epochs].join(', ')})),
     held AS (
       SELECT wanted.* FROM wanted JOIN ${offsets} AS stored
           ON stored.group_id = ${group} AND stored.topic = wanted.topic AND stored.partition = wanted.partition
          AND stored.next_offset = wanted.expected AND ${isSameTopic('stored.topic_id', 'wanted.id')}
          FOR UPDATE OF stored SKIP LOCKED)
     UPDATE ${offsets} AS stored SET next_offset = held.next, ${withOrigin('held.next', 'held.id', 'held.epoch')} FROM held
      WHERE stored.group_id = ${group} AND stored.topic = held.topic AND stored.partition = held.partition
        AND stored.next_offset = held.expected`;
  return { sql, tag: `UPDATE ${gaps.length}`, behind: 0 };
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
  const results = await client.query(`${movingOffset(owner, gap).sql}; SAVEPOINT part`);
  const update = (results as unknown as readonly QueryResult[]).find(({ command }) => command === 'UPDATE');
  if (update?.rowCount === 1) {
    return true;
  }
  await client.query('ROLLBACK');
  return false;
}

/** The tables of a group. */
interface RowsOwner extends OffsetOwner {
  readonly ownTables: OwnTables;
}

/** Statements that begin a transaction and move exactly these offsets; the tag is that of their update. */
interface OffsetMove {
  readonly moving: MovingStep;
  readonly gaps: readonly Gap[];
}

/**
 * Sends the whole of a transaction in two round trips: first all statements that move the offsets and compare the
 * tables, then the rows. Rows are sent only when PostgreSQL has moved the offsets, and the tables are still what the
 * rows were encoded for.
 *
 * A third round trip follows where some tables take a few rows and others many ({@link transactionOf}). Where the
 * session does not have what another one has kept, all of it is sent again: the connection uses no names any more.
 *
 * Where a trigger may drop rows, or rows keep columns of those in the table, `COMMIT` is a separate message, sent when
 * as many rows are stored as were sent. Nothing is left of a transaction that did not commit, in any table, and the
 * connection can be used.
 *
 * @param batches one or more, with rows
 * @returns `declined` when not all offsets were moved; `refused` when a row was refused, or a trigger dropped one, or a
 * table was altered: either way nothing was written
 * @throws FatalError `TABLE_MISMATCH` when it was altered to what rows are not encoded for; nothing was written
 * @throws OutageError with the table that takes no rows for now; nothing was written
 * @throws FatalError `ROWS_DROPPED` when a trigger that the connection did not know of dropped rows: the transaction is
 * committed, so their records are not in that table and behind the stored offset
 */
export async function writeAtOnce(
  client: PoolClient,
  owner: RowsOwner,
  { moving, gaps }: OffsetMove,
  batches: readonly TableBatch[],
): Promise<'committed' | 'declined' | 'refused'> {
  const transaction = transactionOf(client, moving, batches);
  const tags: string[] = [];
  for (const message of transaction.messages) {
    const completed = await sendMessage(client, message);
    if (completed instanceof RowRefused) {
      await client.query('ROLLBACK');
      await owner.ownTables.requireUnwritten(client, owner.groupId, completed.cause);
      return 'refused';
    }
    if (completed === 'not kept') {
      await client.query('ROLLBACK');
      return writeAtOnce(client, owner, { moving, gaps }, batches);
    }
    if (completed === 'not understood') {
      await client.query('ROLLBACK');
      return asAltered(client, batches);
    }
    tags.push(...completed);
    if (!transaction.isMoved(tags) || !transaction.isAsKnown(tags)) {
      await client.query('ROLLBACK');
      return transaction.isMoved(tags) ? asAltered(client, batches) : 'declined';
    }
  }
  return commitRows(client, gaps, tags, transaction);
}

/** Reads the tables from the catalog anew: the next transaction on this connection knows them. */
async function asAltered(client: PoolClient, batches: readonly TableBatch[]): Promise<'refused'> {
  for (const { table } of batches) {
    await table.require(client);
  }
  return 'refused';
}

/** Rows that each table stored: the tags of its COPY, and of what follows it, are in the order of the tables. */
function rowsStoredByTable(tags: readonly string[], copied: readonly TableBatch[]): readonly number[] {
  let from = tags.findIndex(isCopyTag);
  return copied.map((batch) => {
    const { statements, stored } = batch.table.copying(batch);
    const first = from;
    from += statements.length;
    return stored(batch.length, tags.slice(first, from));
  });
}

/** The end of {@link writeAtOnce}, when PostgreSQL has taken every row. */
async function commitRows(
  client: PoolClient,
  gaps: readonly Gap[],
  tags: readonly string[],
  { copied, commitsApart }: Transaction,
): Promise<'committed' | 'refused'> {
  const stored = rowsStoredByTable(tags, copied);
  const short = copied.findIndex(({ length }, nth) => (stored[nth] ?? 0) < length);
  if (commitsApart && short >= 0) {
    await client.query('ROLLBACK');
    return 'refused';
  }
  if (commitsApart) {
    await commit(client);
  } else {
    requireCommitted(tags.at(-1));
  }
  const dropped = copied[short];
  if (dropped) {
    const counts = { table: dropped.table.name, sent: dropped.length, stored: stored[short] ?? 0 };
    throw droppedRows(gaps, { ...counts, triggers: [], isCommitted: true });
  }
  return 'committed';
}
