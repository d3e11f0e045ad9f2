import type { PoolClient } from 'pg';
import { CopyQuery, copyStatement } from './binary-copy.ts';
import { type OffsetOwner, requireCommitted } from './compare-and-set.ts';
import { RowRefused } from './isolate-poison.ts';
import { RECORDS } from './record-rows.ts';
import { asRefusal } from './refused-row.ts';

/** Statements that begin a transaction, one of which is an update that moves offsets; and how many it has to move. */
export interface OffsetMove {
  readonly moving: string;
  readonly moved: number;
}

/**
 * The whole of a transaction in two round trips: a message with all statements, up to `COMMIT`, and one with the rows, which are sent only
 * when PostgreSQL has moved the offsets. Nothing is left of a transaction that did not commit, and the connection can be used.
 *
 * @param rows encoded rows of `records`
 * @returns `declined` when not all offsets were moved, `refused` when a row was refused: either way nothing was written.
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
