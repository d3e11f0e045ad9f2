import { describe, expect, test } from '@jest/globals';
import { apiFiles, documentedClass } from '../../../dev/generate/api-files.ts';
import * as library from '../../../index.ts';

const [reference = '', ...pages] = apiFiles('.').map(({ content }) => content);
const props = pages.join('\n');

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
    const links = [...props.matchAll(/\((?:props[a-z-]*\.md)?#(\w+)\)/g)].map(([, name = '']) => name);
    expect(links.length).toBeGreaterThan(60);
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
      { name: 'later', type: 'never', doc: '' },
    ],
    parameters: 'scope: Scope, props: ExampleProps',
    constructorDoc: '@param scope where',
  });
});

test('a class is read however it is formatted: functions as types, several members on a line, constructors over lines', () => {
  const source = `const other = 1; // no doc comment
export class Example extends Base { /** Called. */ readonly done: (how: { ok: boolean }) => void; private readonly own = 1
  /** Two
   *  lines. */ override readonly name = 'a;b';
  #hidden = other; readonly wide:
    readonly string[]
  constructor(
    { inner, wide }: Readonly<
      ExampleProps
    >, ...rest: string[]) { super(); }
}
`;
  const { members, parameters, doc } = documentedClass(source);
  expect({ members, parameters, doc }).toEqual({
    members: [
      { name: 'done', type: '(how: { ok: boolean }) => void', doc: 'Called.' },
      { name: 'name', type: "'a;b'", doc: 'Two\n lines.' },
      { name: 'wide', type: 'readonly string[]', doc: '' },
    ],
    parameters: 'props: Readonly< ExampleProps >, ...rest: string[]',
    doc: '',
  });
});

test('a source that is no TypeScript is refused, with the reason', () => {
  expect(() => documentedClass('export class {')).toThrow('cannot be read: ');
});

test('a source without a class is refused', () => {
  expect(() => documentedClass('export const x = 1;\n')).toThrow('no exported class');
});
