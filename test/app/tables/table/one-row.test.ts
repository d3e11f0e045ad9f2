import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { CopyText } from '../../../../app/tables/rows/copy-text.ts';
import { isReadAlike, valuesOfOneRow } from '../../../../app/tables/table/one-row.ts';

/** A row of a stage as the encoder writes it. */
function rowOf(fields: readonly (string | null)[], { operation = 'u' } = {}): Buffer {
  const text = new CopyText(16);
  for (const field of fields) {
    field === null ? text.null() : text.text(field);
  }
  text.text('1');
  text.text(operation);
  text.null();
  text.endRow();
  return text.slice(0, text.end);
}

const wellFormed = fc.string({ unit: 'grapheme', maxLength: 80 });
const field = fc.oneof(
  wellFormed,
  fc.constantFrom('\\N', '\\D', '\\', '\t', '\n', '\r', '\\t', '', '\u{feff}', 'N', '\\\\N', '\v\b\f'),
  fc.constant(null),
);

describe('the values of one row', () => {
  test('are those that the encoder wrote, whatever they are', () => {
    fc.assert(
      fc.property(fc.array(field, { minLength: 1, maxLength: 6 }), (fields) => {
        expect(valuesOfOneRow(rowOf(fields), fields.length)).toEqual(fields);
      }),
    );
  });

  const withDefault = new CopyText(16);
  withDefault.default();
  for (const text of ['1', 'u']) withDefault.text(text);
  withDefault.endRow();

  test.each([
    ['deletes', rowOf(['7'], { operation: 'd' })],
    ['deletes unless the row is newer', rowOf(['7'], { operation: 'o' })],
    ['takes a default', withDefault.slice(0, withDefault.end)],
    ['is larger than 8 KiB', rowOf(['x'.repeat(8_192)])],
    ['is no UTF-8', Buffer.from('\xff\t1\tu\n', 'latin1')],
  ])('are left to the stage when it %s', (_, row) => {
    expect(valuesOfOneRow(row, 1)).toBeNull();
  });

  test('are taken up to 8 KiB', () => {
    const text = 'x'.repeat(8_000);
    expect(valuesOfOneRow(rowOf([text]), 1)).toEqual([text]);
  });
});

test.each([
  ['text', true],
  ['numeric(10,2)', true],
  ['numeric(10,2)[]', true],
  ['character varying(5)', true],
  ['bit(3)', true],
  ['timestamp(3) with time zone', true],
  ['interval', true],
  ['interval[]', true],
  ['interval year', false],
  ['interval(3)', false],
  ['interval day to second(3)', false],
  ['geometry(Point,4326)', false],
  ['"numeric"(3)', false],
])('a parameter of type %s is read as COPY reads it: %s', (type, isAlike) => {
  expect(isReadAlike(type)).toBe(isAlike);
});
