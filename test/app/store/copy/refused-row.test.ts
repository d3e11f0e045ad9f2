import { describe, expect, test } from '@jest/globals';
import { DatabaseError } from 'pg';
import { asRefusal, reasonOfSqlstate, refusedLine, tableReasonOf } from '../../../../app/store/copy/refused-row.ts';

const TEXT = { relation: 'orders', format: 'text' } as const;
const BINARY = { relation: 'orders', format: 'binary' } as const;

describe('the row that a context of PostgreSQL is about', () => {
  test.each([
    ['of a value', 'COPY orders, line 3, column id: "x"', { row: 2, words: ', column id: "x"' }],
    ['of a whole row', 'COPY orders, line 1', { row: 0, words: '' }],
    ['behind a JSON error', 'JSON data, line 1: {x\nCOPY orders, line 2, column v: "{x"', { row: 1 }],
    ['of another table', 'COPY orders_old, line 3\nCOPY my orders, line 4', null],
    ['of none', 'SQL statement "SELECT 1"', null],
    ['before the first row', 'COPY orders, line 0', null],
  ])('%s', (_, context, expected) => {
    for (const copy of [TEXT, BINARY]) {
      const found = refusedLine(context, copy);
      expect(found).toEqual(expected === null ? null : expect.objectContaining(expected));
    }
  });

  test('is none without a context', () => {
    expect(refusedLine(undefined, TEXT)).toBeNull();
  });

  test('is the first one in the text format, where a value is quoted behind it', () => {
    const context = 'COPY orders, line 3, column id: "x\nCOPY orders, line 1, column id: "y"';
    expect(refusedLine(context, TEXT)).toMatchObject({ row: 2 });
  });

  test('is the last one in the binary format, where a JSON error quotes before it', () => {
    const context = 'JSON data, line 1: "\nCOPY orders, line 1\nCOPY orders, line 3, column value';
    expect(refusedLine(context, BINARY)).toEqual({ row: 2, words: ', column value' });
  });

  test.each(['\r', '\u2028', ' '])('is at the beginning of a line alone, which %j does not begin', (separator) => {
    const context = `JSON data, line 1: x${separator}COPY orders, line 1\nCOPY orders, line 3`;
    expect(refusedLine(context, TEXT)).toMatchObject({ row: 2 });
  });

  test.each(['a.b', 'a"; (b|c)*+?[]{}^$\\', 'a, line 7', 'grün\nzwei'])('of the table %j', (relation) => {
    const context = `COPY ${relation}, line 5, column id: "x"`;
    expect(refusedLine(context, { relation, format: 'text' })).toMatchObject({ row: 4 });
  });
});

describe.each(['42601', '42P01', '42704', '42883', '3F000'])('SQLSTATE %s', (code) => {
  test.each([
    ['a text that the type of a column refuses', 'COPY orders, line 3, column name: "x"', true],
    ['a statement of a trigger', 'PL/pgSQL function shop.note() line 1 at EXECUTE\nCOPY orders, line 3: "1\tx"', false],
    ['a function of a domain', 'SQL function "fits" statement 1\nCOPY orders, line 3, column name: "x"', false],
    ['a statement of the consumer', undefined, false],
  ])('is the fault of a row for %s: %p is %p', (_, where, isOfRow) => {
    const error = Object.assign(new DatabaseError('refused', 0, 'error'), { code, where });
    const refusal = asRefusal(error, { ...TEXT, statement: 'COPY' });
    expect(refusal).toEqual(isOfRow ? expect.objectContaining({ name: 'RowRefused', index: 2 }) : error);
  });
});

describe('why a row is refused, by its SQLSTATE', () => {
  test.each([
    ['22P02', 'invalid_json', 'value_does_not_fit'],
    ['22021', 'invalid_utf8', 'value_does_not_fit'],
    ['22P05', 'nul_character', 'value_does_not_fit'],
    ['22003', 'number_out_of_range', 'value_does_not_fit'],
    ['54001', 'nesting_too_deep', 'rejected_by_database'],
    ['54000', 'jsonb_limit_exceeded', 'rejected_by_database'],
    ['23502', 'rejected_by_database', 'missing_value'],
    ['23514', 'rejected_by_database', 'constraint_violated'],
    ['42501', 'rejected_by_database', 'constraint_violated'],
    ['42704', 'rejected_by_database', 'value_does_not_fit'],
    ['3F000', 'rejected_by_database', 'value_does_not_fit'],
    ['P0001', 'rejected_by_database', 'rejected_by_database'],
  ])('%s: %s in records, %s in a table of the user', (sqlstate, ofRecords, ofTable) => {
    expect([reasonOfSqlstate(sqlstate), tableReasonOf(sqlstate)]).toEqual([ofRecords, ofTable]);
  });
});

describe('a right that is lacking', () => {
  const error = Object.assign(new DatabaseError('refused', 0, 'error'), {
    code: '42501',
    where: 'COPY orders, line 3',
  });

  test('is the fault of a row where the table has policies for rows', () => {
    expect(asRefusal(error, { ...TEXT, statement: 'COPY', hasPolicies: true })).toMatchObject({ index: 2 });
  });

  test('is the fault of the role where it has none', () => {
    expect(asRefusal(error, { ...TEXT, statement: 'COPY' })).toBe(error);
    expect(asRefusal(error)).toBe(error);
  });

  test('is the only error that policies make the fault of a row', () => {
    const other = Object.assign(new DatabaseError('refused', 0, 'error'), { code: '55P03' });
    expect(asRefusal(other, { ...TEXT, statement: 'COPY', hasPolicies: true })).toBe(other);
  });
});

test('an error without an SQLSTATE, or of no PostgreSQL, is about no row', () => {
  const [unknown, other] = [new DatabaseError('refused', 0, 'error'), new Error('22P02')];
  expect([asRefusal(unknown), asRefusal(other)]).toEqual([unknown, other]);
});
