import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import protobuf from 'protobufjs';
import { ProtoFields } from '../../../../app/formats/protobuf/proto-fields.ts';
import { ProtoProgram } from '../../../../app/formats/protobuf/proto-program.ts';
import { ProtoSchema } from '../../../../app/formats/protobuf/proto-schema.ts';
import { contentOf, itemsOf, type JsonSlice, membersOf, sentJson } from '../../../../app/tables/json/json-slice.ts';
import { IS_LONG_RUN } from '../../../integration/stack/long-test.ts';
import { AnyBytes } from './any-bytes.ts';
import { type AnySchema, anySchema, NAMES, schemaText } from './any-schema.ts';
import { type Expected, isoOf, Oracle, partAt } from './oracle.ts';

const RUNS = IS_LONG_RUN ? 5_000 : 100;
const VALUES = 6;
const NAME = 'acme.test.M0';

const part = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(...NAMES, 'k', '1') },
  { weight: 1, arbitrary: fc.nat(2) },
);
const paths = fc.array(fc.array(part, { maxLength: 4 }), { maxLength: 12 });

/** Of a message that is a group by its schema. */
function delimitedIn(oracle: Oracle, { messages }: AnySchema): (field: object) => boolean {
  const byField = new Map<object, boolean>();
  messages.forEach((fields, nth) => {
    const type = oracle.root.lookupType(`acme.test.M${nth}`);
    for (const field of fields) {
      const reflected = type.fields[field.name];
      byField.set(field, reflected instanceof protobuf.Field && reflected.delimited);
    }
  });
  return (field) => byField.get(field) ?? false;
}

const cases = anySchema.chain((schema) => {
  const text = schemaText(schema);
  const oracle = new Oracle(text);
  const bytes = new AnyBytes(schema, delimitedIn(oracle, schema));
  return fc.record({
    text: fc.constant(text),
    oracle: fc.constant(oracle),
    values: fc.array(bytes.message(0), { minLength: 1, maxLength: VALUES }),
    paths,
  });
});

/** What was compared, at any depth. */
const compared = new Set<Expected['kind']>();

/** A slice in the form of what is expected of it. */
function requireEqual(slice: JsonSlice, expected: Expected): void {
  compared.add(expected.kind);
  switch (expected.kind) {
    case 'object': {
      expect(slice.kind).toBe('object');
      const members = membersOf(slice);
      expect([...members.keys()].sort()).toEqual([...expected.members.keys()].sort());
      for (const [name, member] of members) {
        requireEqual(member, expected.members.get(name) ?? { kind: 'word', word: 'null' });
      }
      return;
    }
    case 'list': {
      expect(slice.kind).toBe('list');
      const items = itemsOf(slice);
      expect(items).toHaveLength(expected.items.length);
      for (const [nth, item] of items.entries()) {
        requireEqual(item, expected.items[nth] ?? { kind: 'word', word: 'null' });
      }
      return;
    }
    case 'text':
      expect(contentOf(slice)).toBe(expected.text);
      expect(slice.hasEscapes).toBe(hasEscapes(slice, expected.text));
      return;
    case 'time':
      expect([slice.kind, contentOf(slice)]).toEqual(['string', isoOf(expected.nanos)]);
      return;
    case 'float':
      requireFloat(slice, expected);
      return;
    case 'number':
      expect([slice.kind, sentJson(slice)]).toEqual(['number', expected.text]);
      return;
    default:
      expect(sentJson(slice)).toBe(expected.word);
  }
}

const hasEscapes = ({ kind }: JsonSlice, text: string): boolean =>
  kind === 'text' ? JSON.stringify(text) !== `"${text}"` : JSON.stringify(text).includes('\\');

/** The shortest text that reads back as the same number. */
function requireFloat(slice: JsonSlice, { value, isSingle }: Expected & { readonly kind: 'float' }): void {
  if (!Number.isFinite(value)) {
    expect(contentOf(slice)).toBe(String(value));
    return;
  }
  const read = Number(sentJson(slice));
  expect(Object.is(isSingle ? Math.fround(read) : read, value)).toBe(true);
  expect(sentJson(slice).length).toBeLessThanOrEqual(Object.is(value, -0) ? 2 : String(value).length);
}

const KINDS = { object: 'object', list: 'list', number: 'number', time: 'string' } as const;

function requirePart(fields: ProtoFields, place: number, expected: Expected | undefined, kinds: Set<string>): void {
  const slice = fields.of(place);
  expect(fields.kindOf(place)).toBe(slice?.kind);
  if (expected === undefined || slice === undefined) {
    expect([slice?.kind, expected?.kind]).toEqual([undefined, undefined]);
    return;
  }
  const kind = expected.kind in KINDS ? KINDS[expected.kind as keyof typeof KINDS] : slice.kind;
  expect(slice.kind).toBe(kind);
  kinds.add(`${expected.kind} ${slice.kind} ${fields.units[place]}`);
  requireEqual(slice, expected);
}

test('parts of any value, however it is written, are those that another implementation reads', () => {
  const kinds = new Set<string>();
  fc.assert(
    fc.property(cases, ({ text, oracle, values, paths: wanted }) => {
      const type = new ProtoSchema({ id: 1, text, imported: () => null }).message(NAME);
      if (type === undefined) {
        throw new Error('the schema has no such message');
      }
      const program = new ProtoProgram(1, type, wanted);
      const fields = new ProtoFields();
      for (const value of values) {
        const expected = oracle.read(NAME, value);
        const bytes = Buffer.concat([Buffer.from([8, 8, 8]), value, Buffer.from([8, 0, 9])]);
        expect([fields.read(program, bytes, 3, bytes.length - 3), fields.words]).toEqual([null, undefined]);
        for (const [place, path] of wanted.entries()) {
          requirePart(fields, place, partAt(expected, path), kinds);
        }
        expect(fields.kind).toBe('object');
      }
    }),
    { numRuns: RUNS, ...(!IS_LONG_RUN && { seed: 1 }) },
  );
  for (const kind of [
    'object object json',
    'list list undefined',
    'number number undefined',
    'float number undefined',
  ]) {
    expect(kinds).toContain(kind);
  }
  expect([...compared].sort()).toEqual(['float', 'list', 'number', 'object', 'text', 'time', 'word']);
}, 1_200_000);
