import { expect, test } from '@jest/globals';
import { strictDefinitions, strictSchema } from '../../../dev/schemas/strict-schema.ts';

test('an object refuses what it does not know, unless it is free by itself', () => {
  const known = { type: 'object', properties: { a: { type: 'string' } } };
  const free = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, properties: { a: { type: 'string' } } };
  const map = { type: 'object', additionalProperties: { type: 'string' } };
  expect(strictSchema({ properties: { known, free, map } })).toEqual({
    additionalProperties: false,
    properties: {
      known: { ...known, additionalProperties: false },
      free: { type: 'object', properties: { a: { type: 'string' } } },
      map,
    },
  });
});

test('words go, but a property may have their names', () => {
  const schema = { description: 'Words.', properties: { description: { type: 'string', description: 'More words.' } } };
  expect(strictSchema(schema)).toEqual({
    additionalProperties: false,
    properties: { description: { type: 'string' } },
  });
});

test('a number or a text is either, and a pattern of Go is one of JavaScript', () => {
  expect(strictSchema({ anyOf: [], 'x-kubernetes-int-or-string': true })).toEqual({ type: ['integer', 'string'] });
  const { pattern } = strictSchema({ pattern: '^(?i)(abort)?$' }) as { pattern: string };
  expect(new RegExp(pattern).test('Abort')).toBe(true);
});

test('definitions come with all that they refer to, and nothing else', () => {
  const definitions = {
    a: { properties: { b: { $ref: '#/definitions/b' } } },
    b: { items: { $ref: '#/definitions/a' } },
    c: { type: 'string' },
  };
  expect(Object.keys(strictDefinitions(definitions, ['b']))).toEqual(['a', 'b']);
});
