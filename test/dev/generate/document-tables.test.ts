import { expect, test } from '@jest/globals';
import { replaceSection } from '../../../dev/generate/document-tables.ts';

const MARKED = 'before\n<!-- generated:a -->\nold\n<!-- /generated:a -->\nafter';

test('what stands between the marks is replaced, and only that', () => {
  expect(replaceSection(MARKED, 'a', 'new')).toBe(
    'before\n<!-- generated:a -->\n\nnew\n\n<!-- /generated:a -->\nafter',
  );
});

test('replacing twice gives the same text', () => {
  const once = replaceSection(MARKED, 'a', 'new');
  expect(replaceSection(once, 'a', 'new')).toBe(once);
});

test('a text without the marks stays as it is', () => {
  expect(replaceSection(MARKED, 'b', 'new')).toBe(MARKED);
});

test('a section that is never closed is an error that names the mark to add', () => {
  expect(() => replaceSection('<!-- generated:a -->', 'a', 'new')).toThrow('<!-- /generated:a -->');
});
