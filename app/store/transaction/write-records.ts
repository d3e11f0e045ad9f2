import type { PoolClient } from 'pg';
import type { DeadLetterReason } from '../../../contract/dead-letter-reasons.ts';
import {
  countReasons,
  type DeadLetter,
  type DeadLetterLimit,
  type DeadLetterTopic,
} from '../../stream/ports/dead-letter.ts';
import type { Gap, WriteOutcome, WriteRequest } from '../../stream/ports/record-sink.ts';
import { ofTable } from '../connection/refused-connections.ts';
import { isDeadlock } from '../connection/sqlstate.ts';
import { commit, type Timeouts } from '../connection/transaction.ts';
import { copyInto, copyStatement } from '../copy/binary-copy.ts';
import { type Memory, rowMemory } from '../copy/row-memory.ts';
import { type Admitted, admit, type TableRows, tableCounts } from '../tables/admit.ts';
import { DEAD_LETTERS, deadLetterRows, newestLetters } from '../tables/dead-letters-table.ts';
import type { OwnTables } from '../tables/own-tables.ts';
import type { RefusedRecord } from '../tables/table.ts';
import { beginMovingOffset, movingOffset, writeAtOnce } from './compare-and-set.ts';
import { type CopyOwner, copyInParts, type RowCounts } from './copy-in-parts.ts';
import type { RefusedAlike } from './refused-alike.ts';
import { droppedRows } from './refusing-table.ts';
import type { TopicTables } from './topic-tables.ts';
import { isNotUnderstood } from './transaction-messages.ts';

/** The group, the schema of our tables, and the tables that rows go to. */
export interface Writer {
  readonly schema: string;
  readonly groupId: string;
  readonly timeouts: Timeouts;
  readonly ownTables: OwnTables;
  readonly tables: TopicTables;
  readonly deadLetters: DeadLetterHandling;
  readonly refusedAlike: RefusedAlike | null;
}

/** Where dead letters go, and how many there may be. */
interface DeadLetterHandling {
  /** Whether they are rows of `dead_letters`. */
  readonly toTable: boolean;
  /** The topic that takes them; `null` for none. */
  readonly topic: DeadLetterTopic | null;
  readonly limit: DeadLetterLimit;
}

/**
 * One transaction: the offset moves from exactly the expected value to the next one, the rows and the dead letters are
 * written. If the offset is not the expected one, nothing happens.
 *
 * The update takes the lock of the row. So of two writers with the same expectation the second one waits. It then sees
 * the offset that the first one has committed, matches no row and writes nothing; or it fails, if the wait takes long.
 * Only a `COMMIT` that the server answered counts as committed; every other end leaves the outcome to be read from the
 * stored offset.
 *
 * Where there are records and none is known to be bad, which is nearly always, two round trips are tried first. When
 * PostgreSQL refuses a row there, or a trigger drops one, that transaction is rolled back as if it had never been.
 * Another one finds out which rows PostgreSQL can take.
 */
export const writeRecords = (client: PoolClient, writer: Writer, request: WriteRequest): Promise<WriteOutcome> =>
  rowMemory.during((memory) =>
    reportingDeadlocks(writer, [request], () => writeAlone(client, writer, request, memory)),
  );

/**
 * A transaction that a deadlock ended is tried again as a whole; where it deletes rows of a table, then alone in it.
 */
export async function reportingDeadlocks<T>(
  { tables }: Writer,
  requests: readonly WriteRequest[],
  write: () => Promise<T>,
): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (isDeadlock(error)) {
      tables.deadlocked(requests.map(({ topic }) => topic));
    }
    throw error;
  }
}

async function writeAlone(
  client: PoolClient,
  writer: Writer,
  request: WriteRequest,
  memory: Memory,
): Promise<WriteOutcome> {
  const written = admit(writer.tables.of(request.topic), request, memory);
  await requireTablesOnce(client, written.batches);
  const batches = written.batches.flatMap(asBatch);
  if (batches.length > 0 && written.refused.length === 0) {
    const end = await writeAtOnce(client, writer, { moving: movingOffset(writer, request), gaps: [request] }, batches);
    if (end === 'declined') {
      return { kind: 'fenced' };
    }
    if (end === 'committed') {
      return asCommitted(writer, request, written);
    }
  }
  return writePartByPart(client, writer, request, written);
}

/** A new connection reads the tables from the catalog first. */
export async function requireTablesOnce(
  client: PoolClient,
  batches: readonly Pick<TableRows, 'table'>[],
): Promise<void> {
  for (const { table } of batches) {
    await table.requireOnce(client);
  }
}

/** All rows of a table; nothing where it has none. */
const asBatch = ({ table, rows }: TableRows) =>
  rows.length === 0 ? [] : [{ table, rows: [rows.all], length: rows.length, ...rows.kinds }];

const NO_DEAD_LETTERS: ReadonlyMap<DeadLetterReason, number> = new Map();

/** The outcome of a request none of whose records is a dead letter, or has a row that a trigger dropped. */
export function asCommitted(writer: Writer, request: WriteRequest, written: Admitted): WriteOutcome {
  writer.deadLetters.limit.written(request);
  writer.refusedAlike?.taken(request, written.batches);
  const rows = new Map([['copy', request.records.length] as const]);
  return { kind: 'committed', deadLetters: NO_DEAD_LETTERS, rows, tables: tableCounts(written) };
}

async function writePartByPart(
  client: PoolClient,
  writer: Writer,
  request: WriteRequest,
  written: Admitted,
): Promise<WriteOutcome> {
  const { admitted, refused } = written;
  const { limit } = writer.deadLetters;
  await limit.recall(request.topic, () => newestLetters(client, writer, request.topic));
  if (!(await beginMovingOffset(client, writer, request))) {
    return { kind: 'fenced' };
  }
  const { poison, dropped } = await copyAdmitted(client, writer, request, written);
  const letters = [...refused, ...poison];
  if (letters.length === 0) {
    await commit(client);
    limit.written(request);
  } else {
    await limit.committing(request, letters, async () => {
      await writeDeadLetters(client, writer, request, deadLettersOf(writer, request, letters));
      await commit(client);
    });
    writer.refusedAlike?.becameLetters(request);
  }
  const rows = new Map([['copy', admitted.length - poison.length - dropped] as const]);
  return { kind: 'committed', deadLetters: countReasons(letters), rows, tables: tableCounts(written, poison) };
}

/**
 * Writes the rows of records, as far as their tables take them, within the transaction under way.
 *
 * @returns the records that a table refused, and how many rows triggers dropped where that is allowed
 * @throws FatalError `ROWS_DROPPED` where it is not, `TABLE_REFUSES_ROWS`, `TABLES_DO_NOT_FIT`, `TABLE_MISMATCH`
 * @throws OutageError when a table takes no COPY, or was altered
 */
export async function copyAdmitted(
  client: PoolClient,
  owner: CopyOwner,
  gap: Gap,
  { admitted, batches }: Pick<Admitted, 'admitted' | 'batches'>,
): Promise<{ readonly poison: readonly RefusedRecord[]; readonly dropped: number }> {
  await requireLocked(client, batches);
  const { poison, counts } = await copyInParts(client, owner, admitted, batches);
  return { poison, dropped: requireStored(client, gap, batches, counts) };
}

/**
 * Until the end of the transaction the tables stay what they are found to be. Its savepoint `part` is moved here. Where
 * one of them is gone, the catalog says so: that is about its topics, and an error of its name about all.
 */
async function requireLocked(client: PoolClient, batches: readonly TableRows[]): Promise<void> {
  for (const { table, rows } of batches) {
    await client.query(table.opening(rows.kinds)).catch(async (error: unknown) => {
      if (isNotUnderstood(error)) {
        await client.query('ROLLBACK');
        await table.require(client);
      }
      throw ofTable(error, table.name);
    });
  }
  await client.query('SAVEPOINT part');
  for (const { table } of batches) {
    await table.require(client);
  }
}

/**
 * Compares the rows that the tables took with those that they were sent, before COMMIT: the transaction of a mismatch
 * is rolled back, and its records stay ahead of the stored offset.
 *
 * @returns how many are missing where that is allowed: they are counted, and their records are not in that table
 * @throws FatalError `ROWS_DROPPED` where it is not
 */
function requireStored(
  client: PoolClient,
  gap: Gap,
  batches: readonly TableRows[],
  counts: readonly RowCounts[],
): number {
  let dropped = 0;
  for (const [nth, { table }] of batches.entries()) {
    const { sent = 0, stored = 0 } = counts[nth] ?? {};
    if (stored < sent && !table.allowsDroppedRows) {
      const triggers = table.rowTriggers(client);
      throw droppedRows([gap], { sent, stored, table: table.name, triggers, isCommitted: false });
    }
    dropped += sent - stored;
  }
  return dropped;
}

const deadLettersOf = (
  { groupId }: Writer,
  { topic, partition }: WriteRequest,
  refused: readonly RefusedRecord[],
): readonly DeadLetter[] => refused.map((letter) => ({ groupId, topic, partition, ...letter }));

/**
 * Writes dead letters within the transaction under way: the rows first, since they may be refused and a topic takes
 * nothing back; the topic before COMMIT, since a crash after COMMIT would leave them unsent for ever.
 *
 * @throws FatalError `ROWS_DROPPED` when a trigger dropped one, whatever is allowed for records: it would be nowhere
 */
async function writeDeadLetters(
  client: PoolClient,
  { schema, groupId, ownTables, deadLetters }: Writer,
  request: WriteRequest,
  letters: readonly DeadLetter[],
): Promise<void> {
  if (deadLetters.toTable) {
    const rows = { format: 'binary', rows: [deadLetterRows(letters)] } as const;
    const stored = await copyInto(client, copyStatement(schema, DEAD_LETTERS), rows).catch(async (error: unknown) => {
      await client.query('ROLLBACK');
      await ownTables.requireUnwritten(client, groupId, error);
      throw error;
    });
    if (stored < letters.length) {
      const counts = { table: DEAD_LETTERS.table, sent: letters.length, stored };
      throw droppedRows([request], { ...counts, triggers: [], isCommitted: false });
    }
  }
  await deadLetters.topic?.send(letters);
}
