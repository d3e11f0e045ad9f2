import { execFileSync } from 'node:child_process';
import { dirname, posix } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { ROOT, read } from './record-path.ts';

const MOST_FILES = 15;
const MOST_LINES = 300;

/** Every file of the source: test/ is a list by nature, and what is generated is read by nobody. */
const SOURCES: readonly string[] = execFileSync(
  'git',
  ['ls-files', '--cached', '--others', '--exclude-standard', '*.ts'],
  {
    cwd: ROOT,
    encoding: 'utf8',
  },
)
  .split('\n')
  .filter((file) => file !== '' && !/^(test|dist)\/|\/generated\//.test(file));

const IMPORTS: ReadonlyMap<string, readonly string[]> = new Map(SOURCES.map((file) => [file, importsOf(file)]));

function importsOf(file: string): readonly string[] {
  const paths = [...read(file).matchAll(/\bfrom '(\.[^']+)'|\bimport\('(\.[^']+)'\)/g)];
  return paths.map(([, from, dynamic]) => posix.join(dirname(file), from ?? dynamic ?? ''));
}

/** What of a graph leads back to itself. */
function inCircles(arrows: ReadonlyMap<string, Iterable<string>>): readonly string[] {
  return [...arrows.keys()].filter((start) => {
    const seen = new Set<string>();
    const open = [...(arrows.get(start) ?? [])];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (next === start) return true;
      if (!seen.has(next)) open.push(...(arrows.get(next) ?? []));
      seen.add(next);
    }
    return false;
  });
}

/** The folders of app/, each with those that its files import. */
function folders(): ReadonlyMap<string, ReadonlySet<string>> {
  const arrows = new Map<string, Set<string>>();
  for (const [file, imports] of IMPORTS) {
    const folder = dirname(file);
    if (!folder.startsWith('app')) continue;
    const known = arrows.get(folder) ?? new Set();
    for (const imported of imports) {
      if (dirname(imported) !== folder) known.add(dirname(imported));
    }
    arrows.set(folder, known);
  }
  return arrows;
}

describe('the source', () => {
  test(`has no folder of more than ${MOST_FILES} files`, () => {
    const names = SOURCES.map((file) => dirname(file));
    expect(names.length).toBeGreaterThan(100);
    expect([...new Set(names)].filter((name) => names.filter((each) => each === name).length > MOST_FILES)).toEqual([]);
  });

  test(`has no file of more than ${MOST_LINES} lines`, () => {
    expect(SOURCES.filter((file) => read(file).split('\n').length > MOST_LINES + 1)).toEqual([]);
  });

  test('has no files that import each other in a circle', () => {
    expect(inCircles(IMPORTS)).toEqual([]);
  });

  test('has no folders of app/ that import each other in a circle', () => {
    expect(inCircles(folders())).toEqual([]);
  });
});
