import { finished } from 'node:stream/promises';
import { type ClientBase, escapeIdentifier } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { COPY_SIGNATURE, COPY_TRAILER } from './copy-buffer.ts';

/** A table and the columns that rows are encoded for. */
export interface CopyTarget {
  readonly table: string;
  readonly columns: readonly string[];
}

/**
 * Sends encoded rows with one COPY, and in one piece: pg-copy-streams goes on with the next piece when the socket drains,
 * even if PostgreSQL has refused a row meanwhile, and then throws where nobody can catch it. Rejects with PostgreSQL's error; the connection can be used again after a
 * `ROLLBACK TO SAVEPOINT`.
 */
export async function copyInto(client: ClientBase, schema: string, target: CopyTarget, rows: Buffer): Promise<void> {
  const columns = target.columns.map(escapeIdentifier).join(', ');
  const table = `${escapeIdentifier(schema)}.${escapeIdentifier(target.table)}`;
  const stream = client.query(copyFrom(`COPY ${table} (${columns}) FROM STDIN (FORMAT binary)`));
  stream.end(Buffer.concat([COPY_SIGNATURE, rows, COPY_TRAILER]));
  await finished(stream);
}
