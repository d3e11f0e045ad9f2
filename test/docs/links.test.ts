import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from '@jest/globals';

const ROOT = join(import.meta.dirname, '..', '..');

const markdownIn = (folder: string): readonly string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name));

const DOCUMENTS = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', ...markdownIn('docs')].filter((path) =>
  existsSync(join(ROOT, path)),
);

/** Targets of the links and pictures of a document that lead into this repository. */
function localTargets(path: string): readonly string[] {
  const text = readFileSync(join(ROOT, path), 'utf8').replaceAll(/^```[\s\S]*?^```/gm, '');
  const targets = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map((match) => match[1] ?? '');
  return targets.filter((target) => !/^(https?:|mailto:|#)/.test(target)).map((target) => target.replace(/#.*$/, ''));
}

test.each(DOCUMENTS)('every link in %s leads to a file', (path) => {
  const missing = localTargets(path).filter((target) => !existsSync(join(ROOT, dirname(path), target)));
  expect(missing).toEqual([]);
});

test('every decision is in the list of decisions', () => {
  const files = readdirSync(join(ROOT, 'docs', 'decisions')).filter((name) => /^\d{4}-/.test(name));
  expect([...localTargets('docs/decisions/README.md')].sort()).toEqual(files.sort());
  expect(files.length).toBeGreaterThan(0);
});
