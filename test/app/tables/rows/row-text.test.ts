import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { valueAt } from '../../../../app/tables/json/json-slice.ts';
import type { ColumnType, Unit } from '../../../../app/tables/mapping/table-mapping.ts';
import { bytes, column, fieldOf, json, listOf, typeOf } from './row-fields.ts';

test.each([
  ['integer', '1e3', '1000'],
  ['integer', '1.5e1', '15'],
  ['integer', '1.50e1', '15.0'],
  ['integer', '100e-2', '1.00'],
  ['integer', '25e-4', '0.0025'],
  ['integer', '-0', '0'],
  ['integer', '0e999', '0'],
  ['integer', '-12e1', '-120'],
  ['integer', '9223372036854775807', '9223372036854775807'],
  ['integer', '1e1000000', '<value_does_not_fit>'],
  ['other', '1e999999999', '1e999999999'],
  ['boolean', '1e0', '1'],
  ['boolean', 'true', 'true'],
  ['numeric', '1.50e-3', '1.50e-3'],
  ['float', '-0', '-0'],
  ['text', '1.50e1', '1.50e1'],
  ['text', 'false', 'false'],
  ['text', '{"b": 1,\t"a":"\\n"}', '{"b": 1,\\t"a":"\\\\n"}'],
  ['text', '"a\\tb\\\\c"', 'a\\tb\\\\c'],
  ['text', '"\\u0000"', '<nul_character>'],
  ['text', '"\\ud800"', '<invalid_json>'],
  ['text', 'null', '\\N'],
  ['text', '"\\\\N"', '\\\\N'],
  ['json', '"a"', '"a"'],
  ['json', '1.50', '1.50'],
  ['json', 'null', '\\N'],
  ['date', '20240101', '<value_does_not_fit>'],
  ['date', '"2024-01-01"', '2024-01-01'],
  ['timestamp', '"NOW"', '<value_does_not_fit>'],
  ['timestamp', '" ,Today12:00"', '<value_does_not_fit>'],
  ['timestamp', '"yesterday allballs"', '<value_does_not_fit>'],
  ['timestamp', '"\\u0074omorrow"', '<value_does_not_fit>'],
  ['timestamp', '"epoch"', 'epoch'],
  ['timestamp', '"infinity"', 'infinity'],
  ['text', '"now"', 'now'],
  ['bytea', '"AQL/"', '\\\\x0102ff'],
  ['bytea', '"AQL_"', '\\\\x0102ff'],
  ['bytea', '"AQ=="', '\\\\x01'],
  ['bytea', '"AQ"', '\\\\x01'],
  ['bytea', '""', '\\\\x'],
  ['bytea', '"AQ="', '<value_does_not_fit>'],
  ['bytea', '"AR=="', '<value_does_not_fit>'],
  ['bytea', '"A Q=="', '<value_does_not_fit>'],
  ['bytea', '"+_+_"', '<value_does_not_fit>'],
  ['bytea', '17', '<value_does_not_fit>'],
  ['bytea', '["AQ=="]', '<value_does_not_fit>'],
] as const)('%s takes %s as %s', (kind, value, field) => {
  expect(json(typeOf(kind), value)).toBe(field);
});

test.each([
  ['epoch-seconds', 'timestamp', '1704103200', 'J2460311 10:00:00+00'],
  ['epoch-seconds', 'timestamp', '"1704103200.5"', 'J2460311 10:00:00.5+00'],
  ['epoch-seconds', 'timestamp', '1.7041032005e9', 'J2460311 10:00:00.5+00'],
  ['epoch-millis', 'timestamp', '-1', 'J2440587 23:59:59.999+00'],
  ['epoch-millis', 'timestamp', '-0.5', 'J2440587 23:59:59.9995+00'],
  ['epoch-micros', 'timestamp', '9007199254740993', 'J2544837 23:47:34.740993+00'],
  ['epoch-nanos', 'timestamp', '1704103200123456789', 'J2460311 10:00:00.123456789+00'],
  ['epoch-nanos', 'timestamp', '1e-20', 'J2440588 00:00:00.00000000000000000000000000001+00'],
  ['epoch-days', 'date', '19723', 'J2460311'],
  ['epoch-days', 'date', '-1', 'J2440587'],
  ['epoch-days', 'timestamp', '0.5', 'J2440588 12:00:00+00'],
  ['epoch-seconds', 'date', '-1', 'J2440587'],
  ['epoch-micros', 'time', '36000000001', '10:00:00.000001+00'],
  ['epoch-days', 'date', '-2440588', 'J0'],
  ['epoch-days', 'date', '-2440589', '<value_does_not_fit>'],
  ['epoch-seconds', 'timestamp', '1e400', '<value_does_not_fit>'],
  ['epoch-seconds', 'timestamp', '"2024-01-01"', '<value_does_not_fit>'],
  ['epoch-seconds', 'timestamp', '"now"', '<value_does_not_fit>'],
  ['epoch-seconds', 'timestamp', 'true', '<value_does_not_fit>'],
  ['hex', 'bytea', '"01Ff"', '\\\\x01ff'],
  ['hex', 'bytea', '"\\\\x01ff"', '\\\\x01ff'],
  ['hex', 'bytea', '"01f"', '<value_does_not_fit>'],
  ['hex', 'bytea', '"01fg"', '<value_does_not_fit>'],
  ['hex', 'bytea', '1', '<value_does_not_fit>'],
  ['base64', 'bytea', '"AQ=="', '\\\\x01'],
  ['decimal(2)', 'numeric', '"AN4="', '2.22'],
  ['decimal(2)', 'numeric', '"/w=="', '-0.01'],
  ['decimal(0)', 'numeric', '"gA=="', '-128'],
  ['decimal(-3)', 'numeric', '"AQ=="', '1000'],
  ['decimal(2)', 'numeric', '""', '<value_does_not_fit>'],
  ['decimal(2)', 'numeric', '2.22', '2.22'],
] as const)('as %s, %s takes %s as %s', (unit, kind, value, field) => {
  expect(json(typeOf(kind), value, unit)).toBe(field);
});

const PAIR: ColumnType = {
  kind: 'composite',
  name: 'pair',
  attributes: [
    { name: 'a', type: typeOf('text') },
    { name: 'b', type: listOf(typeOf('integer')) },
  ],
};

test.each([
  [
    'the delimiter of the element',
    { ...listOf(typeOf('other')), delimiter: ';' } as ColumnType,
    '["1","2"]',
    '{"1";"2"}',
  ],
  ['nothing', listOf(typeOf('text')), '[]', '{}'],
  ['lists of nothing', listOf(typeOf('text')), '[[],[]]', '{}'],
  ['null and its like', listOf(typeOf('text')), '[null,"NULL",""]', '{NULL,"NULL",""}'],
  ['quotes, backslashes', listOf(typeOf('text')), '["a\\"b","c\\\\d","e\\nf"]', '{"a\\\\"b","c\\\\\\\\d","e\\nf"}'],
  ['dimensions', listOf(typeOf('integer')), '[[[1],[2e1]],[[3],[null]]]', '{{{"1"},{"20"}},{{"3"},{NULL}}}'],
  ['lists of two lengths', listOf(typeOf('integer')), '[[1],[2,3]]', '<value_does_not_fit>'],
  ['a list beside none', listOf(typeOf('integer')), '[[1],2]', '<value_does_not_fit>'],
  ['a list that comes late', listOf(typeOf('text')), '[1,[2]]', '{"1","[2]"}'],
  ['seven dimensions', listOf(typeOf('integer')), '[[[[[[[1]]]]]]]', '<value_does_not_fit>'],
  ['a refused element', listOf(typeOf('date')), '["2024-01-01",1]', '<value_does_not_fit>'],
  ['its own form', listOf(typeOf('integer')), '"{1,2}"', '{1,2}'],
  ['its own form with the clock', listOf(typeOf('date')), '"{today}"', '<value_does_not_fit>'],
  ['an object', listOf(typeOf('integer')), '{"a":1}', '<value_does_not_fit>'],
  ['attributes by name', PAIR, '{"b":[1],"x":0,"a":"q\\"\\\\"}', '("q""\\\\\\\\","{""1""}")'],
  ['null, missing and empty', PAIR, '{"a":""}', '("",)'],
  ['its own form', PAIR, '"(a,)"', '(a,)'],
  ['a list', PAIR, '["a"]', '<value_does_not_fit>'],
  ['pairs', listOf(PAIR), '[{"a":"x"}]', '{"(\\\\"x\\\\",)"}'],
  ['a range that depends on the clock', typeOf('other', 'tstzrange'), '"[yesterday,)"', '<value_does_not_fit>'],
  ['an enum with such a label', typeOf('other', 'mood'), '"now"', 'now'],
])('%s', (_name, type, value, field) => {
  expect(json(type, value)).toBe(field);
});

test('a unit holds for the elements of an array', () => {
  expect(json(listOf(typeOf('timestamp')), '[0,null]', 'epoch-millis')).toBe('{"J2440588 00:00:00+00",NULL}');
  expect(json(listOf(typeOf('timestamp')), '"{now}"', 'epoch-millis')).toBe('<value_does_not_fit>');
});

test.each([
  ['without a default', {}, true, '\\N'],
  ['with a default', { hasDefault: true }, true, '\\D'],
  ['with a default before PostgreSQL 16', { hasDefault: true }, false, '\\N'],
  ['NOT NULL', { isNotNull: true }, true, '<missing_value>'],
  ['NOT NULL with a default', { isNotNull: true, hasDefault: true }, true, '\\D'],
  ['NOT NULL with a default before PostgreSQL 16', { isNotNull: true, hasDefault: true }, false, '<missing_value>'],
] as const)('no value for a column %s', (_name, more, takesDefaults, field) => {
  const missing = column(typeOf('text'), more);
  expect(fieldOf((row) => row.json(missing, undefined), takesDefaults)).toBe(field);
  expect(fieldOf((row) => row.missing(missing), takesDefaults)).toBe(field);
});

test('null is NULL even where there is a default, and refused where there is no NULL', () => {
  const nothing = valueAt(Buffer.from('null'), 0);
  for (const kind of ['text', 'json', 'date'] as const) {
    expect(fieldOf((row) => row.json(column(typeOf(kind), { hasDefault: true }), nothing))).toBe('\\N');
    expect(fieldOf((row) => row.json(column(typeOf(kind), { isNotNull: true }), nothing))).toBe('<missing_value>');
    expect(fieldOf((row) => row.bytes(column(typeOf(kind), { isNotNull: true }), Buffer.alloc(0), 0, -1))).toBe(
      '<missing_value>',
    );
  }
});

test.each([
  ['text', 'a\tb', 'a\\tb'],
  ['text', '"quoted"', '"quoted"'],
  ['json', 'a"b', '"a\\\\"b"'],
  ['integer', '17', '17'],
  ['bytea', 'ab', '\\\\x6162'],
  ['date', 'today', '<value_does_not_fit>'],
  ['text', 'a\0', '<value_does_not_fit>'],
  ['json', 'a\0', '<value_does_not_fit>'],
] as const)('%s takes the bytes of %j as %s', (kind, text, field) => {
  const header = column(typeOf(kind), { source: { kind: 'header', name: 'h' } });
  expect(fieldOf((row) => bytes(row, header, Buffer.from(text)))).toBe(field);
});

test('bytes that are no text are distinguished by where they come from, and bytea takes them', () => {
  const noText = Buffer.from([0xff]);
  const key = { source: { kind: 'key', path: [] } } as const;
  expect(fieldOf((row) => bytes(row, column(typeOf('text'), key), noText))).toBe('<key_not_text>');
  expect(fieldOf((row) => bytes(row, column(typeOf('text')), noText))).toBe('<value_does_not_fit>');
  expect(fieldOf((row) => bytes(row, column(typeOf('bytea'), key), noText))).toBe('\\\\xff');
  expect(fieldOf((row) => bytes(row, column(typeOf('bytea'), { ...key, unit: 'hex' }), Buffer.from('ff')))).toBe(
    '\\\\xff',
  );
});

test('partition, offset and timestamp are numbers, the timestamp a point in time where the column takes one', () => {
  const field = (kind: 'timestamp' | 'date' | 'integer' | 'text', milliseconds: bigint) =>
    fieldOf((row) => row.timestamp(column(typeOf(kind)), milliseconds));
  expect(field('timestamp', 1_704_103_200_123n)).toBe('J2460311 10:00:00.123+00');
  expect(field('date', 1_704_103_200_123n)).toBe('J2460311');
  expect(field('integer', 1_704_103_200_123n)).toBe('1704103200123');
  expect(field('text', -1n)).toBe('\\N');
  expect(fieldOf((row) => row.timestamp(column(typeOf('text'), { isNotNull: true }), -1n))).toBe('<missing_value>');
  expect(fieldOf((row) => row.number(column(typeOf('integer')), 2n ** 63n - 1n))).toBe('9223372036854775807');
  expect(fieldOf((row) => row.number(column(typeOf('text')), 3))).toBe('3');
  expect(fieldOf((row) => row.number(column(typeOf('timestamp')), 3))).toBe('<value_does_not_fit>');
});

/** Ways that JSON has to write a character. */
const waysOf = (character: string): readonly string[] => [
  JSON.stringify(character).slice(1, -1),
  Array.from({ length: character.length }, (_, nth) => character.charCodeAt(nth))
    .map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`)
    .join(''),
  ...(character === '/' ? ['\\/'] : []),
];

test('a string is what it says, however its characters are escaped', () => {
  const character = fc.constantFrom(...Array.from('"\\/\b\f\n\r\tN.aé✓'), '𝄞');
  const escaped = character.chain((each) => fc.constantFrom(...waysOf(each)).map((json) => ({ each, json })));
  fc.assert(
    fc.property(fc.array(escaped), (characters) => {
      const text = characters.map(({ each }) => each).join('');
      const sent = `"${characters.map(({ json }) => json).join('')}"`;
      const field = fieldOf((row) => bytes(row, column(typeOf('text')), Buffer.from(text)));
      expect(json(typeOf('text'), sent)).toBe(field);
      expect(json(typeOf('json'), sent, 'json')).toBe(field);
    }),
  );
});

test('a point in time by an integer is that by the same number with an exponent', () => {
  const units = fc.constantFrom<Unit>('epoch-days', 'epoch-seconds', 'epoch-millis', 'epoch-micros', 'epoch-nanos');
  const kinds = fc.constantFrom('date', 'time', 'timestamp');
  const edges = fc.constantFrom(0n, -1n, 2n ** 53n - 1n, 2n ** 53n + 1n, -(2n ** 53n), 10n ** 16n - 1n, 10n ** 16n);
  const count = fc.oneof(
    fc.bigInt({ min: -(10n ** 7n), max: 10n ** 7n }),
    fc.bigInt({ min: -(2n ** 62n), max: 2n ** 62n }),
    edges,
  );
  fc.assert(
    fc.property(count, units, kinds, (number, unit, kind) => {
      expect(json(typeOf(kind), String(number), unit)).toBe(json(typeOf(kind), `${number}e0`, unit));
    }),
    { numRuns: 1_000 },
  );
  expect(json(typeOf('timestamp'), '-0', 'epoch-millis')).toBe('J2440588 00:00:00+00');
  expect(json(typeOf('timestamp'), '1.5', 'epoch-seconds')).toBe('J2440588 00:00:01.5+00');
});
