import { DatabaseError, type PoolClient } from 'pg';
import { ofTable } from '../connection/refused-connections.ts';
import { CopyQuery } from '../copy/binary-copy.ts';
import { RowRefused } from '../copy/isolate-poison.ts';
import { asRefusal } from '../copy/refused-row.ts';
import { RowStatements, withoutValues } from '../copy/row-statements.ts';
import type { FewRows, RowBatch, Table } from '../tables/table.ts';
import { type GuardStep, joinedGuards } from '../tables/table-guard.ts';

/** Statements that move offsets; the tag is that of their update. */
export interface MovingStep extends GuardStep {
  /** Statements behind the update. */
  readonly behind: number;
}

/** Rows for a table. */
export interface TableBatch extends RowBatch {
  readonly table: Table;
}

/** The same, with the statement that takes each of the rows. */
interface FewRowsInTable extends TableBatch, FewRows {}

/** Statements that are sent together. */
interface TransactionMessage {
  readonly query: CopyQuery | RowStatements;
  /** The table of each statement from some on; `undefined` for one that is about all of them. */
  readonly tables: readonly (Table | undefined)[];
  /** How many are before these, by the tags so far; NaN until that is known. */
  before(tags: readonly string[]): number;
}

/** What a transaction consists of. */
export interface Transaction {
  readonly messages: readonly TransactionMessage[];
  /** Whether the tags up to the first row say that rows may be written: the offsets are moved. */
  isMoved(tags: readonly string[]): boolean;
  /** The same: the tables are what the rows are encoded for. */
  isAsKnown(tags: readonly string[]): boolean;
  /** The tables that take rows by COPY, in the order of the tags. */
  readonly copied: readonly TableBatch[];
  readonly commitsApart: boolean;
}

/**
 * The messages of a transaction, in their order.
 *
 * - Tables that take their rows by COPY have all statements in one message, up to `COMMIT`, and PostgreSQL waits at the
 *   first COPY for the rows of all of them.
 * - A table that gets a few rows takes them by a statement each where it can ({@link Table.fewRows}). These are a
 *   message, behind the one that moves the offsets and compares the tables. The COPYs of other tables are a third one.
 */
export function transactionOf(client: PoolClient, moving: MovingStep, batches: readonly TableBatch[]): Transaction {
  const few: FewRowsInTable[] = [];
  const copied: TableBatch[] = [];
  for (const batch of batches) {
    const rows = batch.table.fewRows?.(client, batch) ?? null;
    rows === null ? copied.push(batch) : few.push({ guard: rows.guard, statement: rows.statement, ...batch });
  }
  const mayDrop = copied.some(({ table }) => table.allowsDroppedRows || table.rowTriggers(client).length > 0);
  // A row that keeps columns of one that is not there is a dead letter.
  const commitsApart = mayDrop || copied.some(({ kept }) => kept.size > 0);
  const guarded = [...few, ...copied];
  const { ofTables, comparisons } = joinedGuards([
    ...few.map(({ guard }) => guard),
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
  const messages = messagesOf(opening, { few, copied }, { mayCopy, end: commitsApart ? [] : ['COMMIT'] });
  return { messages, isMoved, isAsKnown, copied, commitsApart };
}

/** The statements before the first row. */
interface MessageOpening extends Omit<TransactionMessage, 'query'> {
  readonly statements: readonly string[];
}

function messagesOf(
  { statements, tables: tablesOfOpening, before }: MessageOpening,
  { few, copied }: { readonly few: readonly FewRowsInTable[]; readonly copied: readonly TableBatch[] },
  { mayCopy, end }: { readonly mayCopy: (tags: readonly string[]) => boolean; readonly end: readonly string[] },
): readonly TransactionMessage[] {
  const rows = copied.map((batch) => ({ format: batch.table.copy.format, rows: batch.rows }));
  const copies = copied.flatMap((batch) =>
    batch.table.copying(batch).statements.map((sql) => ({ sql, table: batch.table })),
  );
  const copying = [...copies.map(({ sql }) => sql), ...end];
  const tables = copies.map(({ table }) => table);
  if (few.length === 0) {
    const query = new CopyQuery([...statements, ...copying].join('; '), rows, mayCopy);
    return [{ query, tables: [...tablesOfOpening, ...tables], before }];
  }
  const ends = copied.length === 0 ? end.map(withoutValues) : [];
  const first = { query: new CopyQuery(statements.join('; '), []), tables: tablesOfOpening, before };
  const statementsOfRows = new RowStatements([...few.map(({ statement }) => statement), ...ends]);
  const tablesOfRows = few.flatMap(({ table, statement }) => statement.rows.map(() => table));
  const second = { query: statementsOfRows, tables: tablesOfRows, before: fromTheFirst };
  return copied.length === 0
    ? [first, second]
    : [first, second, { query: new CopyQuery(copying.join('; '), rows), tables, before: fromTheFirst }];
}

const fromTheFirst = (): number => 0;

/**
 * Sends a message. An error is about the table of the statement that follows those that were completed.
 *
 * What was refused is a value, so that the transaction can be rolled back. Where something is gone that a statement
 * names, PostgreSQL does not understand the statement, and no guard is asked.
 */
export const sendMessage = (
  client: PoolClient,
  { query, tables, before }: TransactionMessage,
): Promise<readonly string[] | RefusedMessage> =>
  client.query<CopyQuery | RowStatements>(query).tags.catch((error: unknown) => {
    const refusal = asRefusal(error);
    if (refusal instanceof RowRefused) {
      return refusal;
    }
    if (query instanceof RowStatements && query.lacksKept) {
      return 'not kept';
    }
    if (isNotUnderstood(error)) {
      return 'not understood';
    }
    const table = tables[query.completed.length - before(query.completed)];
    throw table ? ofTable(error, table.name) : error;
  });

/** Why nothing of a transaction may stay. */
type RefusedMessage = RowRefused | 'not kept' | 'not understood';

/** Whether a statement names what is gone, or what the role may not use. */
export const isNotUnderstood = (error: unknown): boolean =>
  error instanceof DatabaseError && /^(?:42|3F)/.test(error.code ?? '');
