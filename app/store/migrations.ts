import { escapeIdentifier, type PoolClient } from 'pg';
import { FatalError } from '../stream/stream-errors.ts';
import { MIGRATIONS } from './schema-migrations.ts';
import { BEGIN } from './transaction.ts';

/** Any number that no other program is likely to lock: the first bytes of "stream-consumer". */
const MIGRATION_LOCK = 0x73747265;

/**
 * jsonb stores what the server's encoding can hold, and only UTF-8 holds every JSON text.
 *
 * @throws FatalError `DATABASE_ENCODING` when the database is not UTF-8
 */
export async function requireUtf8(client: PoolClient): Promise<void> {
  const { rows } = await client.query<{ server_encoding: string }>('SHOW server_encoding');
  const encoding = rows[0]?.server_encoding;
  if (encoding !== 'UTF8') {
    throw new FatalError(
      'DATABASE_ENCODING',
      `the database's encoding is ${encoding}, but only UTF8 can store every record: ` +
        "create another one with CREATE DATABASE ... ENCODING 'UTF8' TEMPLATE template0",
    );
  }
}

/** Asked first, because `IF NOT EXISTS` needs the right to create schemas even where there is nothing to create. */
async function createSchema(client: PoolClient, schema: string): Promise<void> {
  const { rows } = await client.query<{ exists: boolean }>('SELECT to_regnamespace($1) IS NOT NULL AS exists', [
    escapeIdentifier(schema),
  ]);
  if (!rows[0]?.exists) {
    await client.query(`CREATE SCHEMA ${escapeIdentifier(schema)}`);
  }
}

/**
 * Brings the schema up to date, in one transaction and under an advisory lock: of several processes that start at once
 * one does it and the others find it done.
 *
 * @returns the versions that were applied; none when all were there
 * @throws FatalError `DATABASE_ENCODING` when the database is not UTF-8
 */
export async function migrate(client: PoolClient, schema: string): Promise<number[]> {
  const quoted = escapeIdentifier(schema);
  await requireUtf8(client);
  await client.query(BEGIN);
  await client.query('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
  await createSchema(client, schema);
  await client.query(
    `CREATE TABLE IF NOT EXISTS ${quoted}.schema_migrations (
       version int PRIMARY KEY, name text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`,
  );
  const { rows } = await client.query<{ version: number }>(`SELECT version FROM ${quoted}.schema_migrations`);
  const applied = new Set(rows.map(({ version }) => version));
  const missing = MIGRATIONS.filter(({ version }) => !applied.has(version));
  for (const { version, name, sql } of missing) {
    await client.query(sql(quoted));
    await client.query(`INSERT INTO ${quoted}.schema_migrations (version, name) VALUES ($1, $2)`, [version, name]);
  }
  await client.query('COMMIT');
  return missing.map(({ version }) => version);
}
