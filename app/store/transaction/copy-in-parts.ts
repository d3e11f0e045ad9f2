import type { PoolClient } from 'pg';
import { ofTable } from '../connection/refused-connections.ts';
import { RowRefused, storeWithoutPoison } from '../copy/isolate-poison.ts';
import { asRefusal } from '../copy/refused-row.ts';
import type { AdmittedRecords, TableRows } from '../tables/admit.ts';
import { type RefusedRecord, sendRows, type Table } from '../tables/table.ts';
import type { RefusedAlike, RefusedRow } from './refused-alike.ts';
import { RefusingTable, type TableOwner } from './refusing-table.ts';

/** Records of which one of the tables refused the row, and how many rows of the others each table took. */
interface CopiedRows {
  readonly poison: readonly RefusedRecord[];
  /** In the order of the tables. */
  readonly counts: readonly RowCounts[];
}

/** Rows that a table was sent in the end, and those that it stored. */
export interface RowCounts {
  readonly sent: number;
  readonly stored: number;
}

/** The group, and what it knows of the tables that refused its rows. */
export interface CopyOwner extends TableOwner {
  /** `null`: all of its records may be dead letters. */
  readonly refusedAlike: RefusedAlike | null;
}

/**
 * Writes the rows of records, for each of their tables, without those of the records that a table refuses; within a
 * transaction that has a savepoint `part`. A part of the records is in all of its tables or in none, so a record that
 * one of them refuses has a row in none.
 *
 * @throws FatalError `TABLE_REFUSES_ROWS` when a table refuses all, alike
 * @throws OutageError when a table takes no COPY at all, or refuses all for now
 */
export async function copyInParts(
  client: PoolClient,
  owner: CopyOwner,
  records: AdmittedRecords,
  batches: readonly TableRows[],
): Promise<CopiedRows> {
  const copies = batches.map((batch) => ({ ...batch, refusing: new RefusingTable(client, owner, batch.table) }));
  const stored = batches.map(() => 0);
  const refusedBy = new Map<RowRefused, Table>();
  const poison = await storeWithoutPoison(records.length, async (from, to) => {
    const counts = await copyRange(client, copies, { from, to }, refusedBy);
    for (const [nth, count] of counts.entries()) {
      stored[nth] = (stored[nth] ?? 0) + count;
    }
    if (to < records.length || from > 0) {
      await client.query('RELEASE SAVEPOINT part; SAVEPOINT part');
    }
  });
  const refused: RefusedRow[] = [];
  for (const { index, cause } of poison) {
    const [admitted, table] = [records.at(index), refusedBy.get(cause)];
    if (admitted !== null && table !== undefined) {
      const refusal = await table.refusal(client, cause, { ...records.of, record: admitted.record });
      refused.push({ ...admitted, index, refusedBy: table, cause, ...refusal });
    }
  }
  owner.refusedAlike?.requireSomeTaken(refused, records, batches);
  const sent = batches.map(({ rows }) =>
    poison.reduce((left, { index }) => left - rows.rowsIn(index, index + 1), rows.length),
  );
  const letters = refused.map(({ index: _index, refusedBy: _table, cause: _cause, ...letter }) => letter);
  return { poison: letters, counts: sent.map((rows, nth) => ({ sent: rows, stored: stored[nth] ?? 0 })) };
}

/** Rows for a table, and what asks the table whether a refusal is about the table itself. */
interface TableCopy extends TableRows {
  readonly refusing: RefusingTable;
}

/**
 * Sends the rows of some records to each table, and notes the table that refuses one.
 *
 * @returns how many rows each table stored
 * @throws RowRefused with the transaction back at its savepoint
 */
async function copyRange(
  client: PoolClient,
  copies: readonly TableCopy[],
  { from, to }: { readonly from: number; readonly to: number },
  refusedBy: Map<RowRefused, Table>,
): Promise<readonly number[]> {
  const counts: number[] = [];
  for (const copy of copies) {
    const sending = copyPart(client, copy, from, to).catch(async (error: unknown) => {
      if (error instanceof RowRefused) {
        refusedBy.set(error, copy.table);
        await client.query('ROLLBACK TO SAVEPOINT part');
        await copy.refusing.requireInnocent(error);
      }
      throw error;
    });
    counts.push(await sending);
  }
  return counts;
}

/** Sends the rows of some records, if they have any. @throws RowRefused with the place of the record */
async function copyPart(client: PoolClient, { table, rows }: TableRows, from: number, to: number): Promise<number> {
  const part = { rows: [rows.part(from, to)], length: rows.rowsIn(from, to), ...rows.kinds };
  if (part.length === 0) {
    return 0;
  }
  return sendRows(client, table, part).catch((error: unknown) => {
    const refusal = asRefusal(error, table.copy);
    if (!(refusal instanceof RowRefused)) {
      throw ofTable(refusal, table.name);
    }
    const record = refusal.index === null ? null : rows.recordOf(refusal.index, from, to);
    throw new RowRefused(refusal.sqlstate, record === null ? null : record - from, { cause: refusal.cause });
  });
}
