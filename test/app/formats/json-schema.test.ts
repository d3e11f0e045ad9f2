import { describe, expect, test } from '@jest/globals';
import { unitsOfJsonSchema } from '../../../app/formats/json-schema.ts';
import type { FieldPath } from '../../../app/tables/mapping/table-mapping.ts';

type Json = Readonly<Record<string, unknown>>;

const unitsOf = (schema: unknown, paths: readonly FieldPath[], references: Readonly<Record<string, Json>> = {}) =>
  unitsOfJsonSchema(
    {
      id: 7,
      type: 'JSON',
      text: JSON.stringify(schema),
      references: Object.entries(references).map(([name, other]) => ({ name, text: JSON.stringify(other) })),
    },
    paths,
  );

const MICROS = { type: 'integer', title: 'io.debezium.time.MicroTimestamp', 'connect.type': 'int64' };
const nullable = (schema: Json): Json => ({ oneOf: [{ type: 'null' }, schema] });
const object = (properties: Json): Json => ({ type: 'object', properties });

/** What Confluent's JsonSchemaConverter writes of a table that Debezium reads. */
const ROW = object({
  at: nullable(MICROS),
  day: { type: 'integer', title: 'io.debezium.time.Date', 'connect.type': 'int32' },
  sum: {
    type: 'number',
    title: 'org.apache.kafka.connect.data.Decimal',
    'connect.type': 'bytes',
    'connect.parameters': { scale: '2', 'connect.decimal.precision': '10' },
  },
  flags: {
    type: 'string',
    title: 'io.debezium.data.Bits',
    'connect.type': 'bytes',
    'connect.parameters': { length: '8' },
  },
  doc: nullable({ type: 'string', title: 'io.debezium.data.Json' }),
  more: { type: 'object', 'connect.type': 'map', additionalProperties: { type: 'string' } },
  days: { type: 'array', items: nullable({ type: 'integer', title: 'io.debezium.time.Date' }) },
  note: { type: 'string' },
});

describe('a JSON Schema', () => {
  test('says the units of fields by title, and what is beside it in connect.parameters', () => {
    const names = ['at', 'day', 'sum', 'flags', 'doc', 'more', 'days', 'note', 'unknown'];
    expect(
      unitsOf(
        ROW,
        names.map((name) => [name]),
      ),
    ).toEqual([
      ...['epoch-micros', 'epoch-days', 'decimal(2)', 'bits(8)', 'json', 'json', 'epoch-days'],
      ...[undefined, undefined],
    ]);
  });

  test('is followed through nullable objects, maps, lists and references', () => {
    const event = {
      ...object({
        after: nullable({ $ref: '#/definitions/Row' }),
        map: { type: 'object', additionalProperties: MICROS },
        list: { type: 'array', items: MICROS },
        there: { $ref: 'common.json#/$defs/a~1b' },
        other: { $ref: 'common.json' },
      }),
      definitions: { Row: ROW },
    };
    const common = { ...MICROS, $defs: { 'a/b': { $ref: '#/$defs/day' }, day: { title: 'io.debezium.time.Date' } } };
    const paths: readonly FieldPath[] = [['after', 'at'], ['map', 'any'], ['list', 0], ['there'], ['other'], []];
    expect(unitsOf(event, paths, { 'common.json': common })).toEqual([
      ...['epoch-micros', 'epoch-micros', 'epoch-micros', 'epoch-days', 'epoch-micros'],
      undefined,
    ]);
  });

  test.each([
    ['refers to itself', { $ref: '#' }],
    ['refers in a circle', { $ref: '#/a', a: { $ref: '#/b' }, b: { $ref: '#/a' } }],
    ['refers to nothing', { $ref: '#/none' }],
    ['refers to a schema that is not there', { $ref: 'other.json#/a' }],
    ['refers by an escape that is none', { $ref: '#/%zz' }],
    ['chooses between several', { oneOf: [MICROS, { type: 'string' }] }],
    ['is true', true],
    ['is a list', [MICROS]],
    ['has odd parts', { type: 1, title: 2, properties: [], items: true, oneOf: 'x' }],
    ['has a name of a prototype', object({})],
  ])('says nothing where it %s', (_, schema) => {
    expect(unitsOf(schema, [[], ['a'], ['toString'], [0]])).toEqual([undefined, undefined, undefined, undefined]);
  });

  test('that leads astray for long is looked at for a few steps alone', () => {
    const ends = Array.from({ length: 99 }, () => ({ type: 'null' }));
    expect(unitsOf({ oneOf: [...ends, MICROS] }, [[]])).toEqual(['epoch-micros']);
    expect(unitsOf({ oneOf: [...ends, { type: 'null' }, MICROS] }, [[]])).toEqual([undefined]);
    const nested = (depth: number) => Array.from({ length: depth }).reduce<Json>((a) => ({ a }), MICROS);
    const pointer = (depth: number) => ({ ...nested(depth), $ref: `#${'/a'.repeat(depth)}` });
    expect(unitsOf(pointer(100), [[]])).toEqual(['epoch-micros']);
    expect(unitsOf(pointer(101), [[]])).toEqual([undefined]);
  });

  test('whose lists contain themselves is read to an end', () => {
    const schema = { type: 'array', items: { $ref: '#' } };
    expect(unitsOf(schema, [[]])).toEqual([undefined]);
  });

  test('that is no JSON is refused', () => {
    expect(() => unitsOfJsonSchema({ id: 7, type: 'JSON', text: '{', references: [] }, [[]])).toThrow(SyntaxError);
  });
});
