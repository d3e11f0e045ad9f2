import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import { KNOWN_MUTANTS } from '../../../dev/mutate/known-mutants.ts';
import { GUARANTEE_FILES, scoreLines, weakFiles } from '../../../dev/mutate/mutation-score.ts';

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
const times = (status: string, count: number) => new Array<string>(count).fill(status);

test('a file of the guarantee is weak below 90 % of the mutants that could be run', () => {
  const enough = mutants(...times('Killed', 8), 'Timeout', 'Survived', 'CompileError', 'Ignored');
  expect(weakFiles({ files: { [first]: enough } })).toEqual([]);
  expect(weakFiles({ files: { [first]: mutants(...times('Killed', 8), 'Survived', 'NoCoverage') } })).toEqual([first]);
});

test('a file that the guarantee does not rest on, or that was not asked for, is not weak', () => {
  expect(weakFiles({ files: { 'app/stream/partition/retries.ts': mutants('Survived') } })).toEqual([]);
});

test('each mutant that no test noticed is listed with its place and what it made', () => {
  expect(scoreLines({ files: { [first]: mutants('Killed', 'Survived') } })).toEqual([
    ` 50.0 %  ${first}`,
    `         Survived ${first}:2:3 BlockStatement -> { }`,
  ]);
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
