import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { contentOf, itemsOf, membersOf, sentJson, valueAt } from '../../../../app/tables/json/json-slice.ts';

const slice = (json: string) => valueAt(Buffer.from(json), 0);

const parsed = (json: string): unknown => JSON.parse(json);

test('the parts of a list and of an object are those that JSON.parse finds, however the JSON is laid out', () => {
  fc.assert(
    fc.property(
      fc.array(fc.jsonValue({ maxDepth: 3 })),
      fc.dictionary(fc.string(), fc.jsonValue()),
      fc.constantFrom('', ' ', '\n\t\r '),
      (list, object, blanks) => {
        const items = itemsOf(slice(JSON.stringify(list, null, blanks)));
        expect(items.map((item) => parsed(sentJson(item)))).toEqual(parsed(JSON.stringify(list)));
        const members = [...membersOf(slice(JSON.stringify(object, null, blanks)))];
        const found = members.map(([name, value]) => [name, parsed(sentJson(value))] as const);
        expect(new Map(found)).toEqual(new Map(Object.entries(parsed(JSON.stringify(object)) as object)));
      },
    ),
  );
});

test('a number keeps its digits, and blanks belong to no value', () => {
  const items = itemsOf(slice('[ 1.50 ,-0e3,{"a":[ 1 ]} , "]" ,null]'));
  expect(items.map(sentJson)).toEqual(['1.50', '-0e3', '{"a":[ 1 ]}', '"]"', 'null']);
  expect(items.map(({ kind }) => kind)).toEqual(['number', 'number', 'object', 'string', 'null']);
});

test('of equal names the last one counts, escaped or not', () => {
  const members = membersOf(slice('{"a":1,"\\u0061":2,"b\\"":3}'));
  expect([...members].map(([name, value]) => [name, sentJson(value)])).toEqual([
    ['a', '2'],
    ['b"', '3'],
  ]);
});

test.each([
  ['"plain"', 'plain', false],
  ['"\\u00e9\\n\\\\"', 'é\n\\', true],
  ['"\\ud834\\udd1e 𝄞"', '𝄞 𝄞', true],
  ['"\\\\" , "later"', '\\', true],
  ['"x" , "\\n"', 'x', false],
])('the string of %s', (json, content, hasEscapes) => {
  expect(contentOf(slice(json))).toBe(content);
  expect(slice(json).hasEscapes).toBe(hasEscapes);
});

test('depth costs no stack', () => {
  const deep = `[${'['.repeat(100_000)}${']'.repeat(100_000)},1]`;
  expect(itemsOf(slice(deep)).map(({ kind }) => kind)).toEqual(['list', 'number']);
});
