import type { SourceTable } from '../../../dev/change-events/source-tables.ts';

/**
 * How the connector of a replica is set: with schemas or with ISO texts, as nobody has set it, or as the documents have
 * it.
 */
export type Mode = 'typed' | 'iso' | 'careless' | 'documented';

/** A column for each thing that Debezium loses, and a value that it loses: what no sink can repair. */
const LOST = {
  old_day: ['date', "'1582-10-10'"],
  ancient_day: ['date', "'0044-03-15 BC'"],
  endless_day: ['date', "'infinity'"],
  zoned_clock: ['timetz', "'13:14:15.5+02'"],
  midnight: ['time', "'24:00'"],
  endless: ['timestamp', "'infinity'"],
  far: ['timestamp', "'294276-12-31'"],
  nearer: ['timestamp', "'294250-01-01'"],
  matrix: ['integer[]', "'{{1,2},{3,4}}'"],
  bits: ['varbit', "B'0011'"],
  few_bits: ['varbit(6)', "B'0011'"],
  identifier: ['name', "'a_name'"],
  exact: ['numeric', "'1.10'"],
  no_number: ['numeric', "'NaN'"],
  endless_number: ['numeric', "'-Infinity'"],
  no_numbers: ['numeric[]', "'{NaN,1}'"],
  defaulted: ["text DEFAULT 'none'", 'NULL'],
  defaulted_at: ['timestamptz DEFAULT now()', 'NULL'],
  cents: ['numeric(20,2)', "'123456789012345678.90'"],
  span: ['interval', "'1 mon'"],
  area: ['box', "'(1,1),(0,0)'"],
  outline: ['polygon', "'((0,0),(1,0),(1,1))'"],
  circle: ['circle', "'<(1,2),3>'"],
  line: ['line', "'{1,2,3}'"],
  segment: ['lseg', "'[(0,0),(1,1)]'"],
  path: ['path', "'[(0,0),(1,1)]'"],
  spans: ['interval[]', "'{1 mon}'"],
  places: ['point[]', `'{"(1,2)"}'`],
  markups: ['xml[]', "'{<a/>}'"],
  prices: ['money[]', "'{$1.50}'"],
  octets: ['bit(8)[]', "'{10100101}'"],
  ranges: ['int4multirange', "'{[1,3),[5,7)}'"],
  pair: ['SCHEMA.pair', "'(1,a)'"],
  search: ['tsquery', "'fat & cat'"],
  json_path: ['jsonpath', "'$.a'"],
  position: ['pg_lsn', "'16/B374D848'"],
} as const;

/** The name of such a column. */
export type Lost = keyof typeof LOST;

const NAMES = Object.keys(LOST) as readonly Lost[];
/** The row of a thing that is streamed has this more than that of the snapshot. */
export const STREAMED = 100;
/** The table of all of them; each has a row, and a second one that is streamed. */
export const LOSSES: SourceTable = {
  name: 'losses',
  types: 'CREATE TYPE SCHEMA.pair AS (a integer, b text);',
  columns: ['id integer', ...NAMES.map((name) => `${name} ${LOST[name][0]}`)],
  key: ['id'],
  units: { bits: 'bits', few_bits: 'bits', octets: 'bits', places: 'point' },
};

/** Inserts a row for each of them. @param shift of their ids */
export const insertLost = (shift: number): string =>
  NAMES.map((name, nth) => `INSERT INTO losses (id, ${name}) VALUES (${nth + shift}, ${LOST[name][1]})`).join(';');

/** The id of the row of one of them in the snapshot. */
export const placeOf = (name: Lost): number => NAMES.indexOf(name);

/** What is in the place of a text where the row is not in the replica. */
export const NO_ROW = 'no row';

/** What was lost: in words, in which topics, of which column, and what the replica has instead of the value. */
export const FINDINGS: readonly (readonly [string, Mode, Lost, unknown, unknown])[] = [
  [
    'a day before the Gregorian calendar is ten days late in a snapshot alone',
    'typed',
    'old_day',
    '1582-10-20',
    '1582-10-10',
  ],
  ['a day before year 1 is one after it in a snapshot alone', 'iso', 'ancient_day', '0044-03-15', '0044-03-15 BC'],
  ['an endless day is another number each time, which no date has', 'typed', 'endless_day', NO_ROW, NO_ROW],
  ['and text that is no date without a schema', 'iso', 'endless_day', NO_ROW, NO_ROW],
  ['a time of day loses its zone, and is that of UTC', 'typed', 'zoned_clock', '11:14:15.5+00', '11:14:15.5+00'],
  ['the end of the day is its beginning as ISO text', 'iso', 'midnight', '00:00:00', '00:00:00'],
  ['and stays with a schema', 'typed', 'midnight', '24:00:00', '24:00:00'],
  ['an endless time is a time as ISO text, which PostgreSQL refuses', 'iso', 'endless', NO_ROW, NO_ROW],
  ['and stays with a schema', 'typed', 'endless', 'infinity', 'infinity'],
  ['a time beyond the microseconds of an int64 is endless', 'typed', 'far', 'infinity', 'infinity'],
  ['and so is one of 30 years before', 'typed', 'nearer', 'infinity', 'infinity'],
  ['and stays as ISO text', 'iso', 'nearer', '294250-01-01 00:00:00', '294250-01-01 00:00:00'],
  ['and stays as ISO text', 'iso', 'far', '294276-12-31 00:00:00', '294276-12-31 00:00:00'],
  ['a list of lists has NULL for each list', 'iso', 'matrix', '{NULL,NULL}', '{NULL,NULL}'],
  ['bits of any number have no zeros in front', 'typed', 'bits', '11', '11'],
  ['bits of at most six are six', 'typed', 'few_bits', '000011', '000011'],
  ['and have no zeros in front without a schema', 'iso', 'few_bits', '11', '11'],
  ['a name is NULL in the stream', 'iso', 'identifier', 'a_name', null],
  ['and is there with unknown types included', 'typed', 'identifier', 'a_name', 'a_name'],
  ['a number without a scale has no zeros at its end where it is precise', 'typed', 'exact', '1.1', '1.1'],
  ['and has them as text', 'iso', 'exact', '1.10', '1.10'],
  ['NaN is NULL where numbers are precise', 'typed', 'no_number', null, null],
  ['and is NaN as text', 'iso', 'no_number', 'NaN', 'NaN'],
  ['a list with NaN is NULL where numbers are precise', 'typed', 'no_numbers', null, null],
  ['and is NULL where they are texts', 'iso', 'no_numbers', null, null],
  ['and is NULL where they are doubles', 'careless', 'no_numbers', null, null],
  ['an infinite number is NULL where numbers are precise', 'typed', 'endless_number', null, null],
  ['and is infinite as text', 'iso', 'endless_number', '-Infinity', '-Infinity'],
  ['NULL is the default of its column where the converter replaces it', 'careless', 'defaulted', 'none', 'none'],
  ['and now() is 1970', 'careless', 'defaulted_at', '1970-01-01 00:00:00+00', '1970-01-01 00:00:00+00'],
  ['and is NULL where it does not', 'iso', 'defaulted_at', null, null],
  ['and is NULL where it does not', 'iso', 'defaulted', null, null],
  ['a number is rounded where it is a double', 'careless', 'cents', '123456789012345680.00', '123456789012345680.00'],
  ['and is exact where it is precise', 'typed', 'cents', '123456789012345678.90', '123456789012345678.90'],
  ['a month is 30.44 days where an interval is a number', 'careless', 'span', '730:30:00', '730:30:00'],
  ['and is a month as text', 'typed', 'span', '1 mon', '1 mon'],
  ['a box is refused', 'typed', 'area', NO_ROW, NO_ROW],
  ['a polygon is refused', 'typed', 'outline', NO_ROW, NO_ROW],
  ['a circle is refused', 'typed', 'circle', NO_ROW, NO_ROW],
  ['a circle is refused without a schema', 'iso', 'circle', NO_ROW, NO_ROW],
  ['a line is refused', 'typed', 'line', NO_ROW, NO_ROW],
  ['a line is refused without a schema', 'iso', 'line', NO_ROW, NO_ROW],
  ['a segment of a line is refused', 'typed', 'segment', NO_ROW, NO_ROW],
  ['a segment of a line is refused without a schema', 'iso', 'segment', NO_ROW, NO_ROW],
  ['a path is refused', 'typed', 'path', NO_ROW, NO_ROW],
  ['a path is refused without a schema', 'iso', 'path', NO_ROW, NO_ROW],
  ['a list of intervals is NULL', 'typed', 'spans', null, null],
  ['a list of intervals is NULL without a schema', 'iso', 'spans', null, null],
  ['a list of points is NULL', 'typed', 'places', null, null],
  ['a list of points is NULL without a schema', 'iso', 'places', null, null],
  ['a list of XML is NULL', 'typed', 'markups', null, null],
  ['a list of XML is NULL without a schema', 'iso', 'markups', null, null],
  ['a list of money is NULL', 'typed', 'prices', null, null],
  ['a list of money is NULL without a schema', 'iso', 'prices', null, null],
  ['a list of bits is NULL', 'typed', 'octets', null, null],
  ['a list of bits is NULL without a schema', 'iso', 'octets', null, null],
  ['a list of ranges is not sent', 'iso', 'ranges', null, null],
  ['a list of ranges is refused where unknown types are included', 'typed', 'ranges', NO_ROW, NO_ROW],
  ['a composite value is not sent', 'iso', 'pair', null, null],
  ['a composite value is refused where unknown types are included', 'typed', 'pair', NO_ROW, NO_ROW],
  ['a query of words is not sent', 'iso', 'search', null, null],
  [
    'a query of words is base64 where unknown types are included',
    'typed',
    'search',
    `'J2ZhdCcgJiAnY2F0Jw=='`,
    `'J2ZhdCcgJiAnY2F0Jw=='`,
  ],
  ['a path in JSON is not sent', 'iso', 'json_path', null, null],
  ['a path in JSON is refused where unknown types are included', 'typed', 'json_path', NO_ROW, NO_ROW],
  ['a position in the log is not sent', 'iso', 'position', null, null],
  ['a position in the log is refused where unknown types are included', 'typed', 'position', NO_ROW, NO_ROW],
  ['the connector of the documents sends all digits', 'documented', 'exact', '1.10', '1.10'],
  ['and of what is no number', 'documented', 'no_number', 'NaN', 'NaN'],
  ['and of large numbers', 'documented', 'cents', '123456789012345678.90', '123456789012345678.90'],
  ['and NULL where a column has a default', 'documented', 'defaulted', null, null],
  ['and NULL for a time', 'documented', 'defaulted_at', null, null],
  ['and months', 'documented', 'span', '1 mon', '1 mon'],
  ['and times with their unit', 'documented', 'far', '294276-12-31 00:00:00', '294276-12-31 00:00:00'],
];
