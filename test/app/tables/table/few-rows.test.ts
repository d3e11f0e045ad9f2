import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { BoundValues } from '../../../../app/store/copy/row-statements.ts';
import { CopyText } from '../../../../app/tables/rows/copy-text.ts';
import { isReadAlike, MOST_FEW_ROWS, nameOf, valuesOfFewRows } from '../../../../app/tables/table/few-rows.ts';

/** A row of a stage as the encoder writes it. */
function rowOf(fields: readonly (string | null)[], { operation = 'u', sequence = 1 } = {}): Buffer {
  const text = new CopyText(16);
  for (const field of fields) {
    field === null ? text.null() : text.text(field);
  }
  text.text(String(sequence));
  text.text(operation);
  text.null();
  text.endRow();
  return text.slice(0, text.end);
}

/** The values of a row, out of what a Bind message has of them. */
function textsOf(bound: BoundValues): readonly (string | null)[] {
  const texts: (string | null)[] = [];
  let at = 2;
  for (let left = bound.readInt16BE(0); left > 0; left -= 1) {
    const length = bound.readInt32BE(at);
    at += 4;
    texts.push(length < 0 ? null : bound.toString('utf8', at, at + length));
    at += Math.max(length, 0);
  }
  expect(at).toBe(bound.length);
  return texts;
}

const fewRows = (...rows: Parameters<typeof valuesOfFewRows>) => valuesOfFewRows(...rows)?.map(textsOf) ?? null;

const wellFormed = fc.string({ unit: 'grapheme', maxLength: 80 });
const field = fc.oneof(
  wellFormed,
  fc.constantFrom('\\N', '\\D', '\\', '\t', '\n', '\r', '\\t', '', '\u{feff}', 'N', '\\\\N', '\v\b\f'),
  fc.constant(null),
);

/** Rows whose numbers begin with 9, so that they do not have one length. */
const rowsOf = (all: readonly (readonly (string | null)[])[]): readonly Buffer[] =>
  all.map((fields, nth) => rowOf(fields, { sequence: nth + 9 }));

describe('the values of a few rows', () => {
  const rowsOfFields = fc
    .integer({ min: 1, max: 6 })
    .chain((columns) =>
      fc.array(fc.array(field, { minLength: columns, maxLength: columns }), { minLength: 1, maxLength: 8 }),
    );

  test('are those that the encoder wrote, whatever they are and wherever its pieces end', () => {
    fc.assert(
      fc.property(rowsOfFields, fc.nat(8), (all, at) => {
        const rows = rowsOf(all);
        const pieces = [Buffer.concat(rows.slice(0, at)), Buffer.concat(rows.slice(at))];
        expect(fewRows(pieces, all.length, all[0]?.length ?? 0)).toEqual(all);
      }),
    );
  });

  const withDefault = new CopyText(16);
  withDefault.default();
  for (const text of ['2', 'u']) withDefault.text(text);
  withDefault.endRow();

  test.each([
    ['one deletes', rowOf(['7'], { operation: 'd', sequence: 2 })],
    ['one deletes unless the row is newer', rowOf(['7'], { operation: 'o', sequence: 2 })],
    ['one takes a default', withDefault.slice(0, withDefault.end)],
    ['they have more than 8 KiB', rowOf(['x'.repeat(8_192)], { sequence: 2 })],
    ['one is no UTF-8', Buffer.from('\xff\t2\tu\n', 'latin1')],
    ['they are not in the order of their records', rowOf(['7'], { sequence: 1 })],
  ])('are left to the stage where %s', (_, row) => {
    const first = rowOf(['1'], { sequence: 1 });
    expect(fewRows([first, row], 2, 1)).toBeNull();
    expect(fewRows([first, rowOf(['7'], { sequence: 2 })], 2, 1)).toEqual([['1'], ['7']]);
  });

  test('are taken up to 8 KiB and sixteen rows', () => {
    const text = 'x'.repeat(8_000);
    expect(fewRows([rowOf([text])], 1, 1)).toEqual([[text]]);
    const few = Array.from({ length: MOST_FEW_ROWS }, () => ['1']);
    expect(fewRows(rowsOf(few), few.length, 1)).toEqual(few);
    expect(fewRows(rowsOf([...few, ['1']]), few.length + 1, 1)).toBeNull();
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

test('a statement has another name for another table or other columns, and none where these are not known', () => {
  const names = [nameOf('INSERT', 'a'), nameOf('INSERT', 'b'), nameOf('INSERT a', '')];
  expect(new Set(names).size).toBe(3);
  expect(nameOf('INSERT', 'a')).toBe(names[0]);
  // PostgreSQL's names have 63 bytes, and it cuts longer ones.
  expect(names[0]).toMatch(/^stream_consumer_[0-9a-f]{32}$/);
  expect(nameOf('INSERT', undefined)).toBe('');
});
