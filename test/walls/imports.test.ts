import { spawnSync } from 'node:child_process';
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

const ROOT = join(import.meta.dirname, '..', '..');

/** A copy of the rules with rooms of its own, so that what is forbidden is written nowhere near the sources. */
const house = mkdtempSync(join(tmpdir(), 'walls-'));

afterAll(() => rmSync(house, { recursive: true, force: true }));

/** The rooms that each room may import; `dev`, `test` and the compositions may import all. */
const IMPORTED: Readonly<Record<string, readonly string[]>> = {
  contract: [],
  settings: ['contract'],
  deployment: ['contract', 'settings'],
  app: ['contract', 'settings'],
  charts: ['contract', 'settings', 'deployment'],
  monitoring: ['contract', 'settings', 'deployment'],
  synthesis: ['contract', 'settings', 'deployment'],
};

const ROOMS = [...Object.keys(IMPORTED), 'dev', 'test'];

/** Rooms that run in other people's cdk8s apps. */
const WITHOUT_FILES = ['contract', 'settings', 'deployment', 'charts', 'monitoring'];

const FORBIDDEN: readonly (readonly [room: string, statement: string])[] = [
  ...Object.entries(IMPORTED).flatMap(([room, imported]) =>
    ROOMS.filter((other) => other !== room && !imported.includes(other)).map(
      (other) => [room, `import '../${other}/x.ts';`] as const,
    ),
  ),
  ['app', "export * from '../charts/x.ts';"],
  ['app', "import type { X } from '../monitoring/x.ts';\nexport type Y = X;"],
  ['app', "await import('../charts/x.ts');"],
  ['app', "import '../../main/app/../charts/x.ts';"],
  ['app', "import 'cdk8s';"],
  ['app', "import 'cdk8s-plus-28';"],
  ['charts', "import 'kafkajs';"],
  ['monitoring', "import 'pg';"],
  ['contract', "import 'fastify';"],
  ['contract', "import 'cdk8s';"],
  ['settings', "import 'pg';"],
  ['settings', "import 'cdk8s';"],
  ['deployment', "import 'kafkajs';"],
  ['deployment', "import 'cdk8s-plus-28';"],
  ...WITHOUT_FILES.flatMap((room) => [
    [room, "import 'node:fs';"] as const,
    [room, "import 'node:fs/promises';"] as const,
  ]),
];

const ALLOWED: readonly (readonly [room: string, statement: string])[] = [
  ...Object.entries(IMPORTED).flatMap(([room, imported]) =>
    imported.map((other) => [room, `import '../${other}/x.ts';`] as const),
  ),
  ['contract', "import 'ajv';\nimport 'typebox';"],
  ['settings', "import 'ajv';\nimport 'typebox';"],
  ['app', "import 'kafkajs';\nimport 'pg';"],
  ['charts', "import 'cdk8s';"],
];

const fileOf = (room: string, kind: string, index: number): string => `${room}/${kind}-${index}.ts`;

function write(path: string, text: string): void {
  mkdirSync(join(house, path, '..'), { recursive: true });
  writeFileSync(join(house, path), `${text}\n`);
}

/** Files in which the lint found a forbidden import. */
function filesWithForbiddenImports(): { readonly files: ReadonlySet<string>; readonly status: number | null } {
  const biome = join(ROOT, 'node_modules', '@biomejs', 'biome', 'bin', 'biome');
  const args = ['lint', '--reporter=json', '--max-diagnostics=none', '--only=style/noRestrictedImports'];
  const { stdout, status } = spawnSync(process.execPath, [biome, ...args], { cwd: house, encoding: 'utf8' });
  const { diagnostics } = JSON.parse(stdout) as { diagnostics: { location: { path: string | { file: string } } }[] };
  const paths = diagnostics.map(({ location: { path } }) => (typeof path === 'string' ? path : path.file));
  return { files: new Set(paths), status };
}

describe('the lint', () => {
  let found: ReturnType<typeof filesWithForbiddenImports>;

  beforeAll(() => {
    copyFileSync(join(ROOT, 'biome.json'), join(house, 'biome.json'));
    copyFileSync(join(ROOT, '.gitignore'), join(house, '.gitignore'));
    for (const [index, [room, statement]] of FORBIDDEN.entries()) {
      write(fileOf(room, 'forbidden', index), statement);
    }
    for (const [index, [room, statement]] of ALLOWED.entries()) {
      write(fileOf(room, 'allowed', index), statement);
    }
    found = filesWithForbiddenImports();
  });

  test('fails', () => {
    expect(found.status).toBe(1);
  });

  test.each(FORBIDDEN.map((each, index) => [...each, index] as const))(
    'refuses in %s: %s',
    (room, _statement, index) => {
      expect([...found.files]).toContain(fileOf(room, 'forbidden', index));
    },
  );

  test.each(ALLOWED.map((each, index) => [...each, index] as const))('allows in %s: %s', (room, _statement, index) => {
    expect([...found.files]).not.toContain(fileOf(room, 'allowed', index));
  });
});

describe('the compiler', () => {
  function compileApp(statement: string): string {
    const rooms = mkdtempSync(join(house, 'rooms-'));
    symlinkSync(join(ROOT, 'node_modules'), join(rooms, 'node_modules'));
    cpSync(join(ROOT, 'tsconfig.base.json'), join(rooms, 'tsconfig.base.json'));
    cpSync(join(ROOT, 'package.json'), join(rooms, 'package.json'));
    for (const room of ['contract', 'settings', 'deployment', 'charts', 'app']) {
      mkdirSync(join(rooms, room));
      cpSync(join(ROOT, room, 'tsconfig.json'), join(rooms, room, 'tsconfig.json'));
      writeFileSync(join(rooms, room, 'fact.ts'), 'export const fact = 1;\n');
    }
    writeFileSync(join(rooms, 'app', 'main.ts'), `${statement}\nexport const two = fact + 1;\n`);
    const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
    const { stdout } = spawnSync(process.execPath, [tsc, '-b', 'app'], { cwd: rooms, encoding: 'utf8' });
    return stdout;
  }

  test('refuses an import of charts in app, which is no reference of its project', () => {
    expect(compileApp("import { fact } from '../charts/fact.ts';")).toMatch(/error TS6(059|307)/);
  });

  test("refuses an import of deployment in app, which KEDA's schema is part of", () => {
    expect(compileApp("import { fact } from '../deployment/fact.ts';")).toMatch(/error TS6(059|307)/);
  });

  test('allows an import of settings in app', () => {
    expect(compileApp("import { fact } from '../settings/fact.ts';")).toBe('');
  });

  test('allows an import of contract in app', () => {
    expect(compileApp("import { fact } from '../contract/fact.ts';")).toBe('');
  });
});
