import fc from 'fast-check';
import type { ColumnType } from '../../../app/tables/mapping/table-mapping.ts';
import { anyString, bytes, day, digits, documents, lists, numbers, parts, strings, times } from './json-values.ts';

/** A type of PostgreSQL with values that fit or nearly do, as JSON. */
export interface ColumnKind {
  readonly sql: string;
  readonly type: ColumnType;
  /** Domain over NOT NULL. @default false */
  readonly isNotNull?: boolean;
  readonly values: fc.Arbitrary<string>;
  /** Text of a default. */
  readonly byDefault: string;
}

const simple = (kind: Exclude<ColumnType['kind'], 'array' | 'composite'>, name: string): ColumnType => ({ kind, name });

const listOf = (element: ColumnType): ColumnType => ({
  kind: 'array',
  name: `${element.name}[]`,
  element,
  delimiter: ',',
});

/** Types that the columns below are of, in the schema of the search path. */
export const MAKE_TYPES = `
  CREATE TYPE mood AS ENUM ('sad', 'ok', '1', '1000', 'true', 'now', '');
  CREATE DOMAIN positive AS int CHECK (VALUE > 0);
  CREATE DOMAIN required AS text NOT NULL CHECK (VALUE <> 'no');
  CREATE DOMAIN few AS text[] CHECK (cardinality(VALUE) < 4);
  CREATE TYPE part AS (a int, "B c" text, at timestamptz, raw bytea, list int[], rule positive);`;

const PART: ColumnType = {
  kind: 'composite',
  name: 'part',
  attributes: [
    { name: 'a', type: simple('integer', 'integer') },
    { name: 'B c', type: simple('text', 'text') },
    { name: 'at', type: simple('timestamp', 'timestamp with time zone') },
    { name: 'raw', type: simple('bytea', 'bytea') },
    { name: 'list', type: listOf(simple('integer', 'integer')) },
    { name: 'rule', type: simple('integer', 'positive') },
  ],
};

const kind = (sql: string, type: ColumnType, byDefault: string, values: fc.Arbitrary<string>): ColumnKind => ({
  sql,
  type,
  byDefault,
  values,
});

const integers = (sql: string, most: bigint): ColumnKind =>
  kind(sql, simple('integer', sql), '7', fc.oneof(fc.bigInt({ min: -most, max: most }).map(String), numbers));

export const COLUMN_KINDS: readonly ColumnKind[] = [
  kind(
    'boolean',
    simple('boolean', 'boolean'),
    'yes',
    fc.oneof(fc.constantFrom('true', 'false', '1', '0', '1e0', '-0', '2'), strings('yes', ' T ', 'of', 'o', 'on')),
  ),
  integers('smallint', 2n ** 15n),
  integers('integer', 2n ** 31n),
  integers('bigint', 2n ** 63n),
  kind('numeric', simple('numeric', 'numeric'), '1.50', numbers),
  kind('numeric(12,3)', simple('numeric', 'numeric(12,3)'), '1.5', numbers),
  kind('real', simple('float', 'real'), '0.1', numbers),
  kind('double precision', simple('float', 'double precision'), '0.1', numbers),
  kind('text', simple('text', 'text'), 'a\tb', fc.oneof(anyString, documents, digits)),
  kind(
    'varchar(5)',
    simple('text', 'character varying(5)'),
    'abc',
    fc.oneof(anyString, digits, strings('abcde   ', 'abcdef')),
  ),
  kind('char(4)', simple('text', 'character(4)'), 'ab', fc.oneof(anyString, digits, strings('ab', 'abcd  ', 'abcde'))),
  kind(
    'uuid',
    simple('other', 'uuid'),
    '00000000-0000-0000-0000-000000000000',
    fc.oneof(
      fc.uuid().map((text) => JSON.stringify(text)),
      fc.uuid().map((text) => `"{${text.toUpperCase()}}"`),
      anyString,
    ),
  ),
  kind(
    'inet',
    simple('other', 'inet'),
    '::1',
    fc.oneof(
      fc.ipV4().map((text) => `"${text}"`),
      fc.ipV6().map((text) => `"${text}"`),
      strings('10.0.0.1/8', '10.0.0', '::g'),
    ),
  ),
  kind('date', simple('date', 'date'), '2024-01-01', times),
  kind('time', simple('time', 'time without time zone'), '10:00', times),
  kind('timetz', simple('time', 'time with time zone'), '10:00+01', times),
  kind('timestamp', simple('timestamp', 'timestamp without time zone'), '2024-01-01', times),
  kind('timestamptz', simple('timestamp', 'timestamp with time zone'), '2024-01-01', times),
  kind(
    'interval',
    simple('interval', 'interval'),
    'P1D',
    fc.oneof(
      strings('P1DT2H3.5S', '1 day', '-00:00:01.5', '5', 'P', ''),
      fc.integer().map((n) => `"${n} ms"`),
      digits,
    ),
  ),
  kind('bytea', simple('bytea', 'bytea'), '\\x01', fc.oneof(bytes, bytes, digits, documents)),
  kind('json', simple('json', 'json'), '{"a": 1}', fc.oneof(documents, anyString, digits)),
  kind('jsonb', simple('json', 'jsonb'), '{"a": 1}', fc.oneof(documents, anyString, digits)),
  kind(
    'mood',
    simple('other', 'mood'),
    'ok',
    fc.oneof(strings('sad', 'ok', 'now', '', 'SAD'), fc.constantFrom('1', '1e3', 'true', '2')),
  ),
  kind('positive', simple('integer', 'positive'), '1', fc.oneof(fc.integer({ min: -2, max: 20 }).map(String), numbers)),
  { ...kind('required', simple('text', 'required'), 'yes', fc.oneof(anyString, strings('no'))), isNotNull: true },
  kind(
    'int[]',
    listOf(simple('integer', 'integer')),
    '{1,2}',
    lists(fc.oneof(fc.integer().map(String), fc.integer().map(String), fc.constant('1e3'))),
  ),
  kind('text[][]', listOf(simple('text', 'text')), '{a,b}', lists(fc.oneof(anyString, anyString, documents, digits))),
  kind('bytea[]', listOf(simple('bytea', 'bytea')), '{}', lists(bytes)),
  kind(
    'date[]',
    listOf(simple('date', 'date')),
    '{}',
    fc.oneof(lists(day.map((at) => `"${at.toISOString()}"`)), strings('{today}', '{2024-01-01}')),
  ),
  kind('jsonb[]', listOf(simple('json', 'jsonb')), '{}', lists(documents)),
  kind('few', { ...listOf(simple('text', 'text')), name: 'few' }, '{}', lists(anyString)),
  kind(
    'part',
    PART,
    '(1,,,,,)',
    fc.oneof(parts, parts, strings('(1,a,,,,)', '(,,,,,)', '(,"a\\\\b\n",today,,,)', '(1')),
  ),
  kind('part[]', listOf(PART), '{}', lists(parts)),
  kind('int4range', simple('other', 'int4range'), 'empty', strings('[1,5)', '(,3]', 'empty', '[5,1]', 'x')),
  kind(
    'tstzrange',
    simple('other', 'tstzrange'),
    'empty',
    strings('[2024-01-01,)', '[today,)', '["2024-01-01 10:00+02",infinity]'),
  ),
];

/** What a column of any type may get. */
export const wildValues: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    'true',
    'false',
    'null',
    '[]',
    '{}',
    '[[]]',
    '[[],[]]',
    '[[1],[2,3]]',
    '[[1],2]',
    '[1,[2]]',
    '[[[[[[[1]]]]]]]',
  ),
  fc.constantFrom(
    '1e200000',
    '-1e-20000',
    '"\\u0000"',
    '"\\ud800"',
    '{"\\u0000":1}',
    '["\\udc00"]',
    '{"a":{"a":[{}]}}',
  ),
  fc.constantFrom(...COLUMN_KINDS.map((each) => each.values)).chain((values) => values),
  anyString,
  documents,
);
