import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import { KNOWN_MUTANTS } from '../../../dev/mutate/known-mutants.ts';
import { GUARANTEE_FILES, isOfCore, scoreLines, weakPlaces } from '../../../dev/mutate/mutation-score.ts';

const REPOSITORY = resolve(import.meta.dirname, '../../..');

const mutants = (...statuses: readonly string[]) => ({
  mutants: statuses.map((status, nth) => ({
    status,
    mutatorName: 'BlockStatement',
    replacement: '{\n}',
    location: { start: { line: nth + 1, column: 3 } },
  })),
});

const [first] = GUARANTEE_FILES;
const OTHER = 'app/stream/partition/retries.ts';
const times = (status: string, count: number) => new Array<string>(count).fill(status);

test('a file of the guarantee is weak below 90 % of the mutants that could be run', () => {
  const enough = mutants(...times('Killed', 8), 'Timeout', 'Survived', 'CompileError', 'Ignored');
  expect(weakPlaces({ files: { [first]: enough } })).toEqual([]);
  const files = { [first]: mutants(...times('Killed', 8), 'Survived', 'NoCoverage') };
  expect(weakPlaces({ files: { ...files, [OTHER]: mutants(...times('Killed', 10)) } })).toEqual([first]);
});

test('a room is weak below 90 % of the mutants of all its files; a file that holds no guarantee is not by itself', () => {
  const missed = mutants(...times('Killed', 8), 'Survived', 'Survived');
  expect(weakPlaces({ files: { [first]: mutants(...times('Killed', 10)), [OTHER]: missed } })).toEqual([]);
  expect(weakPlaces({ files: { [first]: mutants('Killed'), [OTHER]: missed } })).toEqual(['app/stream']);
});

test('files of the rooms can be changed, those in their folders too, and no others', () => {
  expect([first, OTHER, 'app/stream/pipeline.ts'].map(isOfCore)).toEqual([true, true, true]);
  const others = ['app/streams/pipeline.ts', 'app/main.ts', 'app/stream/pipeline.js', 'app/stream/../main.ts'];
  expect(others.filter(isOfCore)).toEqual([]);
});

test('each mutant that no test noticed is listed with its place and what it made', () => {
  expect(scoreLines({ files: { [first]: mutants('Killed', 'Survived') } })).toEqual([
    ` 50.0 %  ${first}`,
    `         Survived ${first}:2:3 BlockStatement -> { }`,
    ' 50.0 %  app/stream',
    `below 90 %: ${first}, app/stream`,
  ]);
});

test('a score is not rounded up to what would be enough', () => {
  const nearly = mutants(...times('Killed', 1_799), ...times('Survived', 201));
  expect(scoreLines({ files: { [OTHER]: nearly } }).slice(-2)).toEqual([
    ' 89.9 %  app/stream',
    'below 90 %: app/stream',
  ]);
});

test('where no place is weak, none is named', () => {
  expect(scoreLines({ files: { [OTHER]: mutants('Killed') } }).at(-1)).toBe('100.0 %  app/stream');
});

test('there are files of the guarantee, and each listed change can be made in one place of its file', () => {
  for (const file of GUARANTEE_FILES) {
    expect(readFileSync(resolve(REPOSITORY, file), 'utf8')).not.toBe('');
  }
  const places = KNOWN_MUTANTS.map(({ file, original }) => {
    const pieces = readFileSync(resolve(REPOSITORY, file), 'utf8').split(original);
    return [original, pieces.length - 1];
  });
  expect(places).toEqual(KNOWN_MUTANTS.map(({ original }) => [original, 1]));
});
