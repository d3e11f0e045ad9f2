import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { INVALID, unescaped, wordEnd } from '../../../../app/tables/json/json-lexer.ts';
import { JsonScanner } from '../../../../app/tables/json/json-scanner.ts';
import type { FieldPath } from '../../../../app/tables/mapping/table-mapping.ts';
import { IS_LONG_RUN } from '../../../integration/stack/long-test.ts';

const name = fc.constantFrom('a', 'b', 'c', '', '0', 'Zoë', 'a"b', '\\', '\n', '__proto__', '💶');
const space = fc.constantFrom('', '', '', ' ', '\n\t', '\r ');
const number = fc.constantFrom('0', '-0', '12', '-1.50', '1e3', '2E-2', '0.1e+7', '12345678901234567890.10');

const unitEscape = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** A string of which characters may be escaped that need not be. */
const literal = (content: fc.Arbitrary<string>) =>
  fc
    .tuple(content, fc.boolean())
    .map(([text, isEscaped]) => (isEscaped ? `"${text.split('').map(unitEscape).join('')}"` : JSON.stringify(text)));

const between = (begin: string, items: fc.Arbitrary<string>, end: string) =>
  fc
    .tuple(fc.array(items, { maxLength: 6 }), space)
    .map(([texts, within]) => `${begin}${texts.length === 0 ? within : texts.join(',')}${end}`);

/** The text of a document, with white space, and equal names in objects. */
const { spaced: document } = fc.letrec<Record<'value' | 'spaced', string>>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5, depthSize: 'large' },
    fc.oneof(
      number,
      fc.constantFrom('true', 'false', 'null'),
      literal(fc.oneof(name, fc.string({ unit: 'grapheme' }))),
    ),
    between('[', tie('spaced'), ']'),
    between(
      '{',
      fc.tuple(space, literal(name), space, fc.constant(':'), tie('spaced')).map((parts) => parts.join('')),
      '}',
    ),
  ),
  spaced: fc.tuple(space, tie('value'), space).map((parts) => parts.join('')),
}));

const paths = fc.array(fc.array(fc.oneof({ weight: 3, arbitrary: name }, fc.nat(3)), { maxLength: 4 }), {
  maxLength: 9,
});

/** What is at a path, for JSON.parse; undefined for nothing. */
const valueAt = (value: unknown, path: FieldPath): unknown =>
  path.reduce<unknown>((from, part) => {
    const isWay = typeof part === 'number' ? Array.isArray(from) : !Array.isArray(from);
    return isWay && typeof from === 'object' && from !== null && Object.hasOwn(from, part)
      ? (from as Record<string | number, unknown>)[part]
      : undefined;
  }, value);

function kindOf(value: unknown) {
  if (typeof value === 'boolean' || value === null) {
    return String(value);
  }
  return Array.isArray(value) ? 'list' : typeof value;
}

/** What the scanner has found for a path; null for nothing. */
function found(scanner: JsonScanner, json: Buffer, path: number) {
  const [start, end] = [scanner.start(path), scanner.end(path)];
  if (start < 0) {
    return null;
  }
  return { text: json.toString('utf8', start, end), kind: scanner.kind(path), isEscaped: scanner.isEscaped(path) };
}

function requireSame(scanner: JsonScanner, text: string, wanted: readonly FieldPath[]) {
  const json = Buffer.from(text);
  expect(scanner.scan(json)).toBeNull();
  const whole: unknown = JSON.parse(text);
  wanted.forEach((path, index) => {
    const value = valueAt(whole, path);
    const slice = found(scanner, json, index);
    if (slice === null || value === undefined) {
      expect({ slice, value }).toEqual({ slice: null, value: undefined });
      return;
    }
    expect({ ...slice, value: JSON.parse(slice.text) }).toEqual({
      text: slice.text.trim(),
      kind: kindOf(value),
      isEscaped: typeof value === 'string' && slice.text.includes('\\'),
      value,
    });
    if (typeof value === 'string') {
      expect(unescaped(json, scanner.start(index), scanner.end(index)).toString()).toBe(value);
    }
  });
}

test('each path gets the value that JSON.parse finds there, document after document', () => {
  fc.assert(
    fc.property(paths, fc.array(document, { minLength: 1, maxLength: 4 }), (wanted, texts) => {
      const scanner = new JsonScanner(wanted);
      for (const text of texts) {
        requireSame(scanner, text, wanted);
      }
    }),
    { numRuns: IS_LONG_RUN ? 1_000 : 200 },
  );
});

test('a changed document is refused when JSON.parse refuses it', () => {
  const scanner = new JsonScanner([
    ['a', 'b'],
    [0, 'c'],
  ]);
  const change = fc.record({
    at: fc.nat(),
    remove: fc.nat(2),
    insert: fc.constantFrom('', '"', '\\', ',', ':', '0', 'e', '.', '-', '{', ']', '\t', 'u'),
  });
  fc.assert(
    fc.property(document, change, (text, { at, remove, insert }) => {
      const from = at % (text.length + 1);
      const changed = text.slice(0, from) + insert + text.slice(from + remove);
      // JSON.parse takes half of a surrogate pair.
      fc.pre(!/\\ud/.test(changed) && Buffer.from(changed).toString() === changed);
      const verdict = scanner.scan(Buffer.from(changed));
      if (verdict === null || verdict === 'invalid_json') {
        expect({ changed, isJson: isJson(changed) }).toEqual({ changed, isJson: verdict === null });
      }
    }),
    { numRuns: IS_LONG_RUN ? 3_000 : 600 },
  );
});

/** What may lie around a document: what would go on with it, and what would be a fault of it. */
const around = fc.oneof(
  fc.constantFrom(' ', '0', '"', '\\', '}', ']', ',"a":1}', '.5', 'e1', 'true', 'l', '\\u0000', '\0', '\ud83d'),
  fc.string(),
);

test('a document among other bytes is what it is alone', () => {
  const wanted: FieldPath[] = [['a'], ['b', 0], []];
  const [among, alone] = [new JsonScanner(wanted), new JsonScanner(wanted)];
  const cut = fc.tuple(document, fc.boolean(), fc.nat()).map(([text, isCut, at]) => {
    const bytes = Buffer.from(text);
    return isCut ? bytes.subarray(0, at % (bytes.length + 1)) : bytes;
  });
  fc.assert(
    fc.property(around, cut, around, (before, json, behind) => {
      const start = Buffer.byteLength(before);
      const whole = Buffer.concat([Buffer.from(before), json, Buffer.from(behind)]);
      expect(among.scan(whole, start, start + json.length)).toBe(alone.scan(json));
      const moved = (at: number) => (at < 0 ? at : at - start);
      wanted.forEach((_, path) => {
        expect([moved(among.start(path)), among.kind(path)]).toEqual([alone.start(path), alone.kind(path)]);
        expect(alone.kind(path) === null ? 0 : moved(among.end(path))).toBe(
          alone.kind(path) === null ? 0 : alone.end(path),
        );
      });
    }),
    { numRuns: IS_LONG_RUN ? 1_000 : 200 },
  );
});

test('a word is not longer than its document', () => {
  const json = Buffer.from('null');
  expect([wordEnd(json, 0, 3), wordEnd(json, 0, 4)]).toEqual([INVALID, 4]);
});

test('text that is no UTF-8 is refused, wherever it is', () => {
  const scanner = new JsonScanner([['a']]);
  const scan = (...parts: (string | number)[]) => {
    const json = Buffer.concat(
      parts.map((part) => (typeof part === 'number' ? Buffer.from([part]) : Buffer.from(part))),
    );
    return [
      scanner.scan(Buffer.concat([Buffer.from('"'), json, Buffer.from([0x80])]), 1, 1 + json.length),
      scanner.start(0),
    ];
  };
  expect(scan('{"a":"', 0xc3, '"}')).toEqual(['invalid_utf8', -1]);
  expect(scan('{"', 0xff, '":1,"a":2}')).toEqual(['invalid_utf8', -1]);
  expect(scan('{"a":"ab\\n\u00e9', 0xa9, '"}')).toEqual(['invalid_utf8', -1]);
  expect(scan('{"a":1}', 0xc3)).toEqual(['invalid_utf8', -1]);
  expect(scan('{"a":1', 0xc3, 0xa9, '}')).toEqual(['invalid_json', -1]);
  expect(scan('{"a":"', 0xc3, 0xa9, '"}')).toEqual([null, 5 + 1]);
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** The texts at paths; null for what is absent. */
function textsAt(text: string, wanted: readonly FieldPath[]) {
  const json = Buffer.from(text);
  const scanner = new JsonScanner(wanted);
  expect(scanner.scan(json)).toBeNull();
  return wanted.map((_, path) => (scanner.start(path) < 0 ? null : (found(scanner, json, path)?.text ?? null)));
}

describe('slices', () => {
  test.each<[string, string, FieldPath[], (string | null)[]]>([
    [
      'digits are as they were sent',
      '{"a": 0.10, "b": 12345678901234567890}',
      [['a'], ['b']],
      ['0.10', '12345678901234567890'],
    ],
    ['the last of equal names wins, in any spelling', '{"a":1,"\\u0061":2}', [['a']], ['2']],
    [
      'what an earlier object of a name gave is forgotten',
      '{"a":{"b":1,"c":[2]},"a":{"c":[]}}',
      [
        ['a', 'b'],
        ['a', 'c'],
        ['a', 'c', 0],
      ],
      [null, '[]', null],
    ],
    ['and so it is where the last is none', '{"a":{"b":1},"a":null}', [['a', 'b'], ['a']], [null, 'null']],
    [
      'a path may begin with another, and be there twice',
      ' {"a":[ {"b":true} ]} ',
      [[], ['a'], ['a', 0, 'b'], ['a']],
      ['{"a":[ {"b":true} ]}', '[ {"b":true} ]', 'true', '[ {"b":true} ]'],
    ],
    [
      'a position is none of an object, a name none of a list',
      '{"a":{"0":1},"b":[2]}',
      [
        ['a', 0],
        ['a', '0'],
        ['b', '0'],
        ['b', 0],
      ],
      [null, '1', null, '2'],
    ],
  ])('%s', (_, text, wanted, expected) => {
    expect(textsAt(text, wanted)).toEqual(expected);
  });

  const THOUSAND = Array.from({ length: 1_000 }, (_, index) => index);

  test.each<[string, (index: number) => string[]]>([
    ['that have the same length and ends', (index) => [`field_${index}_of_it`]],
    ['that begin with one another', (index) => ['x'.repeat(index)]],
    ['that are the same in other objects', (index) => [`a${index % 30}`, `x${Math.floor(index / 30)}`]],
  ])('are found by a thousand names %s', (_, pathOf) => {
    const fields: Record<string, string[]> = {};
    for (const index of THOUSAND) {
      const [name = '', inner] = pathOf(index);
      const value = inner === undefined ? `${index}` : `"${inner}":${index}`;
      fields[name] = [...(fields[name] ?? []), value];
    }
    const members = Object.entries(fields).map(([name, values]) => {
      const text = values.join(',');
      return `"${name}":${text.includes(':') ? `{${text}}` : text}`;
    });
    const text = `{${members.join(',')}}`;
    expect(textsAt(text, THOUSAND.map(pathOf))).toEqual(THOUSAND.map(String));
  });

  test('are those of the object around them, whatever followed a name in the document before', () => {
    const scanner = new JsonScanner([['p', 'a'], ['a']]);
    expect(scanner.scan(Buffer.from('{"p":{"a":1}}'))).toBeNull();
    expect(scanner.scan(Buffer.from('{"p":1,"a":2}'))).toBeNull();
    expect([scanner.start(0), scanner.start(1)]).toEqual([-1, 11]);
  });

  test('of a document that is refused, or of the one before, are not there', () => {
    const scanner = new JsonScanner([['a']]);
    expect(scanner.scan(Buffer.from('{"a":1}'))).toBeNull();
    expect(scanner.scan(Buffer.from('{"a":2'))).toBe('invalid_json');
    expect(scanner.start(0)).toBe(-1);
    expect(scanner.scan(Buffer.from('{}'))).toBeNull();
    expect([scanner.start(0), scanner.kind(0)]).toEqual([-1, null]);
  });
});
