import { expect, test } from '@jest/globals';
import { outputFolder } from '../../synthesis/output-folder.ts';

test.each([
  ['without the CLI', undefined, '/work/build/synth', true],
  ['with an empty variable', '', '/work/build/synth', true],
  ['with the CLI and its configured folder', 'build/synth', '/work/build/synth', true],
  ['with the same folder spelt otherwise', '/work/build/../build/synth/', '/work/build/synth', true],
  ['with another folder', 'elsewhere', '/work/elsewhere', false],
  ["with the CLI's temporary folder for stdout", '/tmp/cdk8s.x', '/tmp/cdk8s.x', false],
  ['with dist itself', 'dist', '/work/dist', false],
])('%s', (_name, given, path, isPublished) => {
  expect(outputFolder('/work', given)).toEqual({ path, isPublished });
});
