import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';

interface Entry {
  readonly integrity?: string;
  /** It comes inside another package, whose integrity holds for it, too. */
  readonly inBundle?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const { packages } = JSON.parse(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8')) as {
  readonly packages: Readonly<Record<string, Entry>>;
};

const entries = Object.entries(packages).filter(([place, { inBundle }]) => place !== '' && inBundle !== true);

describe('package-lock.json', () => {
  test('has the SHA-512 of every package that the registry gives', () => {
    expect(entries.length).toBeGreaterThan(500);
    const sha512 = /^sha512-[A-Za-z0-9+/]{86}==$/;
    expect(entries.filter(([, { integrity }]) => !sha512.test(integrity ?? '')).map(([place]) => place)).toEqual([]);
  });

  test('has the packages of every system, so that npm ci works on each', () => {
    const missing = entries.flatMap(([place, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies).filter(
        (name) => !(`node_modules/${name}` in packages || `${place}/node_modules/${name}` in packages),
      ),
    );
    expect(missing).toEqual([]);
  });
});
