import { describe, expect, test } from '@jest/globals';
import { recordsOf } from '../../../../app/records/pack-records.ts';
import type { ColumnSource, ColumnType, MappedColumn, Unit } from '../../../../app/tables/mapping/table-mapping.ts';
import { misfitWords, rowColumn } from '../../../../app/tables/rows/row-column.ts';
import { TableEncoder } from '../../../../app/tables/table/table-encoder.ts';
import { aRecord } from '../../stream/records.ts';

const FIELD: ColumnSource = { kind: 'field', path: ['placed_at'] };

const column = (type: ColumnType, unit?: Unit, source: ColumnSource = FIELD): MappedColumn => ({
  name: 'placed_at',
  type,
  source,
  isNotNull: false,
  hasDefault: false,
  ...(unit && { unit }),
});

const words = (type: ColumnType, unit?: Unit, source: ColumnSource = FIELD) =>
  misfitWords(rowColumn(column(type, unit, source)), 'string');

const TIMESTAMP: ColumnType = { kind: 'timestamp', name: 'timestamp with time zone' };
const BYTEA: ColumnType = { kind: 'bytea', name: 'bytea' };
const NUMERIC: ColumnType = { kind: 'numeric', name: 'numeric(12,2)' };
const ARRAY: ColumnType = { kind: 'array', name: 'integer[]', element: NUMERIC, delimiter: ',' };

describe('a value that does not fit is named by its kind, and the column by what it takes', () => {
  test.each<[ColumnType, Unit | undefined, string]>([
    [TIMESTAMP, 'epoch-millis', 'placed_at is text; the column takes a number of epoch-millis'],
    [TIMESTAMP, undefined, 'placed_at is text; the column takes text of a timestamp without a word such as now'],
    [BYTEA, 'hex', 'placed_at is text; the column takes text in hex'],
    [BYTEA, undefined, 'placed_at is text; the column takes text in base64'],
    [NUMERIC, undefined, 'placed_at is text; the column takes a number within numeric(12,2)'],
    [NUMERIC, 'decimal(2)', 'placed_at is text; the column takes a number of decimal(2)'],
    [NUMERIC, 'variable-decimal', 'placed_at is text; the column takes an object in the form variable-decimal'],
    [ARRAY, undefined, 'placed_at is text; the column takes a list, or the text of integer[]'],
  ])('of %j as %s', (type, unit, beginning) => {
    expect(words(type, unit).startsWith(beginning)).toBe(true);
  });

  test('whatever the column takes it from', () => {
    const of = (source: ColumnSource) => words(NUMERIC, undefined, source);
    expect(of({ kind: 'field', path: ['customer', 0, 'id'] })).toMatch(/^customer\.0\.id is text;/);
    expect(of({ kind: 'field', path: [] })).toMatch(/^the value is text;/);
    expect(of({ kind: 'key', path: ['id'] })).toMatch(/^id of the key is text;/);
    expect(of({ kind: 'header', name: 'tenant' })).toMatch(/^the header tenant is text;/);
    expect(misfitWords(rowColumn(column(NUMERIC, undefined, { kind: 'header', name: 'tenant' })), undefined)).toMatch(
      /^the header tenant is bytes;/,
    );
    expect(misfitWords(rowColumn(column(NUMERIC, undefined, { kind: 'key', path: ['id'] })), undefined)).toBe(
      'of id of the key the column takes a number within numeric(12,2)',
    );
  });
});

describe('a table', () => {
  const encoder = (...columns: readonly MappedColumn[]) =>
    new TableEncoder(
      { schema: 'public', table: 'orders', topics: ['orders'], columns, key: null, stage: null },
      { maxValueBytes: 100, takesDefaults: false },
    );
  const place = { topic: 'orders', partition: 0 };
  const recordOf = (value: string) => recordsOf([aRecord(0n, { value: Buffer.from(value) })]);

  test('has the words in the letter of a value that it does not send', () => {
    const { refused } = encoder(column(TIMESTAMP, 'epoch-millis')).encode(place, recordOf('{"placed_at":"hunter2"}'));
    expect(refused.get(0)).toEqual({
      reason: 'value_does_not_fit',
      error: 'not for public.orders, column "placed_at": placed_at is text; the column takes a number of epoch-millis',
      target: 'public.orders',
      targetColumn: 'placed_at',
    });
  });

  test('finds the words for a value that PostgreSQL refused, and none for a column that it does not have', () => {
    const sent = encoder(column(NUMERIC));
    const misfit = (name: string) => sent.misfit(place, recordOf('{"placed_at":true}'), name);
    expect(misfit('placed_at')).toBe('placed_at is a boolean; the column takes a number within numeric(12,2)');
    expect(misfit('another')).toBeUndefined();
  });
});
