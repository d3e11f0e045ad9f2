import { escapeIdentifier, type PoolClient } from 'pg';
import { FatalError } from '../stream/stream-errors.ts';
import { requireUtf8 } from './migrations.ts';
import { MIGRATIONS } from './schema-migrations.ts';

async function appliedVersions(client: PoolClient, schema: string): Promise<ReadonlySet<number>> {
  const table = `${escapeIdentifier(schema)}.schema_migrations`;
  const found = await client.query<{ exists: boolean }>('SELECT to_regclass($1) IS NOT NULL AS exists', [table]);
  if (found.rows[0]?.exists !== true) {
    return new Set();
  }
  const { rows } = await client.query<{ version: number }>(`SELECT version FROM ${table}`);
  return new Set(rows.map(({ version }) => version));
}

/**
 * Asks for the tables instead of making them: where somebody else owns them, this role need not be able to. Versions
 * that are newer than this program do no harm: a rollback finds them.
 *
 * @returns the versions that were applied: none
 * @throws FatalError `DATABASE_NOT_MIGRATED` when the tables, or versions of them, are missing
 * @throws FatalError `DATABASE_ENCODING` when the database is not UTF-8
 */
export async function requireMigrated(client: PoolClient, schema: string): Promise<number[]> {
  await requireUtf8(client);
  const applied = await appliedVersions(client, schema);
  const missing = MIGRATIONS.filter(({ version }) => !applied.has(version));
  if (missing.length > 0) {
    const list = missing.map(({ version, name }) => `${version} (${name})`).join(', ');
    const what = applied.size === 0 ? 'has none of our tables' : 'is too old';
    throw new FatalError(
      'DATABASE_NOT_MIGRATED',
      `the schema "${schema}" ${what}; missing: ${list}. database.migrate is false, so run "stream-consumer migrate" ` +
        'as the role that owns them (docs/database-roles.md), or let the consumer do it with database.migrate: true',
    );
  }
  return [];
}
