import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { CopyText } from '../../../../app/tables/rows/copy-text.ts';

const written = (rows: CopyText) => rows.slice(0, rows.end).toString('utf8');

/** Both ways to write text have to write the same. */
const fieldOf = (text: string) => {
  const rows = new CopyText(1);
  rows.text(text);
  const end = rows.end;
  rows.bytes(Buffer.from(`<${text}>`), 1, 1 + Buffer.byteLength(text));
  expect(rows.slice(end, rows.end).toString()).toBe(rows.slice(0, end).toString());
  const escapedEnd = rows.end;
  rows.plain(Buffer.from(`<${rows.slice(0, end - 1)}>`), 1, end);
  expect(rows.slice(escapedEnd, rows.end).toString()).toBe(rows.slice(0, end).toString());
  return rows.slice(0, end - 1).toString();
};

test.each([
  ['plain', 'plain'],
  ['', ''],
  ['tab\tnew\nreturn\rback\\slash', 'tab\\tnew\\nreturn\\rback\\\\slash'],
  ['\\N', '\\\\N'],
  ['\\D', '\\\\D'],
  ['\\.', '\\\\.'],
  ['\\\\\n\n', '\\\\\\\\\\n\\n'],
  ['x'.repeat(100), 'x'.repeat(100)],
  [`${'x'.repeat(100)}\t`, `${'x'.repeat(100)}\\t`],
  ['grün ✓ 𝄞\u0001\b\v\f', 'grün ✓ 𝄞\u0001\b\v\f'],
])('%j is written as %j', (text, escaped) => {
  expect(fieldOf(text)).toBe(escaped);
});

test('a field, whatever it says, has neither a tab nor the end of a line in it', () => {
  const unit = fc.constantFrom('\t', '\n', '\r', '\\', 'N', 'D', '.', 'é', '𝄞', '\u2028');
  fc.assert(
    fc.property(fc.string({ unit }), (text) => {
      const field = fieldOf(text);
      expect(field).not.toMatch(/[\t\n\r]/);
      expect(JSON.parse(`"${field.replaceAll('\\\\', '\\u005c')}"`)).toBe(text);
    }),
  );
});

test('fields are divided by tabs, rows by new lines; NULL, a default and an empty text differ', () => {
  const rows = new CopyText(1);
  rows.text('a');
  rows.null();
  rows.endRow();
  rows.default();
  rows.text('');
  rows.endRow();
  expect(written(rows)).toBe('a\t\\N\n\\D\t\n');
});

test('a row that is taken back leaves those before it and makes room for those after it', () => {
  const rows = new CopyText(1);
  rows.text('first');
  rows.endRow();
  const { end } = rows;
  rows.text('x'.repeat(100));
  rows.null();
  rows.takeBack(end);
  rows.text('second');
  rows.endRow();
  expect(written(rows)).toBe('first\nsecond\n');
});
