import { expect, test } from '@jest/globals';
import { optionsOfProcess } from '../../../app/configuration/options-of-process.ts';

const commandLine = (...words: readonly string[]): string => words.map((word) => `${word}\0`).join('');

test.each([
  ['the consumer', ['node', 'build/app/main.js']],
  ['an init before it', ['/dev/init', '--', 'node', '/app/build/app/main.js']],
])('the options of %s are found', (_name, words) => {
  expect(optionsOfProcess(commandLine(...words, '--config', '/a b.yml', '--config-tree=/secrets'))).toEqual({
    configFile: '/a b.yml',
    configTree: '/secrets',
  });
  expect(optionsOfProcess(commandLine(...words))).toEqual({ configFile: undefined, configTree: undefined });
});

test.each([
  ['another program', commandLine('/pause', '--config', '/other.yml')],
  ['nothing', ''],
])('%s has none', (_name, text) => {
  expect(optionsOfProcess(text)).toEqual({ configFile: undefined, configTree: undefined });
});
