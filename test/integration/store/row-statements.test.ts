import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type pg from 'pg';
import { isNotKept, type RowStatement, RowStatements } from '../../../app/store/copy/row-statements.ts';
import { connect } from './open-store.ts';

let client: pg.Client;

beforeEach(async () => {
  client = await connect();
  await client.query('CREATE TEMPORARY TABLE kept (n int)');
});

afterEach(() => client.end());

const statement = (name: string, values: readonly string[]): RowStatement => ({
  ...{ name, sql: 'INSERT INTO kept VALUES ($1)' },
  rows: values.map((value) => [value]),
});

const execute = (...statements: readonly RowStatement[]): Promise<readonly string[]> =>
  client.query(new RowStatements(statements)).tags;

const rows = async (): Promise<readonly number[]> =>
  (await client.query<{ n: number }>('SELECT n FROM kept ORDER BY n')).rows.map(({ n }) => n);

/** What the session keeps, and how often it was executed. */
const kept = async (): Promise<readonly string[]> => {
  const sql = 'SELECT name, generic_plans + custom_plans AS times FROM pg_prepared_statements ORDER BY name';
  const found = await client.query<{ name: string; times: string }>(sql);
  return found.rows.map(({ name, times }) => `${name} ${times}`);
};

test('a statement with a name is made once in a session, and one without any is not kept', async () => {
  expect(await execute(statement('a', ['1', '2']), statement('', ['3']))).toHaveLength(3);
  await execute(statement('a', ['4']));
  expect(await rows()).toEqual([1, 2, 3, 4]);
  expect(await kept()).toEqual(['a 3']);
});

test('a statement whose message failed is made again: the session may have it by then', async () => {
  await expect(execute(statement('a', ['1', 'x']))).rejects.toThrow('invalid input syntax');
  expect(await kept()).toHaveLength(1);
  await execute(statement('a', ['2']));
  await execute(statement('a', ['3']));
  expect(await rows()).toEqual([2, 3]);
  expect(await kept()).toEqual(['a 2']);
});

test('a session that lacks what was kept fails the message, and the connection uses no names any more', async () => {
  await execute(statement('a', ['1']));
  await client.query('DEALLOCATE ALL');
  const error = await execute(statement('b', ['2']), statement('a', ['3'])).catch((reason: unknown) => reason);
  expect(isNotKept(error)).toBe(true);
  expect(await rows()).toEqual([1]);
  await client.query('DEALLOCATE ALL');
  await execute(statement('a', ['4']), statement('b', ['5']));
  expect(await rows()).toEqual([1, 4, 5]);
  expect(await kept()).toEqual([]);
});

test('a session keeps 256 statements, and all others are executed without', async () => {
  const names = Array.from({ length: 258 }, (_, nth) => `s${nth}`);
  await execute(...names.slice(0, 200).map((name) => statement(name, ['1'])));
  await execute(...names.map((name) => statement(name, ['2'])));
  expect(await rows()).toHaveLength(200 + 258);
  expect(await kept()).toHaveLength(256);
});
