import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { outputFolder, publish } from '../../synthesis/dist-folder.ts';
import { contents } from './checkout.ts';

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

let folder = '';
const path = (name: string): string => join(folder, name);

function write(name: string, files: Record<string, string>): void {
  mkdirSync(path(name), { recursive: true });
  for (const [file, text] of Object.entries(files)) {
    writeFileSync(join(path(name), file), text);
  }
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'publish-'));
  write('rendered', { 'a.yaml': 'new' });
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

const expectPublished = (): void => {
  expect(contents(path('dist'))).toEqual(new Map([['a.yaml', 'new']]));
  expect(contents(path('rendered'))).toEqual(new Map([['a.yaml', 'new']]));
  expect(existsSync(path('dist.new')) || existsSync(path('dist.old'))).toBe(false);
};

test('the first time the folder is made', () => {
  publish(path('rendered'), path('dist'));
  expectPublished();
});

test('later the folder is replaced, files that are no longer made included', () => {
  write('dist', { 'a.yaml': 'old', 'stale.yaml': 'old' });
  publish(path('rendered'), path('dist'));
  expectPublished();
});

test('left-overs of a run that ended half-way are no harm', () => {
  write('dist', { 'a.yaml': 'old' });
  write('dist.new', { 'half.yaml': 'x' });
  write('dist.old', { 'older.yaml': 'x' });
  publish(path('rendered'), path('dist'));
  expectPublished();
});

test('what a run had moved away comes back when the next one fails', () => {
  write('dist.old', { 'a.yaml': 'old' });
  expect(() => publish(path('missing'), path('dist'))).toThrow('ENOENT');
  expect(readFileSync(path('dist/a.yaml'), 'utf8')).toBe('old');
});

test('some folders can be replaced while all else stays', () => {
  write('dist', { 'a.yaml': 'old' });
  write('dist/prod', { 'stale.yaml': 'old' });
  write('dist/staging', { 'b.yaml': 'old' });
  write('rendered/prod', { 'b.yaml': 'new' });
  publish(path('rendered'), path('dist'), ['prod']);
  expect(contents(path('dist'))).toEqual(
    new Map([
      ['a.yaml', 'old'],
      ['prod/b.yaml', 'new'],
      ['staging/b.yaml', 'old'],
    ]),
  );
});

test.each(['SIGINT', 'SIGTERM'] as const)('%s between the two renames is obeyed after the second', (signal) => {
  write('dist', { 'a.yaml': 'old' });
  const program = `
    import fs from 'node:fs';
    import { syncBuiltinESMExports } from 'node:module';
    const { renameSync } = fs;
    fs.renameSync = (...paths) => {
      renameSync(...paths);
      process.kill(process.pid, '${signal}');
    };
    syncBuiltinESMExports();
    const { publish } = await import(${JSON.stringify(resolve('synthesis/dist-folder.ts'))});
    publish(${JSON.stringify(path('rendered'))}, ${JSON.stringify(path('dist'))});
    setTimeout(() => {}, 5_000);
  `;
  const args = ['--import', 'tsx', '--input-type=module', '--eval', program];
  const { status } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  expect(status).toBe(signal === 'SIGINT' ? 130 : 143);
  expectPublished();
});
