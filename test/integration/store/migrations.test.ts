import { afterAll, describe, expect, test } from '@jest/globals';
import type { PoolClient } from 'pg';
import {
  MIGRATIONS,
  migrate,
  missingVersions,
  requireMigrated,
  requireServer,
  unknownVersions,
} from '../../../app/store/tables/migrations.ts';
import { query } from '../stack/database.ts';
import { randomName } from '../stack/random-name.ts';
import { sharedDatabaseUrl } from '../stack/shared-stack.ts';
import { connect, openStore } from './open-store.ts';

const VERSIONS = MIGRATIONS.map(({ version }) => version);
const NAMES = MIGRATIONS.map(({ version, name }) => `${version} (${name})`);

const session = async (url = sharedDatabaseUrl()): Promise<PoolClient> =>
  (await connect({ connectionString: url })) as PoolClient;

const tablesOf = (schema: string) =>
  query<{ name: string }>('SELECT relname AS name FROM pg_class WHERE relnamespace = to_regnamespace($1) ORDER BY 1', [
    schema,
  ]);

test('a new schema gets all versions once, whoever comes first', async () => {
  const schema = randomName('schema');
  const sessions = await Promise.all([session(), session(), session()]);
  const applied = await Promise.all(sessions.map((client) => migrate(client, schema)));
  expect(applied.toSorted((one, other) => other.length - one.length)).toEqual([VERSIONS, [], []]);
  const stored = await query<{ version: number; name: string }>(
    `SELECT version, name FROM ${schema}.schema_migrations ORDER BY version`,
  );
  expect(stored).toEqual(MIGRATIONS.map(({ version, name }) => ({ version, name })));
  expect(await unknownVersions(sessions[0] as PoolClient, schema)).toEqual([]);
});

test('only the versions that are missing are applied, in a schema whose name needs quotes', async () => {
  const schema = `${randomName('schema')} "x"`;
  const quoted = `"${schema.replaceAll('"', '""')}"`;
  const client = await session();
  await migrate(client, schema);
  const [last] = VERSIONS.slice(-1);
  await query(`DROP TABLE ${quoted}.templates`);
  await query(`DELETE FROM ${quoted}.schema_migrations WHERE version = $1`, [last]);
  expect(await missingVersions(client, schema)).toEqual({ missing: NAMES.slice(-1), hasSome: true });
  await expect(requireMigrated(client, schema)).rejects.toMatchObject({
    code: 'DATABASE_NOT_MIGRATED',
    message: expect.stringContaining(`is too old; missing: ${NAMES.at(-1)}. Run "stream-consumer migrate"`),
  });
  expect(await migrate(client, schema)).toEqual([last]);
  expect(await requireMigrated(client, schema)).toEqual([]);
  expect(await missingVersions(client, schema)).toEqual({ missing: [], hasSome: true });
});

test('tables that are only looked for are not made', async () => {
  const schema = randomName('schema');
  const client = await session();
  expect(await missingVersions(client, schema)).toEqual({ missing: NAMES, hasSome: false });
  await expect(requireMigrated(client, schema)).rejects.toMatchObject({
    code: 'DATABASE_NOT_MIGRATED',
    message: expect.stringContaining(`the schema "${schema}" has none of our tables; missing: ${NAMES.join(', ')}.`),
  });
  const { sink } = openStore({ schema, settings: { database: { migrate: false } } });
  await expect(sink.migrate()).rejects.toMatchObject({ code: 'DATABASE_NOT_MIGRATED' });
  expect(await tablesOf(schema)).toEqual([]);
});

test('what a later version has made is named, and does no harm', async () => {
  const { schema, sink } = openStore();
  expect(await sink.migrate()).toEqual(VERSIONS);
  await query(`INSERT INTO ${schema}.schema_migrations (version, name) VALUES (9001, 'b'), (9000, 'a')`);
  expect(await sink.unknownVersions()).toEqual(['9000 (a)', '9001 (b)']);
  expect(await sink.migrate()).toEqual([]);
  expect(await requireMigrated(await session(), schema)).toEqual([]);
});

describe('the server', () => {
  const ascii = randomName('ascii');
  afterAll(() => query(`DROP DATABASE IF EXISTS ${ascii} WITH (FORCE)`));

  const answering = (row: Readonly<Record<string, unknown>>) =>
    ({ query: async () => ({ rows: [row] }) }) as unknown as PoolClient;

  test.each([
    ['12.9', 12, 'DATABASE_TOO_OLD'],
    ['13.0', 13, null],
  ])('of version %s is taken, or not', async (version, major, code) => {
    const asked = requireServer(answering({ version, major, encoding: 'UTF8' })).catch((error: unknown) => error);
    expect(await asked).toMatchObject(
      code === null
        ? { version, major }
        : { code, message: expect.stringContaining(`is PostgreSQL ${version}, and 13`) },
    );
  });

  test('of another encoding than UTF8 is refused before anything is made', async () => {
    await query(`CREATE DATABASE ${ascii} ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0`);
    const url = new URL(sharedDatabaseUrl());
    url.pathname = ascii;
    const client = await session(url.href);
    try {
      for (const prepare of [migrate, requireMigrated]) {
        await expect(prepare(client, 'events')).rejects.toMatchObject({
          code: 'DATABASE_ENCODING',
          message: expect.stringContaining('encoding is SQL_ASCII'),
        });
      }
      const { rows } = await client.query("SELECT to_regnamespace('events') AS schema");
      expect(rows).toEqual([{ schema: null }]);
    } finally {
      await client.end();
    }
  });
});
