import { describe, expect, test } from '@jest/globals';
import { propsFile, propsInterface, propsSections } from '../../../dev/generate/props.ts';
import { docComment, propsType } from '../../../dev/generate/typescript-text.ts';
import type { SchemaNode } from '../../../settings/schema.ts';

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

test('an interface has a comment for each property, with what is allowed and the default', () => {
  const type = propsType({ type: 'integer' }, ['x', 'replicas']);
  const properties = [
    { key: 'replicas', type, description: 'Pods.', allowed: '0 to 9', fallback: '1' },
    { key: 'in-root', type, description: 'Whether.', allowed: '', fallback: undefined },
  ];
  expect(propsInterface({ name: 'XProps', about: 'About.', properties })).toBe(`/** About. */
export interface XProps {
  /**
   * Pods.
   *
   * Allowed: 0 to 9.
   *
   * @default 1
   */
  readonly replicas?: number;

  /** Whether. */
  readonly 'in-root': number;
}
`);
});

test('one file has the interface of every section and imports nothing', () => {
  const { path, content } = propsFile();
  const declared = [...content.matchAll(/^export interface (\w+) /gm)].map(([, name]) => name);
  expect(path).toBe('deployment/props.ts');
  expect(declared).toEqual(propsSections().map(({ name }) => name));
  expect(content).not.toMatch(/^import/m);
});

test('long comments are wrapped', () => {
  const lines = docComment(['word '.repeat(60).trim()], '  ').split('\n');
  expect(lines.length).toBeGreaterThan(3);
  expect(lines.every((line) => line.length <= 120)).toBe(true);
});
