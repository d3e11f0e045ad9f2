import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { FATAL_CODES, type FatalCode, helpOf } from '../../contract/fatal-codes.ts';

const PAGE = readFileSync('docs/messages.md', 'utf8');
const CODES = Object.keys(FATAL_CODES) as FatalCode[];

test('the log line of each code links its paragraph', () => {
  const anchors = new Set([...PAGE.matchAll(/^### ([A-Z_]+)$/gm)].map(([, name = '']) => name.toLowerCase()));
  expect(CODES.map((code) => helpOf(code).split('#')[1]).filter((anchor) => !anchors.has(anchor ?? ''))).toEqual([]);
  expect(helpOf('UNEXPECTED')).toMatch(/^https:\/\/[^ ]+\/docs\/messages\.md#unexpected$/);
});

test('each code is one that the program can end with', () => {
  const sources = readdirSync('app', { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => readFileSync(join('app', path), 'utf8'))
    .join('\n');
  expect(CODES.filter((code) => !sources.includes(`'${code}'`))).toEqual([]);
});
