import { afterAll } from '@jest/globals';
import pg from 'pg';
import { randomName } from './random-name.ts';
import { sharedDatabaseUrl } from './shared-stack.ts';

/** Its server may end it between two statements; the next one fails then. */
const connection = (url = sharedDatabaseUrl()): pg.Client =>
  new pg.Client({ connectionString: url }).on('error', () => undefined);

/** A connection and an unused schema name; the schema is not created. */
export interface TestDatabase {
  readonly client: pg.Client;
  readonly schema: string;
}

/**
 * Gives the work a connection and a fresh schema name, and removes the schema afterwards.
 *
 * @param url @default the shared PostgreSQL
 */
export async function withDatabase<T>(work: (database: TestDatabase) => Promise<T>, url?: string): Promise<T> {
  const client = connection(url);
  const schema = randomName('schema');
  await client.connect();
  try {
    return await work({ client, schema });
  } finally {
    await client.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
    await client.end();
  }
}

/** Texts that leave their session other than they found it. */
const CHANGES_SESSION = /^\s*(SET|BEGIN)\b/i;

let shared: pg.Pool | undefined;

/** Sessions of the shared PostgreSQL, for as long as the test file runs: most texts are asked again and again. */
function sharedSessions(): pg.Pool {
  shared ??= new pg.Pool({ connectionString: sharedDatabaseUrl() }).on('error', () => undefined);
  return shared;
}

/** Once it is true, a statement opens a session for itself alone: later hooks of the file still clean up. */
let isOver = false;

afterAll(async () => {
  isOver = true;
  await shared?.end();
});

/**
 * Rows of one text, on a session that later texts get as they would a new one.
 *
 * @param url @default the shared PostgreSQL
 */
export async function query<Row extends pg.QueryResultRow>(
  text: string,
  values: readonly unknown[] = [],
  url?: string,
): Promise<readonly Row[]> {
  if (url === undefined && !isOver && !CHANGES_SESSION.test(text)) {
    return (await sharedSessions().query<Row>(text, [...values])).rows;
  }
  const client = connection(url);
  await client.connect();
  try {
    return (await client.query<Row>(text, [...values])).rows;
  } finally {
    await client.end();
  }
}
