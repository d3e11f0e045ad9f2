import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

const ORDER = join(import.meta.dirname, 'suite-order.mjs');

test('each suite that begins early is there', async () => {
  const { LONG_SUITES } = (await import(ORDER)) as { readonly LONG_SUITES: readonly string[] };
  expect(LONG_SUITES.length).toBeGreaterThan(0);
  expect(LONG_SUITES.filter((suite) => !existsSync(join(import.meta.dirname, suite)))).toEqual([]);
});
