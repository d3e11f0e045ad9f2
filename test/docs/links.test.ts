import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { anchorsIn, DOCUMENTS, linksIn, PAGES, read } from './pages.ts';

/** Targets of the links of a document that lead into this repository, from its root, with their anchors. */
const localTargets = (path: string): readonly string[] =>
  linksIn(read(path))
    .filter((target) => !/^(https?:|mailto:)/.test(target))
    .map((target) => (target.startsWith('#') ? `${path}${target}` : normalize(join(dirname(path), target))));

const withoutAnchor = (target: string): string => target.replace(/#.*$/, '');

test.each(DOCUMENTS)('every link in %s leads to a file', (path) => {
  expect(localTargets(path).filter((target) => !existsSync(withoutAnchor(target)))).toEqual([]);
});

test.each(DOCUMENTS)('every anchor that %s names is a heading as GitHub writes it', (path) => {
  const missing = localTargets(path).filter((target) => {
    const [file = '', anchor] = target.split('#');
    return anchor !== undefined && !anchorsIn(read(file)).includes(anchor);
  });
  expect(missing).toEqual([]);
});

test.each([
  ["### One alert's way", ['one-alerts-way']],
  ['## What `dist/` is, and [why](there.md)', ['what-dist-is-and-why']],
  ['## Twice\n\n## Twice', ['twice', 'twice-1']],
  ['```sh\n# a comment\n```', []],
])('anchors are made as GitHub makes them: %j', (text, anchors) => {
  expect(anchorsIn(text)).toEqual(anchors);
});

/** Files that name pages of docs/, in errors, help texts, settings and comments. */
const NAMING = ['app', 'charts', 'contract', 'deployment', 'dev', 'monitoring', 'settings', 'synthesis'].flatMap(
  (folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((path) => /\.(ts|mjs|json)$/.test(path))
      .map((path) => join(folder, path)),
);

test('every page that a source, a help text or consumer.yaml names is there', () => {
  const named = [...NAMING, 'consumer.yaml', 'biome.json', 'CHANGELOG.md', 'CONTRIBUTING.md'].flatMap((path) =>
    [...read(path).matchAll(/\bdocs\/[\w./-]+\.md(#[\w-]+)?/g)].map(([page]) => ({ path, page })),
  );
  expect(named.length).toBeGreaterThan(20);
  const isThere = (page: string): boolean => {
    const [file = '', anchor] = page.split('#');
    return existsSync(file) && (anchor === undefined || anchorsIn(read(file)).includes(anchor));
  };
  expect(named.filter(({ page }) => !isThere(page))).toEqual([]);
});

describe('the index', () => {
  test('docs/README.md names every page of docs/, by what one wants to do', () => {
    const named = localTargets('docs/README.md').map(withoutAnchor);
    const pages = PAGES.filter((path) => /^docs\/[^/]+\.md$/.test(path) && basename(path) !== 'README.md');
    expect(pages.filter((path) => !named.includes(path))).toEqual([]);
    expect(named).toEqual(expect.arrayContaining(['docs/decisions/README.md', 'docs/api/README.md', 'docs/runbooks']));
  });

  test('every decision is in the list of decisions', () => {
    const files = readdirSync('docs/decisions').filter((name) => /^\d{4}-/.test(name));
    expect(linksIn(read('docs/decisions/README.md')).toSorted()).toEqual(files.toSorted());
    expect(files.length).toBeGreaterThan(0);
  });

  test('the reference of the library names each of its pages', () => {
    const pages = PAGES.filter((path) => dirname(path) === 'docs/api');
    const namedBy = (path: string): readonly string[] =>
      pages.filter((other) => other !== path && localTargets(other).map(withoutAnchor).includes(path));
    expect(pages.filter((path) => basename(path) !== 'README.md' && namedBy(path).length === 0)).toEqual([]);
  });
});

test('no page is longer than 300 lines, but for decisions: a record is not changed afterwards', () => {
  const lines = (path: string): number => readFileSync(path, 'utf8').trimEnd().split('\n').length;
  const long = PAGES.filter((path) => !/^docs\/decisions\/\d{4}-/.test(path) && lines(path) > 300);
  expect(long).toEqual([]);
});
