import { finished } from 'node:stream/promises';
import { escapeIdentifier, type PoolClient } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { encodeCopy } from './copy-binary.ts';

/** A table and the columns that rows are encoded for. */
export interface CopyTarget {
  readonly table: string;
  readonly columns: readonly string[];
}

/**
 * Sends encoded rows with one COPY. Rejects with PostgreSQL's error; the connection can be used again after a
 * `ROLLBACK TO SAVEPOINT`.
 */
export async function copyInto(
  client: PoolClient,
  schema: string,
  target: CopyTarget,
  rows: readonly Buffer[],
): Promise<void> {
  const columns = target.columns.map(escapeIdentifier).join(', ');
  const table = `${escapeIdentifier(schema)}.${escapeIdentifier(target.table)}`;
  const stream = client.query(copyFrom(`COPY ${table} (${columns}) FROM STDIN (FORMAT binary)`));
  stream.end(encodeCopy(rows));
  await finished(stream);
}
