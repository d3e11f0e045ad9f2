import { existsSync } from 'node:fs';
import { join, posix } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { PATH, ROOT, read } from './record-path.ts';

/** The ports of the pipeline, in the order in which a record passes them. */
const PORTS = ['app/stream/ports/record-source.ts', 'app/stream/ports/record-sink.ts'] as const;

/** Both ends of the path are plugged into the ports here. */
const COMPOSITION_ROOT = 'app/application.ts';

/** Files of this repository that a file imports, types included. */
const importsOf = (file: string): readonly string[] =>
  [...read(file).matchAll(/\bfrom '(\.{1,2}\/[^']+)'/g)].map(([, path = '']) => posix.join(posix.dirname(file), path));

/** How a record comes from one file to the next: by an import, in either direction, or through a port that both import. */
function joint(from: string, to: string): string {
  const [left, right] = [importsOf(from), importsOf(to)];
  if (left.includes(to) || right.includes(from)) {
    return 'import';
  }
  return PORTS.find((port) => left.includes(port) && right.includes(port)) ?? `${from} and ${to} are not joined`;
}

describe('the path of a record in CONTRIBUTING.md', () => {
  test('is at most twelve files, which exist, from the fetch to the stored offset', () => {
    expect(PATH.length).toBeGreaterThan(2);
    expect(PATH.length).toBeLessThanOrEqual(12);
    expect(PATH.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
    expect(read(PATH[0] ?? '')).toContain('fetch');
    expect(read(PATH.at(-1) ?? '')).toMatch(/UPDATE .*\.offsets SET next_offset/);
  });

  test('comes back to no file', () => {
    expect(new Set(PATH).size).toBe(PATH.length);
  });

  test('is a chain of imports, with the port of the source and then the port of the sink between two of them', () => {
    const joints = PATH.slice(1).map((file, nth) => joint(PATH[nth] ?? '', file));
    expect(joints.filter((way) => way !== 'import')).toEqual(PORTS);
  });

  test('has its ports plugged in by the composition root', () => {
    const composed = PATH.filter((file) => importsOf(COMPOSITION_ROOT).includes(file));
    const implementing = (port: string) => composed.filter((file) => importsOf(file).includes(port));
    expect(implementing(PORTS[0]).length).toBeGreaterThanOrEqual(2);
    expect(implementing(PORTS[1]).length).toBeGreaterThanOrEqual(2);
  });
});

test.each(PORTS)('the port %s is types alone: no record passes code there', (port) => {
  expect(read(port)).not.toMatch(/^(export )?(const|let|class|function|async|enum)\b/m);
});
