import { describe, expect, test } from '@jest/globals';
import type { ColumnType, Unit } from '../../../../app/tables/mapping/table-mapping.ts';
import { column, fieldOf, listOf, typeOf } from './row-fields.ts';

describe('a text, as other formats than JSON have it,', () => {
  const text = (type: ColumnType, content: string, unit?: Unit) => {
    const bytes = Buffer.from(`"${content}"`);
    const slice = {
      bytes,
      start: 1,
      end: bytes.length - 1,
      kind: 'text',
      hasEscapes: JSON.stringify(content) !== `"${content}"`,
    } as const;
    return fieldOf((row) => row.json(column(type, unit === undefined ? {} : { unit }), slice));
  };

  test.each<[string, ColumnType, string, string]>([
    ['is the text of its column', typeOf('text'), 'grün', 'grün'],
    ['may be empty', typeOf('text'), '', ''],
    ['may be the word null', typeOf('text'), 'null', 'null'],
    ['is escaped as COPY needs it', typeOf('text'), 'a\t"b"\\\n', 'a\\t"b"\\\\\\n'],
    ['may look like the marker of NULL', typeOf('text'), '\\N', '\\\\N'],
    ['is a JSON string in json', typeOf('json'), 'a"b\t', '"a\\\\"b\\\\t"'],
    ['is a number by its digits', typeOf('numeric'), '1.50', '1.50'],
    ['is a date', typeOf('date'), '2026-07-15', '2026-07-15'],
    ['is no date of the clock', typeOf('date'), 'today', '<value_does_not_fit>'],
    ['is base64 for bytea', typeOf('bytea'), 'AP8=', '\\\\x00ff'],
    ['is an array literal', listOf(typeOf('text')), '{a,b}', '{a,b}'],
    ['has no NUL in text', typeOf('text'), 'a\0b', '<nul_character>'],
    ['has no NUL in a date', typeOf('date'), 'a\0b', '<nul_character>'],
  ])('%s', (_, type, content, expected) => {
    expect(text(type, content)).toBe(expected);
  });

  test('has a unit as a string has one', () => {
    expect(text(typeOf('bytea'), 'ff', 'hex')).toBe('\\\\xff');
    expect(text(typeOf('json'), '{"a": 1.10}', 'json')).toBe('{"a": 1.10}');
    expect(text(typeOf('timestamp'), '1784121255123', 'epoch-millis')).toBe('J2461237 13:14:15.123+00');
  });
});
