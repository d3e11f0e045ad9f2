import { describe, expect, test } from '@jest/globals';
import { AvroFields } from '../../../../app/formats/avro/avro-fields.ts';
import { AvroProgram } from '../../../../app/formats/avro/avro-program.ts';
import type { FieldPath } from '../../../../app/tables/mapping/table-mapping.ts';
import { joined, long, text } from './encoding.ts';
import type { Schema } from './leaf-schemas.ts';

/** What is read of bytes, where the whole value and all parts at these paths are taken. */
function outcomeOf(schema: Schema, bytes: Buffer, paths: readonly FieldPath[]) {
  const program = new AvroProgram({ id: 7, text: JSON.stringify(schema), references: [] }, paths);
  const fields = new AvroFields();
  const reason = fields.read(program, bytes, 0, bytes.length);
  return { reason, words: fields.words, parts: paths.map((_, place) => fields.of(place)) };
}

const refusal = (reason: string, words: string) => ({
  reason,
  words: `its bytes are no value of the schema 7: ${words}`,
});

const TOO_SHORT = refusal('undecodable', 'a value of it ends behind them');
const NO_LENGTH = refusal('undecodable', 'a length or a number of items is negative, or more than bytes follow');
const NO_INTEGER = refusal('undecodable', 'an int or a long is out of its range');
const NO_SUCH_INDEX = refusal('undecodable', 'an enum or a union has no symbol or branch of an index');
const TOO_MANY_EMPTY = refusal('undecodable', 'an array has too many items that take no bytes');
const TOO_MANY_NOTHINGS = refusal('undecodable', 'it has too many nulls, or records, that take no bytes');
const TOO_LARGE = refusal('value_too_large', 'its value is too large as JSON');
const TOO_DEEP = refusal('nesting_too_deep', 'its value is nested too deep');

const NULLS = { type: 'array', items: 'null' };
const EMPTY = { type: 'array', items: { type: 'record', name: 'E', fields: [] } };
const NO_BYTES = { type: 'array', items: { type: 'fixed', name: 'F', size: 0 } };
const manyNulls = Array.from({ length: 5_000 }, (_, nth) => ({ name: `f${nth}`, type: 'null' }));
const WIDE = { type: 'array', items: { type: 'record', name: 'W', fields: manyNulls } };
const LIST = { type: 'record', name: 'L', fields: [{ name: 'next', type: ['null', 'L'] }] };
const TREE = { type: 'record', name: 'T', fields: [{ name: 'all', type: { type: 'array', items: 'T' } }] };
const LONGS = { type: 'array', items: 'long' };
const ENUM = { type: 'enum', name: 'N', symbols: ['a', 'b'] };

const repeated = (count: number, bytes: Buffer): Buffer => Buffer.concat(Array.from({ length: count }, () => bytes));

const BOMBS: readonly (readonly [what: string, Schema, Buffer, ReturnType<typeof refusal>])[] = [
  ['2^30 items that are null', NULLS, joined(long(2 ** 30), long(0)), TOO_MANY_EMPTY],
  ['2^62 items that are null', NULLS, joined(long(2n ** 62n), long(0)), NO_LENGTH],
  ['2^51 items that are null', NULLS, joined(long(2n ** 51n), long(0)), TOO_MANY_EMPTY],
  ['many blocks of items that are null', NULLS, joined(repeated(100_000, long(900)), long(0)), TOO_MANY_EMPTY],
  ['a block of -2^30 items that are null', NULLS, joined(long(-(2 ** 30)), long(0), long(0)), TOO_MANY_EMPTY],
  ['a block of -2^63 items', NULLS, joined(long(-(2n ** 63n)), long(0), long(0)), NO_LENGTH],
  ['2^30 records without fields', EMPTY, joined(long(2 ** 30), long(0)), TOO_MANY_EMPTY],
  ['2^30 values of no bytes', NO_BYTES, joined(long(2 ** 30), long(0)), TOO_MANY_EMPTY],
  ['2^30 longs of which few are there', LONGS, joined(long(2 ** 30), long(1)), TOO_SHORT],
  ['a list of 10^6 records within each other', LIST, Buffer.alloc(1_000_000, 2), TOO_DEEP],
  ['10^6 arrays within each other', TREE, Buffer.alloc(1_000_000, 2), TOO_DEEP],
  ['a string of 2^62 bytes', 'string', long(2n ** 62n), NO_LENGTH],
  ['a string of 2^31 bytes', 'string', joined(long(2 ** 31), Buffer.alloc(9)), NO_LENGTH],
  ['a string of -1 bytes', 'string', long(-1), NO_LENGTH],
  ['bytes that are one too few', 'bytes', joined(long(4), Buffer.alloc(3)), NO_LENGTH],
  ['a long of 11 bytes', 'long', Buffer.concat([Buffer.alloc(10, 0x80), Buffer.from([0])]), NO_INTEGER],
  ['a long of 65 bits', 'long', long(2n ** 64n), NO_INTEGER],
  ['a long without an end', 'long', Buffer.from([0x80, 0x80]), TOO_SHORT],
  ['an int of 33 bits', 'int', long(2n ** 31n), NO_INTEGER],
  ['an int of 33 bits below 0', 'int', long(-(2n ** 31n) - 1n), NO_INTEGER],
  ['an int of 64 bits', 'int', long(2n ** 62n), NO_INTEGER],
  ['a symbol that an enum does not have', ENUM, long(2), NO_SUCH_INDEX],
  ['a symbol of index -1', ENUM, long(-1), NO_SUCH_INDEX],
  ['a branch that a union does not have', ['null', 'int'], long(2), NO_SUCH_INDEX],
  ['a branch of index 2^62', ['null', 'int'], long(2n ** 62n), NO_SUCH_INDEX],
  ['a boolean of 2', 'boolean', Buffer.from([2]), refusal('undecodable', 'a boolean is neither 0 nor 1')],
  ['half a double', 'double', Buffer.alloc(4), TOO_SHORT],
  ['nothing', 'int', Buffer.alloc(0), TOO_SHORT],
  ['bytes behind the value', 'int', Buffer.from([0, 0]), refusal('undecodable', 'bytes follow it')],
  [
    'a string of other bytes',
    'string',
    text(Buffer.from([0xff])),
    refusal('invalid_utf8', 'a string in its value is not UTF-8'),
  ],
];

describe('bytes that are no value of their schema', () => {
  test.each(BOMBS)('%s: refused where no path leads, and as a part', (_, schema, bytes, refused) => {
    expect(outcomeOf(schema, bytes, [[]])).toEqual({ ...refused, parts: [undefined] });
    const isChecked = refused.reason !== 'invalid_utf8';
    expect(outcomeOf(schema, bytes, [['a']])).toEqual(
      isChecked ? { ...refused, parts: [undefined] } : { reason: null, words: undefined, parts: [undefined] },
    );
  });

  test('a decimal that numeric cannot hold is out of its range, one without bytes is none', () => {
    const decimal = { type: 'bytes', logicalType: 'decimal', precision: 4, scale: 2 };
    const noNumber = refusal('number_out_of_range', 'its value holds a decimal that PostgreSQL numeric cannot store');
    const big = { type: 'bytes', logicalType: 'big-decimal' };
    const bigOf = (digits: Buffer, scale: number, behind = '') =>
      text(joined(text(digits), long(scale), Buffer.from(behind)));
    const one = Buffer.from([1]);
    const none = refusal('undecodable', 'a decimal has no digits');
    for (const [schema, bytes, refused] of [
      [decimal, text(Buffer.alloc(60_001, 1)), noNumber],
      [decimal, text(''), none],
      [big, bigOf(one, 16_384), noNumber],
      [big, bigOf(one, -16_384), noNumber],
      [big, bigOf(one, 1, 'x'), none],
      [big, text(''), TOO_SHORT],
      [big, joined(long(1), long(2), one, long(1)), NO_LENGTH],
    ] as const) {
      expect(outcomeOf(schema, bytes, [[]])).toEqual({ ...refused, parts: [undefined] });
      expect(outcomeOf({ type: 'array', items: schema }, joined(long(1), bytes, long(0)), [[]])).toMatchObject(refused);
    }
  });

  test('a part whose field names are many times its bytes is too large as JSON', () => {
    const name = 'n'.repeat(1_000);
    const items = { type: 'record', name: 'R', fields: [{ name, type: ['null', 'int'] }] };
    const bytes = joined(long(100_000), Buffer.alloc(100_000), long(0));
    expect(outcomeOf({ type: 'array', items }, bytes, [[]])).toMatchObject(TOO_LARGE);
    expect(outcomeOf({ type: 'array', items }, bytes, [['a']])).toMatchObject({ reason: null });
    const few = (count: number) => joined(long(count), Buffer.alloc(count), long(0));
    expect(outcomeOf({ type: 'array', items }, few(500), [[]])).toMatchObject({ reason: null });
    expect(outcomeOf({ type: 'array', items }, few(600), [[]])).toMatchObject({ reason: 'value_too_large' });
    const many = joined(long(2 ** 30), long(0));
    expect(outcomeOf(WIDE, many, [[]])).toMatchObject({ reason: 'value_too_large' });
    expect(outcomeOf(WIDE, many, [['a']])).toMatchObject(TOO_MANY_NOTHINGS);
  });

  test.each([
    ['nulls', [{ name: 'a', type: 'null' }], TOO_LARGE],
    ['values of size 0', [{ name: 'a', type: { type: 'fixed', name: 'Z', size: 0 } }], TOO_LARGE],
    ['records without fields', [], TOO_MANY_NOTHINGS],
  ])('types that have each other twice are 2^40 %s, and refused', (_, leaf, asPart) => {
    let schema: Schema = { type: 'record', name: 'R0', fields: leaf };
    for (let nth = 1; nth <= 40; nth += 1) {
      const twice: readonly Schema[] = [schema, `R${nth - 1}`];
      schema = { type: 'record', name: `R${nth}`, fields: twice.map((type, field) => ({ name: 'ab'[field], type })) };
    }
    expect(outcomeOf(schema, Buffer.alloc(0), [['other']])).toMatchObject(TOO_MANY_NOTHINGS);
    expect(outcomeOf(schema, Buffer.alloc(0), [['a', 'a']])).toMatchObject(asPart);
  });

  test('nulls of an item count, as many as its bytes allow', () => {
    const fields = [...manyNulls, { name: 'last', type: 'int' }];
    const items = { type: 'record', name: 'W', fields };
    const values = (count: number) => joined(long(count), Buffer.alloc(count), long(0));
    expect(outcomeOf({ type: 'array', items }, values(20), [['a']])).toMatchObject({ reason: null });
    expect(outcomeOf({ type: 'array', items }, values(21), [['a']])).toMatchObject(TOO_MANY_NOTHINGS);
  });

  test('what was found in a value before is forgotten, and the next value is read', () => {
    const schema = {
      type: 'record',
      name: 'R',
      fields: [
        { name: 'a', type: 'int' },
        { name: 'b', type: 'boolean' },
      ],
    };
    const program = new AvroProgram({ id: 7, text: JSON.stringify(schema), references: [] }, [['a']], { mapped: [] });
    const fields = new AvroFields();
    const read = (bytes: Buffer) => [fields.read(program, bytes, 0, bytes.length), fields.kindOf(0), fields.unmapped];
    expect(read(joined(long(1), Buffer.from([1])))).toEqual([null, 'number', 1]);
    expect(read(joined(long(1), Buffer.from([2])))).toEqual(['undecodable', undefined, 0]);
    expect(read(joined(long(1), Buffer.from([0])))).toEqual([null, 'number', 1]);
    expect(fields.words).toBeUndefined();
  });
});
