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

/** Rows of one statement on a connection of its own. @param url @default the shared PostgreSQL */
export async function query<Row extends pg.QueryResultRow>(
  text: string,
  values: readonly unknown[] = [],
  url?: string,
): Promise<readonly Row[]> {
  const client = connection(url);
  await client.connect();
  try {
    return (await client.query<Row>(text, [...values])).rows;
  } finally {
    await client.end();
  }
}
