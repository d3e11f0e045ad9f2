import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

const ORDER = join(import.meta.dirname, 'suite-order.mjs');

test('each suite that begins early is there', async () => {
  const { SLOWEST_SUITES } = (await import(ORDER)) as { readonly SLOWEST_SUITES: readonly string[] };
  expect(SLOWEST_SUITES.length).toBeGreaterThan(0);
  expect(SLOWEST_SUITES.filter((suite) => !existsSync(join(import.meta.dirname, suite)))).toEqual([]);
});

test('each suite that is left to long runs as a whole is there, and has a row that names what proves the same', async () => {
  const { LONG_SUITES } = (await import(join(import.meta.dirname, 'long-suites.mjs'))) as {
    readonly LONG_SUITES: readonly string[];
  };
  const page = readFileSync(join(import.meta.dirname, '..', 'docs', 'verification.md'), 'utf8');
  const rows = [...page.matchAll(/^\| `([a-z-]+\/[^`]+)` \| \S/gm)].map(([, suite]) => suite);
  expect(rows).toEqual(LONG_SUITES);
  const files = LONG_SUITES.map((suite) => join(import.meta.dirname, 'integration', `${suite}.test.ts`));
  expect(files.filter((file) => !existsSync(file))).toEqual([]);
});
