import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

const PAGES = [
  'README.md',
  ...readdirSync('docs')
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name)),
];

/** The commands about a file or folder of manifests, on each page. */
const commands = PAGES.flatMap((page) =>
  [...readFileSync(page, 'utf8').matchAll(/kubectl (apply|diff|delete) [^`\n#]*(-f|--filename) [^`\n#]*/g)].map(
    ([command, verb]) => ({ page, verb, command: command.trim() }),
  ),
);

test('the documents apply and compare manifests', () => {
  expect(new Set(commands.map(({ verb }) => verb))).toEqual(new Set(['apply', 'diff', 'delete']));
});

test('manifests are applied and compared server-side everywhere: mixed, kubectl diff is never empty', () => {
  const isWritten = commands.filter(({ verb }) => verb !== 'delete');
  expect(isWritten.filter(({ command }) => !command.includes('--server-side'))).toEqual([]);
});

test('manifests are never deleted with the Namespace, which takes the Secret along', () => {
  const deletes = commands.filter(({ verb }) => verb === 'delete');
  const kept = "--selector '!pod-security.kubernetes.io/enforce'";
  expect(deletes.filter(({ command }) => !command.includes(kept))).toEqual([]);
});
