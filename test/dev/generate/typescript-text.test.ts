import { describe, expect, test } from '@jest/globals';
import { docComment, propsType } from '../../../dev/generate/typescript-text.ts';
import type { SchemaNode } from '../../../settings/schema/schema.ts';

describe('the type of a place of consumer.yaml', () => {
  test.each<[string, SchemaNode, string]>([
    ['a text', { type: 'string' }, 'string'],
    ['a whole number', { type: 'integer' }, 'number'],
    ['one of some words', { enum: ['a', 'b'] }, "'a' | 'b'"],
    ['a list', { type: 'array', items: { type: 'string' } }, 'readonly string[]'],
    ['a list of one of some words', { type: 'array', items: { enum: ['a', 'b'] } }, "readonly ('a' | 'b')[]"],
    ['free names', { type: 'object', additionalProperties: { type: 'string' } }, 'Readonly<Record<string, string>>'],
    ['alternatives', { anyOf: [{ type: 'string' }, { type: 'boolean' }] }, 'string | boolean'],
    ['a section', { type: 'object', properties: {} }, 'ImageKeysProps'],
  ])('%s', (_what, node, text) => {
    expect(propsType(node, ['image', 'keys']).text).toBe(text);
  });

  test('what has no type is refused with its path', () => {
    expect(() => propsType({ type: 'null' }, ['image', 'tag'])).toThrow('image.tag');
  });
});

test('long comments are wrapped', () => {
  const lines = docComment(['word '.repeat(60).trim()], '  ').split('\n');
  expect(lines.length).toBeGreaterThan(3);
  expect(lines.every((line) => line.length <= 120)).toBe(true);
});
