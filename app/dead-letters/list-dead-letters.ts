import type { DatabasePool } from '../store/database-pool.ts';
import type { ListRequest } from './dead-letters-request.ts';
import {
  COLUMNS,
  type DeadLetterPlace,
  type DeadLetterRow,
  deadLetterOf,
  deadLettersTable,
  type StoredDeadLetter,
  selection,
} from './dead-letters-table.ts';

/** Small enough that a page of large values fits into memory. */
const PAGE_ROWS = 100;

/** A letter with what its record holds, where that was asked for. */
export interface ListedDeadLetter extends StoredDeadLetter {
  readonly content?: { readonly key: Buffer | null; readonly value: Buffer | null };
}

interface ListedRow extends DeadLetterRow {
  readonly key?: Buffer | null;
  readonly value?: Buffer | null;
}

function listed(row: ListedRow): ListedDeadLetter {
  const { key, value } = row;
  return { ...deadLetterOf(row), ...(key === undefined || value === undefined ? {} : { content: { key, value } }) };
}

/**
 * The letters that a request names, page by page, in the order of group, topic, partition and offset.
 *
 * @throws OutageError, FatalError when PostgreSQL is away or refuses
 */
export async function* listDeadLetters(
  pool: Pick<DatabasePool, 'withClient'>,
  schema: string,
  { filter, limit = Number.POSITIVE_INFINITY, showValue }: Omit<ListRequest, 'action' | 'json'>,
): AsyncGenerator<readonly ListedDeadLetter[]> {
  const columns = showValue ? `${COLUMNS}, key, value` : COLUMNS;
  let after: DeadLetterPlace | null = null;
  for (let seen = 0; seen < limit; ) {
    const { sql, values } = selection(filter, after);
    const pageRows = Math.min(PAGE_ROWS, limit - seen);
    const page = await pool.withClient(async (client) => {
      const { rows } = await client.query<ListedRow>(
        `SELECT ${columns} FROM ${deadLettersTable(schema)} WHERE ${sql}
          ORDER BY group_id, topic, partition, "offset" LIMIT ${pageRows}`,
        [...values],
      );
      return rows.map(listed);
    });
    if (page.length > 0) {
      yield page;
    }
    after = page.at(-1) ?? null;
    seen += page.length;
    if (page.length < pageRows) {
      return;
    }
  }
}
