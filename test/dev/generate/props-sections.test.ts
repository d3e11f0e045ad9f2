import { describe, expect, test } from '@jest/globals';
import type { SchemaNode } from '../../../contract/schema-node.ts';
import { propsSections } from '../../../dev/generate/props-sections.ts';

const fallbackOf = (node: SchemaNode, required: readonly string[] = []) =>
  propsSections({ type: 'object', required, properties: { tag: node } })[0]?.properties[0]?.fallback;

describe('what holds when a property is left out', () => {
  test.each<[string, SchemaNode, string]>([
    ['a text', { type: 'string', default: 'x' }, "'x'"],
    ['a number', { type: 'integer', default: 3 }, '3'],
    ['a list', { type: 'array', items: { type: 'string' }, default: [] }, '[]'],
    ['words', { type: 'string', description: "A tag. Left out: the package's version." }, "- the package's version"],
    ['words at the end', { type: 'string', description: 'A tag; left out: none' }, '- none'],
    ['a section', { type: 'object', properties: {}, default: {} }, '- the default of each property'],
  ])('is told for %s', (_what, node, fallback) => {
    expect(fallbackOf(node)).toBe(fallback);
  });

  test('is nothing where it may not be left out', () => {
    expect(fallbackOf({ type: 'string' }, ['tag'])).toBeUndefined();
  });

  test('has to be said: a property that says nothing is refused by its path', () => {
    expect(() => fallbackOf({ type: 'string', description: 'A tag.' })).toThrow('tag may be left out');
  });
});

test('every section of the schema is there once, the whole file first', () => {
  const names = propsSections().map(({ name }) => name);
  expect(names[0]).toBe('StreamConsumerProps');
  expect(new Set(names).size).toBe(names.length);
  expect(names).toEqual(expect.arrayContaining(['ImageProps', 'ApplicationKafkaProps']));
});
