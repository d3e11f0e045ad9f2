import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { REPOSITORY_URL } from '../../contract/product-version.ts';
import { DOCUMENTS, read } from './pages.ts';

/** Addresses of a repository of this name, whoever has it, and of whatever a page clones; `/d/` is a dashboard's. */
const ADDRESS = /https?:\/\/[\w.-]+\/(?!d\/)[\w.-]+\/stream-consumer(?![\w-])|(?<=git clone )\S+/g;

const { repository } = JSON.parse(read('package.json')) as { repository: { url: string } };

const examples = readdirSync('docs/examples', { recursive: true, encoding: 'utf8', withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map(({ parentPath, name }) => join(parentPath, name));

test.each([...DOCUMENTS, ...examples])('%s names no other address of the repository than package.json', (path) => {
  const named = read(path).match(ADDRESS) ?? [];
  expect(named.filter((address) => `git+${address}.git` !== repository.url)).toEqual([]);
});

test.each(['README.md', 'SECURITY.md', 'docs/try-it.md', 'docs/library.md'])('%s names the address', (path) => {
  expect(read(path).match(ADDRESS)).toContain(REPOSITORY_URL);
});
