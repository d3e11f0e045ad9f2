import { DatabaseError, type PoolClient } from 'pg';
import type { Gap } from '../../stream/ports/record-sink.ts';
import { ofTable } from '../connection/refused-connections.ts';
import { commit, requireCommitted } from '../connection/transaction.ts';
import { CopyQuery, isCopyTag } from '../copy/binary-copy.ts';
import { RowRefused } from '../copy/isolate-poison.ts';
import { asRefusal } from '../copy/refused-row.ts';
import { RowStatements } from '../copy/row-statements.ts';
import type { OwnTables } from '../tables/own-tables.ts';
import type { OneRow, RowBatch, Table } from '../tables/table.ts';
import { joinedGuards } from '../tables/table-guard.ts';
import type { MovingStep, OffsetOwner } from './compare-and-set.ts';
import { droppedRows } from './refusing-table.ts';

/** The tables of a group. */
interface RowsOwner extends OffsetOwner {
  readonly ownTables: OwnTables;
}

/** Statements that begin a transaction and move exactly these offsets; the tag is that of their update. */
interface OffsetMove {
  readonly moving: MovingStep;
  readonly gaps: readonly Gap[];
}

/** Rows for a table. */
export interface TableBatch extends RowBatch {
  readonly table: Table;
}

/** The same, with the statement that takes the only row. */
interface RowInTable extends TableBatch, OneRow {}

/** Statements that are sent together. */
interface Message {
  readonly query: CopyQuery | RowStatements;
  /** The table of each statement from some on; `undefined` for one that is about all of them. */
  readonly tables: readonly (Table | undefined)[];
  /** How many are before these, by the tags so far; NaN until that is known. */
  before(tags: readonly string[]): number;
}

/** What a transaction consists of. */
interface Transaction {
  readonly messages: readonly Message[];
  /** Whether the tags up to the first row say that rows may be written: the offsets are moved. */
  isMoved(tags: readonly string[]): boolean;
  /** The same: the tables are what the rows are encoded for. */
  isAsKnown(tags: readonly string[]): boolean;
  /** The tables that take rows by COPY, in the order of the tags. */
  readonly copied: readonly TableBatch[];
  readonly commitsApart: boolean;
}

/**
 * Sends the whole of a transaction in two round trips: first all statements that move the offsets and compare the
 * tables, then the rows. Rows are sent only when PostgreSQL has moved the offsets, and the tables are still what the rows
 * were encoded for.
 *
 * - Tables that take their rows by COPY have the statements of both in one message, up to `COMMIT`, and PostgreSQL waits
 *   at the first COPY for the rows of all of them.
 * - A table that gets one row takes it by a single statement where it can ({@link Table.oneRow}). These are sent once
 *   PostgreSQL has answered the first ones. Where other tables have COPYs, they follow with a third round trip.
 *
 * Where a trigger may drop rows, or rows keep columns of those in the table, `COMMIT` is a separate message, sent when as
 * many rows are stored as were sent. Nothing is left of a transaction that did not commit, in any table, and the
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
  { ownTables, groupId }: RowsOwner,
  { moving, gaps }: OffsetMove,
  batches: readonly TableBatch[],
): Promise<'committed' | 'declined' | 'refused'> {
  const transaction = transactionOf(client, moving, batches);
  const tags: string[] = [];
  for (const message of transaction.messages) {
    const completed = await sent(client, message);
    if (completed instanceof RowRefused) {
      await client.query('ROLLBACK');
      await ownTables.requireUnwritten(client, groupId, completed.cause);
      return 'refused';
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

function transactionOf(client: PoolClient, moving: MovingStep, batches: readonly TableBatch[]): Transaction {
  const single: RowInTable[] = [];
  const copied: TableBatch[] = [];
  for (const batch of batches) {
    const row = batch.table.oneRow?.(client, batch) ?? null;
    row === null ? copied.push(batch) : single.push({ ...batch, ...row });
  }
  const mayDrop = copied.some(({ table }) => table.allowsDroppedRows || table.rowTriggers(client).length > 0);
  // A row that keeps columns of one that is not there is a dead letter.
  const commitsApart = mayDrop || copied.some(({ kept }) => kept.size > 0);
  const guarded = [...single, ...copied];
  const { ofTables, comparisons } = joinedGuards([
    ...single.map(({ guard }) => guard),
    ...copied.map((batch) => batch.table.guard(client, batch)),
  ]);
  const guards = [...ofTables.flat(), ...comparisons];
  const before = (tags: readonly string[]): number => {
    const moved = tags.findIndex((tag) => tag.startsWith('UPDATE'));
    return moved < 0 ? Number.NaN : moved + 1 + moving.behind;
  };
  const isMoved = (tags: readonly string[]): boolean => tags.includes(moving.tag);
  const isAsKnown = (tags: readonly string[]): boolean =>
    guards.every(({ tag }, nth) => tags[before(tags) + nth] === tag);
  const opening = {
    statements: [moving, ...guards].map(({ sql }) => sql),
    tables: [
      ...guarded.flatMap(({ table }, nth) => ofTables[nth]?.map(() => table) ?? []),
      ...comparisons.map(() => undefined),
    ],
    before,
  };
  const mayCopy = (tags: readonly string[]) => isMoved(tags) && isAsKnown(tags);
  const messages = messagesOf(opening, { single, copied }, { mayCopy, end: commitsApart ? [] : ['COMMIT'] });
  return { messages, isMoved, isAsKnown, copied, commitsApart };
}

/** The statements before the first row. */
interface Opening extends Omit<Message, 'query'> {
  readonly statements: readonly string[];
}

function messagesOf(
  { statements, ...opening }: Opening,
  { single, copied }: { readonly single: readonly RowInTable[]; readonly copied: readonly TableBatch[] },
  { mayCopy, end }: { readonly mayCopy: (tags: readonly string[]) => boolean; readonly end: readonly string[] },
): readonly Message[] {
  const rows = copied.map((batch) => ({ format: batch.table.copy.format, rows: batch.rows }));
  const copies = copied.flatMap((batch) =>
    batch.table.copying(batch).statements.map((sql) => ({ sql, table: batch.table })),
  );
  const copying = [...copies.map(({ sql }) => sql), ...end];
  const tables = copies.map(({ table }) => table);
  if (single.length === 0) {
    const query = new CopyQuery([...statements, ...copying].join('; '), rows, mayCopy);
    return [{ ...opening, query, tables: [...opening.tables, ...tables] }];
  }
  const ends = copied.length === 0 ? end.map((sql) => ({ sql, values: [] })) : [];
  const before = () => 0;
  const first = { ...opening, query: new CopyQuery(statements.join('; '), []) };
  const singles = new RowStatements([...single.map(({ statement }) => statement), ...ends]);
  const second = { query: singles, tables: single.map(({ table }) => table), before };
  return copied.length === 0
    ? [first, second]
    : [first, second, { query: new CopyQuery(copying.join('; '), rows), tables, before }];
}

/** Sends a message. An error is about the table of the statement that follows those that were completed. */
const sent = (client: PoolClient, { query, tables, before }: Message): Promise<readonly string[] | Refusal> =>
  client.query<CopyQuery | RowStatements>(query).tags.catch((error: unknown) => {
    const table = tables[query.completed.length - before(query.completed)];
    return refusalOnly(table ? ofTable(error, table.name) : error);
  });

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

/** Why nothing of a transaction may stay. */
type Refusal = RowRefused | 'not understood';

/**
 * What was refused as a value, so that the transaction can be rolled back; everything else stays an error. Where
 * something is gone that a statement names, PostgreSQL does not understand the statement, and no guard is asked.
 */
function refusalOnly(error: unknown): Refusal {
  const refusal = asRefusal(error);
  if (refusal instanceof RowRefused) {
    return refusal;
  }
  if (error instanceof DatabaseError && /^(?:42|3F)/.test(error.code ?? '')) {
    return 'not understood';
  }
  throw refusal;
}
