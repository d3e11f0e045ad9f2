import { expect, test } from '@jest/globals';
import { overlay } from '../../synthesis/overlay.ts';

test.each([
  ['maps merge key by key', { a: { b: 1, c: 2 } }, { a: { c: 3 } }, { a: { b: 1, c: 3 } }],
  ['lists are replaced', { a: [1, 2] }, { a: [3] }, { a: [3] }],
  ['null removes', { a: { b: 1, c: 2 } }, { a: { b: null } }, { a: { c: 2 } }],
  ['null inside a new section leaves nothing', {}, { a: { b: null, c: 1 } }, { a: { c: 1 } }],
  ['a map replaces a value', { a: 1 }, { a: { b: 1 } }, { a: { b: 1 } }],
  ['a value replaces a map', { a: { b: 1 } }, { a: 1 }, { a: 1 }],
  ['false and 0 replace', { a: true, b: 1 }, { a: false, b: 0 }, { a: false, b: 0 }],
  ['an empty file changes nothing', { a: 1 }, undefined, { a: 1 }],
])('%s', (_name, base, over, expected) => {
  expect(overlay(base, over)).toEqual(expected);
});

test('neither document is changed', () => {
  const base = { a: { b: 1 } };
  const over = { a: { c: 2 } };
  overlay(base, over);
  expect([base, over]).toEqual([{ a: { b: 1 } }, { a: { c: 2 } }]);
});
