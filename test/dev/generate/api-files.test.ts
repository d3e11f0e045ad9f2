import { describe, expect, test } from '@jest/globals';
import { apiFiles } from '../../../dev/generate/api-files.ts';
import { documentedClass } from '../../../dev/generate/documented-class.ts';
import * as library from '../../../index.ts';

const [reference = '', props = ''] = apiFiles('.').map(({ content }) => content);

describe('the API reference', () => {
  test.each(Object.keys(library))('documents what the library exports: %s', (name) => {
    expect(reference).toContain(`\n## ${name}\n`);
  });

  test('says something about every property', () => {
    const rows = [reference, props].flatMap((text) => text.split('\n').filter((line) => line.startsWith('| `')));
    expect(rows.length).toBeGreaterThan(60);
    expect(rows.filter((row) => /\|\s*\|/.test(row))).toEqual([]);
  });

  test('links only sections that are there', () => {
    const sections = [...props.matchAll(/^## (\w+)$/gm)].map(([, name = '']) => name.toLowerCase());
    const links = [...props.matchAll(/\(#(\w+)\)/g)].map(([, name = '']) => name);
    expect(links.filter((link) => !sections.includes(link))).toEqual([]);
  });
});

test('a class is read with its members, their types and comments, and its constructor', () => {
  const source = `/** About it,
 * in two lines. */
export class Example extends Base {
  /** A fact. */
  readonly code = 'FACT';
  readonly maybe: string | undefined;

  /** @param scope where */
  constructor(scope: Scope, { inner: { deep } }: ExampleProps) {
    super(scope);
    this.maybe = deep;
  }

  readonly later: never;
}
`;
  expect(documentedClass(source)).toEqual({
    name: 'Example',
    base: 'Base',
    doc: 'About it,\nin two lines.',
    members: [
      { name: 'code', type: "'FACT'", doc: 'A fact.' },
      { name: 'maybe', type: 'string | undefined', doc: '' },
    ],
    parameters: 'scope: Scope, props: ExampleProps',
    constructorDoc: '@param scope where',
  });
});

test('a source without a class is refused', () => {
  expect(() => documentedClass('export const x = 1;\n')).toThrow('no exported class');
});
