import { describe, expect, test } from '@jest/globals';
import { unitsOf } from '../../../../app/tables/json/connect-schema.ts';
import { JsonScanner } from '../../../../app/tables/json/json-scanner.ts';
import { type JsonSlice, valueAt } from '../../../../app/tables/json/json-slice.ts';
import type { ColumnType, ValueUnit } from '../../../../app/tables/mapping/table-mapping.ts';
import { NoText, textOfJson } from '../../../../app/tables/rows/column-text.ts';
import { Placeholders } from '../../../../app/tables/rows/kept-columns.ts';
import { rowColumn } from '../../../../app/tables/rows/row-column.ts';

type Kind = Exclude<ColumnType['kind'], 'array' | 'composite'>;

const typeOf = (name: string, kind: Kind = 'other'): ColumnType => ({ kind, name });
const domainOf = (name: string, base: string): ColumnType => ({ kind: 'other', name, base });

function slice(json: string): JsonSlice {
  const bytes = Buffer.from(json, 'utf8');
  expect(new JsonScanner([[]]).scan(bytes)).toBeNull();
  return valueAt(bytes, 0);
}

/** The text of a value, or the reason why it has none. */
function text(unit: ValueUnit, type: ColumnType, value: unknown) {
  const found = textOfJson(
    type,
    unit,
    slice(typeof value === 'string' && value.startsWith('raw:') ? value.slice(4) : JSON.stringify(value)),
  );
  return found instanceof NoText ? found.reason : found;
}

const NO_FIT = 'value_does_not_fit';
const base64 = (...bytes: number[]): string => Buffer.from(bytes).toString('base64');

describe('a unit', () => {
  const time = typeOf('time', 'time');
  const stamp = typeOf('timestamp', 'timestamp');
  const numeric = typeOf('numeric', 'numeric');
  const jsonb = typeOf('jsonb', 'json');
  const point = typeOf('point');

  test.each<[ValueUnit, ColumnType, unknown, string | null]>([
    ['time-millis', time, 47_655_123, '13:14:15.123'],
    ['time-micros', time, 47_655_123_456, '13:14:15.123456'],
    ['time-nanos', time, 1, '00:00:00.000000001'],
    ['time-micros', time, 0, '00:00:00'],
    ['time-micros', time, 86_400_000_000, '24:00:00'],
    ['time-micros', time, 86_400_000_001, NO_FIT],
    ['time-micros', time, -1, NO_FIT],
    ['time-micros', time, 'noon', NO_FIT],
    ['time-micros', time, true, NO_FIT],
    ['duration-micros', typeOf('interval', 'interval'), -2_467_800_000_000, '-2467800000000 microseconds'],
    ['duration-micros', typeOf('interval', 'interval'), 1.5, NO_FIT],
    ['epoch-micros', stamp, 'raw:9223372036854775807', 'infinity'],
    ['epoch-micros', stamp, 'raw:-9223372036854775808', '-infinity'],
    ['epoch-millis', stamp, 'raw:9223372036825200000', 'infinity'],
    ['epoch-millis', stamp, 'raw:-9223372036832400000', '-infinity'],
    [
      'epoch-days',
      jsonb,
      [
        [0, null],
        ['x', 20_000],
      ],
      '[["1970-01-01",null],["x","2024-10-04"]]',
    ],
    ['time-millis', typeOf('text', 'text'), [0, 1], '["00:00:00","00:00:00.001"]'],
    ['time-millis', jsonb, [0, -1], NO_FIT],
    ['epoch-days', jsonb, [], '[]'],
    ['json', jsonb, '{"a": 1.10, "a":2}', '{"a": 1.10, "a":2}'],
    ['json', jsonb, { a: 1 }, '{"a":1}'],
    ['json', jsonb, null, null],
    ['json', jsonb, 'a\0', 'nul_character'],
    ['json', typeOf('public.hstore'), '{"a":"1","b":null,"q\\"":"\\\\"}', '"a"=>"1", "b"=>NULL, "q\\""=>"\\\\"'],
    ['json', typeOf('hstore'), { a: 'x' }, '"a"=>"x"'],
    ['json', typeOf('hstore'), '{"a":1}', NO_FIT],
    ['json', typeOf('hstore'), '"a"=>"1"', NO_FIT],
    ['json', typeOf('hstore'), '{"a":"\\u0000"}', 'nul_character'],
    ['json', domainOf('shop.pairs', 'public.hstore'), '{"a":"1"}', '"a"=>"1"'],
    ['bits', domainOf('shop.octet', 'bit(8)'), base64(0x05), '00000101'],
    ['point', domainOf('shop.place', 'point'), { x: 1.5, y: -2 }, '(1.5,-2)'],
    ['bits', typeOf('bit(8)'), base64(0xa5), '10100101'],
    ['bits', typeOf('bit(16)'), base64(0x01, 0xa5), '1010010100000001'],
    ['bits', typeOf('bit(8)'), '', '00000000'],
    ['bits', typeOf('bit(4)'), base64(0xa5), NO_FIT],
    ['bits', typeOf('bit varying'), base64(0x0b), '1011'],
    ['bits(6)', typeOf('bit varying'), base64(0x0b), '001011'],
    ['bits', typeOf('bit(1)'), true, '1'],
    ['bits', typeOf('bit(1)'), false, '0'],
    ['bits', typeOf('bit(8)'), 'no base64!', NO_FIT],
    ['variable-decimal', numeric, { scale: 9, value: 'J+QbMka+ybFuOYEV' }, '12345678901234567890.123456789'],
    ['variable-decimal', numeric, { scale: 0, value: '/w==' }, '-1'],
    ['variable-decimal', numeric, { scale: '9', value: 'AQ==' }, NO_FIT],
    ['variable-decimal', numeric, { value: 'AQ==' }, NO_FIT],
    ['variable-decimal', numeric, 'AQ==', NO_FIT],
    ['variable-decimal', numeric, 1.5, '1.5'],
    ['decimal(2)', numeric, 'raw:12345678901234567890.10', '12345678901234567890.10'],
    ['point', point, { x: 1.5, y: -2, wkb: 'AQ==', srid: null }, '(1.5,-2)'],
    ['point', point, { wkb: 'AQ==' }, NO_FIT],
    ['point', typeOf('public.geometry(Point,4326)'), { wkb: 'AQI=', srid: 4326 }, '0102'],
    ['point', point, [1, 2], NO_FIT],
    ['decimal(2)', typeOf('money'), 'AeJA', '1234.56'],
    ['debezium', numeric, 'NAN', 'NaN'],
    ['debezium', numeric, 'POSITIVE_INFINITY', 'Infinity'],
    ['debezium', numeric, 'NEGATIVE_INFINITY', '-Infinity'],
    ['debezium', numeric, '1.50', '1.50'],
    ['debezium', stamp, '-0043-03-15T00:00:00Z', '0044-03-15T00:00:00Z BC'],
    ['debezium', stamp, '0000-03-15T00:00:00Z', '0001-03-15T00:00:00Z BC'],
    ['debezium', stamp, '+294276-12-31T23:59:59Z', '294276-12-31T23:59:59Z'],
    ['debezium', stamp, '0001-01-01T00:00:00Z', '0001-01-01T00:00:00Z'],
    ['debezium', stamp, '-infinity', '-infinity'],
    ['debezium', stamp, 'now', NO_FIT],
    ['debezium', typeOf('bit(1)'), true, '1'],
  ])('%s of %j from %j is %j', (unit, type, value, expected) => {
    expect(text(unit, type, value)).toBe(expected);
  });

  test.each<[ValueUnit, string, string]>([
    ['epoch-micros', '1784121255123456', '2026-07-15T13:14:15.123456Z'],
    ['epoch-days', '-703383', '0044-03-15'],
    ['epoch-days', '-719529', '-0001-12-31'],
    ['epoch-days', '0', '1970-01-01'],
    ['epoch-days', '11016', '2000-02-29'],
    ['epoch-days', '-719528', '0000-01-01'],
    ['epoch-millis', '-1', '1969-12-31T23:59:59.999Z'],
    ['time-micros', '86400000000', '24:00:00'],
  ])('%s of %s is %s in text, and a JSON text in json', (unit, digits, expected) => {
    expect(text(unit, typeOf('text', 'text'), `raw:${digits}`)).toBe(expected);
    expect(text(unit, typeOf('jsonb', 'json'), `raw:${digits}`)).toBe(`"${expected}"`);
  });
});

describe('a unit that a schema says', () => {
  const kinds = ['integer', 'text', 'json', 'timestamp', 'time', 'bytea', 'interval', 'numeric'] as const;
  const column = (kind: Kind) => ({
    ...{ name: 'c', type: typeOf(kind, kind), isNotNull: false, hasDefault: false },
    source: { kind: 'field', path: ['c'] } as const,
  });

  test.each<[ValueUnit, readonly Kind[]]>([
    ['epoch-micros', ['text', 'json', 'timestamp', 'time']],
    ['time-micros', ['text', 'json', 'timestamp', 'time']],
    ['duration-micros', ['interval']],
    ['json', ['json']],
    ['decimal(2)', ['integer', 'text', 'json', 'numeric']],
    ['debezium', ['timestamp', 'numeric']],
  ])('%s acts in columns that ask for it alone', (unit, expected) => {
    expect(kinds.filter((kind) => rowColumn(column(kind), unit).unit === unit)).toEqual(expected);
  });

  test('gives way to the one of the settings', () => {
    expect(rowColumn({ ...column('timestamp'), unit: 'epoch-seconds' }, 'epoch-micros').unit).toBe('epoch-seconds');
  });

  const named = (name: string, parameters?: object) => ({ type: 'int64', name, parameters, field: 'c' });

  test.each<[object, ValueUnit | undefined]>([
    [named('io.debezium.time.MicroTime'), 'time-micros'],
    [named('org.apache.kafka.connect.data.Time'), 'time-millis'],
    [named('org.apache.kafka.connect.data.Decimal', { scale: '4' }), 'decimal(4)'],
    [named('org.apache.kafka.connect.data.Decimal', { scale: 4 }), undefined],
    [named('io.debezium.data.Bits', { length: '8' }), 'bits(8)'],
    [named('io.debezium.data.Bits', { length: '2147483647' }), 'bits'],
    [named('io.debezium.data.Uuid'), undefined],
    [named('toString'), undefined],
    [{ type: 'array', items: { type: 'array', items: named('io.debezium.data.Json') }, field: 'c' }, 'json'],
    [{ type: 'map', values: { type: 'string' }, field: 'c' }, 'json'],
    [{ field: 'c' }, undefined],
  ])('is found in %j', (field, expected) => {
    const after = { type: 'struct', fields: [null, { field: 'other' }, field], field: 'after' };
    expect(unitsOf({ type: 'struct', fields: [after] }, [['after', 'c'], ['after', 'd'], ['c']])).toEqual([
      expected,
      undefined,
      undefined,
    ]);
  });
});

describe('a placeholder', () => {
  const UUID = 'b68a35a7-17ad-35b3-af2a-ae46edb4545a';
  const word = '__debezium_unavailable_value';
  const known = new Placeholders(word);
  const numbers = JSON.stringify([...Buffer.from(word)]);

  test.each([
    ['text', JSON.stringify(word)],
    ['text with escapes', '"\\u005f_debezium_unavailable_value"'],
    ['bytes in base64', '"X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ=="'],
    ['bytes in base64 for URLs', '"X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ"'],
    ['bytes in hex', `"${Buffer.from(word).toString('hex')}"`],
    ['hstore as text', JSON.stringify(JSON.stringify({ [word]: word }))],
    ['hstore as an object', JSON.stringify({ [word]: word })],
    ['a list of texts', JSON.stringify([word])],
    ['a list of bytes', '["X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ=="]'],
    ['a list of numbers', numbers],
    ['a list of uuids', `["${UUID}"]`],
  ])('has the form of %s', (_, json) => {
    expect(known.includes(slice(json))).toBe(true);
  });

  test.each([
    'null',
    '"__debezium_unavailable_valuf"',
    '""',
    '{}',
    JSON.stringify([word, word]),
    `"${UUID}"`,
    '28',
    '"\\u005f"',
  ])('is not %s', (json) => {
    expect(known.includes(slice(json))).toBe(false);
  });

  test('is the one of the connector, whose bytes may be in hex', () => {
    const own = new Placeholders('hex:00e9');
    expect(['"\\u0000\uFFFD"', '"AOk="', '"00e9"', '[0,-23]'].map((json) => own.includes(slice(json)))).toEqual([
      true,
      true,
      true,
      true,
    ]);
    expect(own.includes(slice(JSON.stringify(word)))).toBe(false);
  });
});
