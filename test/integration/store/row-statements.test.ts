import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type pg from 'pg';
import { type BoundValues, type RowStatement, RowStatements } from '../../../app/store/copy/row-statements.ts';
import { connect } from './open-store.ts';

let client: pg.Client;

beforeEach(async () => {
  client = await connect();
  await client.query('CREATE TEMPORARY TABLE kept (n int)');
});

afterEach(() => client.end());

/** A row of one value. */
function bound(value: string): BoundValues {
  const text = Buffer.from(value);
  const head = Buffer.alloc(6);
  head.writeInt16BE(1);
  head.writeInt32BE(text.length, 2);
  return Buffer.concat([head, text]);
}

const statement = (name: string, values: readonly string[]): RowStatement => ({
  ...{ name, sql: 'INSERT INTO kept VALUES ($1)' },
  rows: values.map(bound),
});

const execute = (...statements: readonly RowStatement[]): Promise<readonly string[]> =>
  client.query(new RowStatements(statements)).tags;

const rows = async (): Promise<readonly number[]> =>
  (await client.query<{ n: number }>('SELECT n FROM kept ORDER BY n')).rows.map(({ n }) => n);

/** What the session keeps, and since when. */
const kept = async () =>
  (await client.query('SELECT name, statement, prepare_time FROM pg_prepared_statements ORDER BY name')).rows;

test('a statement with a name is made once in a session, and one without any is not kept', async () => {
  expect(await execute(statement('a', ['1', '2']), statement('', ['3']))).toHaveLength(3);
  const before = await kept();
  await execute(statement('a', ['4']));
  expect(await rows()).toEqual([1, 2, 3, 4]);
  expect(before).toMatchObject([{ name: 'a' }]);
  expect(await kept()).toEqual(before);
});

test('the text of a statement has its name: a pooler may know statements by their texts alone', async () => {
  await execute(statement('a', ['1']), statement('b', ['2']));
  expect(new Set((await kept()).map((each) => each.statement)).size).toBe(2);
});

test('a statement whose message failed is made again, whether or not the session has it', async () => {
  await expect(execute(statement('a', ['1', 'x']))).rejects.toThrow('invalid input syntax');
  expect(await kept()).toHaveLength(1);
  await execute(statement('a', ['2']));
  const made = await kept();
  await execute(statement('a', ['3']));
  expect(await rows()).toEqual([2, 3]);
  expect(await kept()).toEqual(made);
});

test('a session that lacks what was kept fails the message, and the connection uses no names any more', async () => {
  await execute(statement('a', ['1']));
  await client.query('DEALLOCATE ALL');
  const failing = new RowStatements([statement('b', ['2']), statement('a', ['3'])]);
  await expect(client.query(failing).tags).rejects.toThrow('does not exist');
  expect(failing.lacksKept).toBe(true);
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

test('a message that uses nothing that was kept fails by what a trigger passes on, and names are used as before', async () => {
  await client.query(`CREATE FUNCTION pg_temp.fail() RETURNS trigger LANGUAGE plpgsql AS
    $$BEGIN RAISE SQLSTATE '26000' USING MESSAGE = 'of another server'; END$$;
    CREATE TRIGGER fails BEFORE INSERT ON kept FOR EACH ROW WHEN (NEW.n = 1) EXECUTE FUNCTION pg_temp.fail()`);
  const failing = new RowStatements([statement('a', ['1'])]);
  await expect(client.query(failing).tags).rejects.toThrow('of another server');
  expect(failing.lacksKept).toBe(false);
  await execute(statement('a', ['2']));
  expect(await kept()).toMatchObject([{ name: 'a' }]);
});
