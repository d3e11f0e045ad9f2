import { escapeIdentifier, type PoolClient } from 'pg';
import { FatalError } from '../../stream/ports/stream-errors.ts';
import { BEGIN } from '../connection/transaction.ts';

/** One numbered change of the schema; a number that was released never changes its meaning. */
interface Migration {
  readonly version: number;
  readonly name: string;
  /** SQL for the schema with this (already quoted) name. */
  readonly sql: (schema: string) => string;
}

/**
 * The tables, in the order of their making.
 *
 * `offsets` keeps half of each page free and has no further index, so that moving an offset stays within its page
 * (HOT). What is added later is nullable: programs before it write beside this one, and leave it as it is. So
 * `leader_epoch` is that of `next_offset` only as long as `leader_epoch_offset` is the same.
 */
export const MIGRATIONS: readonly Migration[] = [
  {
    version: 1,
    name: 'create records, offsets and dead_letters',
    sql: (schema) => `
      CREATE TABLE ${schema}.records (
        topic text NOT NULL,
        partition int NOT NULL,
        "offset" bigint NOT NULL,
        timestamp timestamptz,
        key text,
        headers jsonb NOT NULL,
        value jsonb,
        ingested_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (topic, partition, "offset")
      );
      CREATE TABLE ${schema}.offsets (
        group_id text NOT NULL,
        topic text NOT NULL,
        partition int NOT NULL,
        next_offset bigint NOT NULL,
        updated_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (group_id, topic, partition)
      ) WITH (fillfactor = 50);
      CREATE TABLE ${schema}.dead_letters (
        group_id text NOT NULL,
        topic text NOT NULL,
        partition int NOT NULL,
        "offset" bigint NOT NULL,
        timestamp timestamptz,
        key bytea,
        headers jsonb NOT NULL,
        value bytea,
        reason text NOT NULL,
        error text NOT NULL,
        failed_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (group_id, topic, partition, "offset")
      );`,
  },
  {
    version: 2,
    name: 'create gaps',
    sql: (schema) => `
      CREATE TABLE ${schema}.gaps (
        group_id text NOT NULL,
        topic text NOT NULL,
        partition int NOT NULL,
        from_offset bigint NOT NULL,
        next_offset bigint NOT NULL,
        found_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (group_id, topic, partition, from_offset)
      );`,
  },
  {
    version: 3,
    name: 'add topic_id and leader_epoch to offsets',
    sql: (schema) => `
      ALTER TABLE ${schema}.offsets
        ADD COLUMN topic_id text,
        ADD COLUMN leader_epoch int,
        ADD COLUMN leader_epoch_offset bigint;`,
  },
  {
    version: 4,
    name: 'add target and target_column to dead_letters',
    sql: (schema) => `
      ALTER TABLE ${schema}.dead_letters
        ADD COLUMN target text,
        ADD COLUMN target_column text;`,
  },
  {
    version: 5,
    name: 'create filled_tables',
    sql: (schema) => `
      CREATE TABLE ${schema}.filled_tables (
        group_id text NOT NULL,
        topic text NOT NULL,
        topic_id text NOT NULL,
        target text NOT NULL,
        found_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (group_id, topic, topic_id, target)
      );`,
  },
  {
    version: 6,
    name: 'create discarded_letters',
    sql: (schema) => `
      CREATE TABLE ${schema}.discarded_letters (
        group_id text NOT NULL,
        topic text NOT NULL,
        partition int NOT NULL,
        "offset" bigint NOT NULL,
        timestamp timestamptz,
        key bytea,
        headers jsonb NOT NULL,
        value bytea,
        reason text NOT NULL,
        error text NOT NULL,
        failed_at timestamptz NOT NULL,
        target text,
        target_column text,
        because text NOT NULL,
        discarded_by text NOT NULL DEFAULT session_user,
        discarded_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (group_id, topic, partition, "offset", discarded_at)
      );`,
  },
  {
    version: 7,
    name: 'create templates',
    sql: (schema) => `
      CREATE TABLE ${schema}.templates (
        group_id text NOT NULL,
        template text NOT NULL,
        begun_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (group_id, template)
      );`,
  },
];

/** Any number that no other program is likely to lock: the first bytes of "stream-consumer". */
export const MIGRATION_LOCK = 0x73747265;

/** Major versions of PostgreSQL that the tests run against: from the oldest one on, up to the newest one. */
export const TESTED_POSTGRES = { oldest: 13, newest: 18 } as const;

/** The server of a database, as far as the tables depend on it. */
interface DatabaseServer {
  /** As the server names it, such as `18.1`. */
  readonly version: string;
  readonly major: number;
}

/**
 * Makes sure that the server can have the tables. jsonb stores only texts of the server's encoding, and only UTF-8
 * holds every JSON text.
 *
 * @throws FatalError `DATABASE_TOO_OLD` when the server is older than any that the tests run against
 * @throws FatalError `DATABASE_ENCODING` when the database is not UTF-8
 */
export async function requireServer(client: Pick<PoolClient, 'query'>): Promise<DatabaseServer> {
  const { rows } = await client.query<DatabaseServer & { encoding: string }>(
    `SELECT current_setting('server_version') AS version, current_setting('server_version_num')::int / 10000 AS major,
            current_setting('server_encoding') AS encoding`,
  );
  const { version = '', major = 0, encoding } = rows[0] ?? {};
  if (major < TESTED_POSTGRES.oldest) {
    throw new FatalError(
      'DATABASE_TOO_OLD',
      `the server is PostgreSQL ${version}, and ${TESTED_POSTGRES.oldest} is the oldest that is supported: upgrade it, ` +
        'or set database.url to another server. Then start again',
    );
  }
  if (encoding !== 'UTF8') {
    throw new FatalError(
      'DATABASE_ENCODING',
      `the database's encoding is ${encoding}, but only UTF8 can store every record: ` +
        "create another one with CREATE DATABASE ... ENCODING 'UTF8' TEMPLATE template0",
    );
  }
  return { version, major };
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
 * @throws FatalError `DATABASE_TOO_OLD`, `DATABASE_ENCODING` when the server cannot have the tables
 */
export async function migrate(client: PoolClient, schema: string): Promise<number[]> {
  const quoted = escapeIdentifier(schema);
  await requireServer(client);
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

async function appliedVersions(client: PoolClient, schema: string): Promise<ReadonlySet<number>> {
  const table = `${escapeIdentifier(schema)}.schema_migrations`;
  const found = await client.query<{ exists: boolean }>('SELECT to_regclass($1) IS NOT NULL AS exists', [table]);
  if (found.rows[0]?.exists !== true) {
    return new Set();
  }
  const { rows } = await client.query<{ version: number }>(`SELECT version FROM ${table}`);
  return new Set(rows.map(({ version }) => version));
}

/** Versions of the tables that the schema lacks, each with its name, and whether it has any of the others. */
export async function missingVersions(
  client: PoolClient,
  schema: string,
): Promise<{ readonly missing: readonly string[]; readonly hasSome: boolean }> {
  const applied = await appliedVersions(client, schema);
  const missing = MIGRATIONS.filter(({ version }) => !applied.has(version));
  return { missing: missing.map(({ version, name }) => `${version} (${name})`), hasSome: applied.size > 0 };
}

/** Versions of the tables that a later program made and this one does not know, each with its name. */
export async function unknownVersions(client: PoolClient, schema: string): Promise<string[]> {
  const { rows } = await client.query<Pick<Migration, 'version' | 'name'>>(
    `SELECT version, name FROM ${escapeIdentifier(schema)}.schema_migrations ORDER BY version`,
  );
  const known = new Set(MIGRATIONS.map(({ version }) => version));
  return rows.filter(({ version }) => !known.has(version)).map(({ version, name }) => `${version} (${name})`);
}

/**
 * Looks for the tables instead of making them: where another role owns them, this one need not be able to. Versions
 * that are newer than this program do no harm: a rollback finds them.
 *
 * @returns the versions that were applied: none
 * @throws FatalError `DATABASE_NOT_MIGRATED` when the tables, or versions of them, are missing
 * @throws FatalError `DATABASE_TOO_OLD`, `DATABASE_ENCODING` when the server cannot have the tables
 */
export async function requireMigrated(client: PoolClient, schema: string): Promise<number[]> {
  await requireServer(client);
  const { missing, hasSome } = await missingVersions(client, schema);
  if (missing.length > 0) {
    const what = hasSome ? 'is too old' : 'has none of our tables';
    throw new FatalError(
      'DATABASE_NOT_MIGRATED',
      `the schema "${schema}" ${what}; missing: ${missing.join(', ')}. Run "stream-consumer migrate" ` +
        'as the role that owns them (docs/database-roles.md), or let the consumer do it with database.migrate: true',
    );
  }
  return [];
}
