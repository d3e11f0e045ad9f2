import { existsSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { read } from './pages.ts';

const PICTURE = read('docs/images/architecture.svg');
const PAGE = read('docs/architecture.md');

const folders = (text: string): readonly string[] => [...new Set(text.match(/\bapp\/[a-z]+/g))].toSorted();

test('the picture names the folders of the page, all of which are there', () => {
  expect(folders(PICTURE).length).toBeGreaterThan(5);
  expect(folders(PICTURE)).toEqual(folders(PAGE));
  expect(folders(PICTURE).filter((folder) => !existsSync(folder))).toEqual([]);
});

test('the picture has colors for light and dark, a title for who cannot see it, and loads nothing', () => {
  const [, light = '', dark = ''] =
    /^ +svg \{(.*?)\}\n.*prefers-color-scheme: dark\) \{\n +svg \{(.*?)\}/m.exec(PICTURE) ?? [];
  const names = (rule: string): readonly string[] => [...rule.matchAll(/(--[a-z]+):/g)].map(([, name = '']) => name);
  expect(names(light).length).toBeGreaterThan(4);
  expect(names(dark)).toEqual(names(light));
  expect(PICTURE).toMatch(/<title id="title">\S/);
  expect(PICTURE.match(/https?:|href|url\((?!#)/g)).toEqual(['http:']);
});
