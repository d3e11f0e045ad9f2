import { inspect } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { aRequest } from '../store/open-store.ts';
import { openTables } from './open-tables.ts';

const SECRET = 'hunter2';

/** A trigger that raises an error with the value in it. */
const raising = (code: string) => `CREATE FUNCTION ?.raises() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN IF NEW.name = '${SECRET}' THEN RAISE EXCEPTION 'no %', NEW.name USING ERRCODE = '${code}'; END IF; RETURN NEW; END $$;
  CREATE TRIGGER raises BEFORE INSERT ON ?.orders FOR EACH ROW EXECUTE FUNCTION ?.raises()`;

interface Refused {
  /** Of the table, behind `id int` unless it is among them. */
  readonly columns: string;
  readonly before?: string;
  readonly sql?: string;
  /** The name of the rows that are taken. @default n and the id */
  readonly good?: string;
  /** Fields of the record that is refused. */
  readonly bad: { readonly id?: number | string; readonly name?: string | undefined };
  readonly sqlstate: string;
  readonly reason: string;
  readonly column: string | null;
}

const FITS_NOT = 'value_does_not_fit';
const VIOLATED = 'constraint_violated';

const REFUSED: Readonly<Record<string, Refused>> = {
  'a text for an integer': {
    columns: 'name text',
    bad: { id: SECRET },
    sqlstate: '22P02',
    reason: FITS_NOT,
    column: 'id',
  },
  'a number too large': { columns: 'name text', bad: { id: 3e9 }, sqlstate: '22003', reason: FITS_NOT, column: 'id' },
  'a text too long': { columns: 'name varchar(6)', bad: {}, sqlstate: '22001', reason: FITS_NOT, column: 'name' },
  'no date': { columns: 'name date', good: '2024-01-01', bad: {}, sqlstate: '22007', reason: FITS_NOT, column: 'name' },
  'a day that there is not': {
    columns: 'name date',
    good: '2024-01-01',
    bad: { name: '2024-02-30' },
    sqlstate: '22008',
    reason: FITS_NOT,
    column: 'name',
  },
  'no hstore': {
    before: 'CREATE EXTENSION IF NOT EXISTS hstore SCHEMA public',
    columns: 'name public.hstore',
    good: 'a=>1',
    bad: {},
    sqlstate: '42601',
    reason: FITS_NOT,
    column: 'name',
  },
  'no table': {
    columns: 'name regclass',
    good: 'pg_class',
    bad: {},
    sqlstate: '42P01',
    reason: FITS_NOT,
    column: 'name',
  },
  'no type': {
    columns: 'name regtype',
    good: 'text',
    bad: {},
    sqlstate: '42704',
    reason: FITS_NOT,
    column: 'name',
  },
  'no function': {
    columns: 'name regproc',
    good: 'now',
    bad: {},
    sqlstate: '42883',
    reason: FITS_NOT,
    column: 'name',
  },
  'no schema': {
    columns: 'name regnamespace',
    good: 'pg_catalog',
    bad: {},
    sqlstate: '3F000',
    reason: FITS_NOT,
    column: 'name',
  },
  'no label of an enum': {
    before: "CREATE TYPE ?.colour AS ENUM ('red')",
    columns: 'name ?.colour',
    good: 'red',
    bad: {},
    sqlstate: '22P02',
    reason: FITS_NOT,
    column: 'name',
  },
  'broken JSON': {
    columns: 'name jsonb',
    good: '{}',
    bad: { name: `{"a": "\u2028COPY orders, line 1", ${SECRET}}` },
    sqlstate: '22P02',
    reason: FITS_NOT,
    column: 'name',
  },
  'what a domain refuses': {
    before: 'CREATE DOMAIN ?.small AS int CHECK (value < 100)',
    columns: 'id ?.small, name text',
    bad: { id: 100 },
    sqlstate: '23514',
    reason: VIOLATED,
    column: 'id',
  },
  'what a CHECK refuses': {
    columns: `name text CHECK (name <> '${SECRET}')`,
    bad: {},
    sqlstate: '23514',
    reason: VIOLATED,
    column: 'name',
  },
  'what a CHECK of two columns refuses': {
    columns: 'name text, CHECK (id < 100 OR name IS NULL)',
    bad: { id: 100 },
    sqlstate: '23514',
    reason: VIOLATED,
    column: 'id, name',
  },
  'what a CHECK of a partition refuses': {
    columns: 'name text',
    sql: `ALTER TABLE ?.orders RENAME TO part; CREATE TABLE ?.orders (LIKE ?.part) PARTITION BY HASH (id);
      ALTER TABLE ?.orders ATTACH PARTITION ?.part FOR VALUES WITH (MODULUS 1, REMAINDER 0);
      ALTER TABLE ?.part ADD CHECK (name <> '${SECRET}')`,
    bad: {},
    sqlstate: '23514',
    reason: VIOLATED,
    column: 'name',
  },
  'a duplicate of a key': {
    columns: 'id int PRIMARY KEY, name text',
    bad: { id: 1 },
    sqlstate: '23505',
    reason: VIOLATED,
    column: 'id',
  },
  'a duplicate of an index': {
    columns: 'name text',
    sql: 'CREATE UNIQUE INDEX ON ?.orders (name)',
    bad: { name: 'n0' },
    sqlstate: '23505',
    reason: VIOLATED,
    column: 'name',
  },
  'a duplicate that is looked for at COMMIT': {
    columns: 'id int UNIQUE DEFERRABLE INITIALLY DEFERRED, name text',
    bad: { id: 1 },
    sqlstate: '23505',
    reason: VIOLATED,
    column: 'id',
  },
  'no parent': {
    before: 'CREATE TABLE ?.parents (id int PRIMARY KEY); INSERT INTO ?.parents VALUES (0), (1), (2), (3)',
    columns: 'id int REFERENCES ?.parents, name text',
    bad: { id: 9 },
    sqlstate: '23503',
    reason: VIOLATED,
    column: 'id',
  },
  'no value for a column that needs one': {
    columns: 'name text NOT NULL',
    bad: { name: undefined },
    sqlstate: '23502',
    reason: 'missing_value',
    column: 'name',
  },
  'what a trigger refuses': {
    columns: 'name text',
    sql: raising('P0001'),
    bad: {},
    sqlstate: 'P0001',
    reason: 'rejected_by_database',
    column: null,
  },
  'what a trigger calls a value': {
    columns: 'name text',
    sql: raising('22000'),
    bad: {},
    sqlstate: '22000',
    reason: FITS_NOT,
    column: null,
  },
};

const open = ({ columns, before = '', sql = '' }: Pick<Refused, 'columns' | 'before' | 'sql'>, settings = {}) =>
  openTables({
    tables: { orders: columns.startsWith('id') ? columns : `id int, ${columns}` },
    before,
    sql,
    settings,
  });

describe('a dead letter of a user table has the table, the column and no word of the record', () => {
  test.each(Object.entries(REFUSED))('for %s', async (_, refused) => {
    const { bad, good, sqlstate, reason, column } = refused;
    const { sink, topic, schema, stored, letters } = await open(refused);
    const values = [0, 1, 2, 3].map((id) =>
      JSON.stringify(id === 2 ? { id, name: SECRET, ...bad } : { id, name: good ?? `n${id}` }),
    );
    expect(await sink.write(aRequest(topic, 0n, values))).toMatchObject({ deadLetters: new Map([[reason, 1]]) });
    expect(await stored()).toEqual({ orders: [0, 1, 3], records: [0, 1, 3], letters: [2], offset: 4 });
    const [letter] = await letters();
    expect(letter).toMatchObject({ offset: 2, reason, target: `${schema}.orders`, target_column: column });
    expect(letter?.['error']).toMatch(new RegExp(`^SQLSTATE ${sqlstate} \\([^)]+\\): refused by ${schema}\\.orders`));
    expect(letter?.['error']).not.toMatch(new RegExp(`${SECRET}|2024-02-30|3000000000|line`));
  });

  test('in which a line break and the words of a context name no other record', async () => {
    const { sink, topic, stored } = await open({ columns: 'name date' });
    const name = `x\nCOPY orders, line 1, column id: "\r\nCOPY orders, line 1`;
    const values = [
      { id: 0, name: '2024-01-01' },
      { id: 1, name: '2024-01-01' },
      { id: 2, name },
    ].map((value) => JSON.stringify(value));
    await sink.write(aRequest(topic, 0n, values));
    expect(await stored()).toEqual({ orders: [0, 1], records: [0, 1], letters: [2], offset: 3 });
  });
});

test('the limit of dead letters and a table that refuses all are reported without a word of the records', async () => {
  for (const [maxRatio, records, code] of [
    [0.001, 3, 'TOO_MANY_DEAD_LETTERS'],
    [0.5, 150, 'TABLE_REFUSES_ROWS'],
  ] as const) {
    const { sink, topic, schema, stored } = await open(
      { columns: 'name text', sql: raising('P0001') },
      { deadLetters: { maxRatio } },
    );
    const values = Array.from({ length: records }, (_, id) => JSON.stringify({ id, name: SECRET }));
    const error = await sink.write(aRequest(topic, 0n, values)).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: 'FatalError', code });
    expect(String(error)).toContain(`${schema}.orders`);
    expect(inspect(error, { depth: null })).not.toContain(SECRET);
    expect(await stored()).toEqual({ orders: [], records: [], letters: [], offset: 0 });
  }
});
