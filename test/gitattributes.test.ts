import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { generatedFiles } from '../dev/generate/generated-files.ts';

const ROOT = join(import.meta.dirname, '..');

/** Folders and files that commands write, beside those of the generator. */
const WRITTEN = /\/__snapshots__\/|\/golden\/.*\.txt$|^test\/manifests\/schemas\/.*\.json$|(^|\/)package-lock\.json$/;

/** What synth writes, today and in the releases that are kept. */
const RENDERED = /^(test\/upgrade\/[^/]+\/)?dist\//;

/** Written by hand, but for marked sections. */
const DOCUMENT = /^(README|docs\/[^/]+)\.md$/;

const git = (args: readonly string[], input = ''): string[] =>
  execFileSync('git', ['-c', 'safe.directory=*', ...args], { cwd: ROOT, input, encoding: 'utf8' }).split('\0');

test('a review on GitHub folds the files that commands write, and no others', () => {
  const files = git(['ls-files', '-z']).filter((path) => path !== '');
  const generated = new Set(generatedFiles(ROOT).flatMap(({ path }) => (DOCUMENT.test(path) ? [] : [path])));
  const answer = git(['check-attr', '-z', '--stdin', 'linguist-generated'], files.join('\0'));
  const marked = files.filter((_path, index) => answer[3 * index + 2] === 'true' || answer[3 * index + 2] === 'set');
  expect(marked).toEqual(files.filter((path) => generated.has(path) || RENDERED.test(path) || WRITTEN.test(path)));
});
