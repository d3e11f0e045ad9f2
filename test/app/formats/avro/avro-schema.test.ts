import { describe, expect, test } from '@jest/globals';
import { AvroFields } from '../../../../app/formats/avro/avro-fields.ts';
import { AvroProgram } from '../../../../app/formats/avro/avro-program.ts';
import { AvroSchemaError, avroType } from '../../../../app/formats/avro/avro-schema.ts';
import { sentJson } from '../../../../app/tables/json/json-slice.ts';
import { joined, long, text } from './encoding.ts';

const schemaOf = (schema: unknown, ...references: readonly unknown[]) => ({
  id: 7,
  text: JSON.stringify(schema),
  references: references.map((each, nth) => ({ name: `r${nth}`, text: JSON.stringify(each) })),
});

/** The whole value as JSON. */
function jsonOf(schema: ReturnType<typeof schemaOf>, bytes: Buffer): string | null {
  const fields = new AvroFields();
  expect([fields.read(new AvroProgram(schema, [[]]), bytes, 0, bytes.length), fields.words]).toEqual([null, undefined]);
  const whole = fields.of(0);
  return whole === undefined ? null : sentJson(whole);
}

const record = (name: string, fields: Readonly<Record<string, unknown>>, rest: object = {}) => ({
  type: 'record',
  name,
  ...rest,
  fields: Object.entries(fields).map(([field, type]) => ({ name: field, type })),
});

const fixed = (name: string, size: number, rest: object = {}) => ({ type: 'fixed', name, size, ...rest });

describe('names of types', () => {
  test('a name without a namespace has that of the type around it', () => {
    const schema = record('R', { a: fixed('F', 1), b: 'F', c: 'x.y.F' }, { namespace: 'x.y' });
    expect(jsonOf(schemaOf(schema), Buffer.from('abc'))).toBe('{"a":"YQ==","b":"Yg==","c":"Yw=="}');
  });

  test('a name with dots is whole, and gives the types within its namespace', () => {
    const schema = record('p.q.R', { a: fixed('F', 1, { namespace: 'z' }), b: 'z.F', c: fixed('F', 2), d: 'p.q.F' });
    expect(jsonOf(schemaOf(schema), Buffer.from('abccdd'))).toBe('{"a":"YQ==","b":"Yg==","c":"Y2M=","d":"ZGQ="}');
  });

  test('an empty namespace is none, and a name without one is found from within another', () => {
    const schema = record('R', { a: fixed('F', 1, { namespace: '' }), b: 'F' }, { namespace: 'x' });
    expect(jsonOf(schemaOf(schema), Buffer.from('ab'))).toBe('{"a":"YQ==","b":"Yg=="}');
  });

  test('a name may be used before it is defined', () => {
    const schema = record('R', { a: ['null', 'Late'], b: record('Late', { c: 'int' }) });
    expect(jsonOf(schemaOf(schema), joined(long(1), long(5), long(6)))).toBe('{"a":{"c":5},"b":{"c":6}}');
  });

  test('a record may be within itself', () => {
    const schema = record('R', { n: 'int', next: ['null', 'R'] });
    const bytes = joined(long(1), long(1), long(2), long(0));
    expect(jsonOf(schemaOf(schema), bytes)).toBe('{"n":1,"next":{"n":2,"next":null}}');
  });

  test('schemas that it refers to define names, also those that refer to each other and those that come twice', () => {
    const inner = fixed('a.F', 1);
    const outer = record('b.R', { f: 'a.F' });
    const schema = record('S', { r: 'b.R', f: ['null', 'a.F'] });
    expect(jsonOf(schemaOf(schema, inner, outer, inner), joined(Buffer.from('x'), long(0)))).toBe(
      '{"r":{"f":"eA=="},"f":null}',
    );
  });
});

describe('a schema of no record', () => {
  test.each([
    ['string', text('é"\n'), '"é\\"\\n"'],
    [{ type: 'string', 'avro.java.string': 'String' }, text('a'), '"a"'],
    [{ type: { type: 'int' } }, long(-1), '-1'],
    [['null', 'long'], joined(long(1), long(-(2n ** 63n))), '-9223372036854775808'],
    [['null', 'long'], long(0), 'null'],
    [
      { type: 'array', items: ['null', 'int'] },
      joined(long(-2), long(99), long(0), long(1), long(3), long(0)),
      '[null,3]',
    ],
    [{ type: 'map', values: 'boolean' }, joined(long(1), text('k'), Buffer.from([1]), long(0)), '{"k":true}'],
    [{ type: 'error', name: 'E', fields: [] }, Buffer.alloc(0), '{}'],
  ])('%j is read', (schema, bytes, json) => {
    expect(jsonOf(schemaOf(schema), bytes)).toBe(json);
  });
});

describe('what is no schema', () => {
  const ofId = (words: string) => `its schema 7 is no Avro schema: ${words}`;

  test.each([
    [{}, 'undefined is no type'],
    [7, '7 is no type'],
    [null, 'object is no type'],
    ['Missing', 'it has no definition of the type Missing'],
    [record('R', { a: 'x.Missing' }), 'it has no definition of the type x.Missing'],
    [[], 'it has a union without branches, or within another one'],
    [['null', ['int']], 'it has a union without branches, or within another one'],
    [record('', {}), 'it has a type without a name'],
    [{ type: 'record', name: 'R' }, 'the record R has no fields'],
    [{ type: 'record', name: 'R', fields: [{ type: 'int' }] }, 'a field of R has no name'],
    [{ type: 'array' }, 'undefined is no type'],
    [{ type: 'enum', name: 'E' }, 'the enum E has no symbols, or others than letters'],
    [{ type: 'enum', name: 'E', symbols: ['a\tb'] }, 'the enum E has no symbols, or others than letters'],
    [fixed('F', -1), 'the fixed F has no size'],
    [record('R', { a: fixed('F', 1), b: fixed('F', 1) }), 'it defines F twice'],
    [record('R', { a: 'b\u001b[31m' }), 'it has no definition of the type b\\u{001b}[31m'],
  ])('%j is refused', (schema, words) => {
    expect(() => avroType(schemaOf(schema))).toThrow(new AvroSchemaError(ofId(words)));
  });

  test('text that is no JSON, that is too long, or that has too many types or too many within each other', () => {
    const nested = (depth: number): unknown =>
      Array.from({ length: depth }).reduce<unknown>((items) => ({ type: 'array', items }), 'int');
    const chain = (depth: number) =>
      Array.from({ length: depth }, (_, nth) => record(`R${nth}`, { a: nth === 0 ? 'int' : `R${nth - 1}` }));
    const wide = Array.from({ length: 100_001 }, () => 'int');
    const half = (name: string) => record(name, { a: Array.from({ length: 60_000 }, () => 'int') });
    for (const [schema, words] of [
      [{ id: 7, text: 'Protobuf', references: [] }, 'its text is no JSON'],
      [{ id: 7, text: `"${' '.repeat(1_048_576)}"`, references: [] }, 'its text has more than 1048576 characters'],
      [schemaOf(wide), 'it has more than 100000 types and fields'],
      [schemaOf(record('R', { a: 'A' }), half('A'), half('B')), 'it has more than 100000 types and fields'],
      [schemaOf(nested(501)), 'it has more than 500 types within each other'],
      [schemaOf(chain(600).reverse()), 'it has more than 500 types within each other'],
      [
        { id: 7, text: '['.repeat(500_000) + ']'.repeat(500_000), references: [] },
        'it has more than 500 types within each other',
      ],
    ] as const) {
      expect(() => avroType(schema)).toThrow(new AvroSchemaError(ofId(words)));
    }
  });

  test('a schema of 5,000 fields is read, of which a path takes the last', () => {
    const names = Array.from({ length: 5_000 }, (_, nth) => `f${nth}`);
    const schema = schemaOf(record('R', Object.fromEntries(names.map((name) => [name, 'int']))));
    const program = new AvroProgram(schema, [['f4999']], { mapped: [] });
    const fields = new AvroFields();
    const bytes = joined(...names.map((_, nth) => long(nth)));
    expect(fields.read(program, bytes, 0, bytes.length)).toBeNull();
    const last = fields.of(0);
    expect([last && sentJson(last), fields.unmapped]).toEqual(['4999', 4_999]);
  });
});
