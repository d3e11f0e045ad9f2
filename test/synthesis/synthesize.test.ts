import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { CheckedConsumer } from '../../contract/check-consumer-file.ts';
import { synthesize } from '../../synthesis/synthesize.ts';
import { SMALLEST_YAML } from '../charts/example-consumer.ts';
import { contents } from './checkout.ts';

let folder = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'synthesize-'));
  mkdirSync(join(folder, 'dist'));
  mkdirSync(join(folder, 'environments'));
  writeFileSync(join(folder, 'dist/stale.yaml'), 'stale');
  writeFileSync(join(folder, 'consumer.yaml'), SMALLEST_YAML);
  writeFileSync(join(folder, 'environments/staging.yaml'), 'replicas: 3\n');
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

function render(outdir: string, { file }: CheckedConsumer): void {
  mkdirSync(outdir, { recursive: true });
  writeFileSync(join(outdir, 'replicas'), String(file.replicas));
}

const rendered = new Map([
  ['replicas', '1'],
  ['staging/replicas', '3'],
]);
const untouched = new Map([['stale.yaml', 'stale']]);

test('dist/ holds what was rendered and nothing else', () => {
  expect(synthesize({ folder, render })).toEqual({ ok: true, value: ['dist/replicas', 'dist/staging/replicas'] });
  expect(contents(join(folder, 'dist'))).toEqual(rendered);
});

test("a left-over of the scratch folder's last run does not get into dist/", () => {
  mkdirSync(join(folder, 'build/synth'), { recursive: true });
  writeFileSync(join(folder, 'build/synth/left-over'), 'x');
  synthesize({ folder, render });
  expect(contents(join(folder, 'dist'))).toEqual(rendered);
});

test('another output folder leaves dist/ alone', () => {
  const result = synthesize({ folder, outdir: 'elsewhere', render });
  expect(result).toEqual({ ok: true, value: ['elsewhere/replicas', 'elsewhere/staging/replicas'] });
  expect(contents(join(folder, 'elsewhere'))).toEqual(rendered);
  expect(contents(join(folder, 'dist'))).toEqual(untouched);
});

test('nothing is rendered when one of the files is wrong, and dist/ stays', () => {
  writeFileSync(join(folder, 'environments/staging.yaml'), 'replica: 3\n');
  const calls: string[] = [];
  const result = synthesize({ folder, render: (outdir) => calls.push(outdir) });
  expect(result).toMatchObject({ ok: false, problems: [{ path: 'replica', nearest: 'replicas' }] });
  expect(calls).toEqual([]);
  expect(contents(join(folder, 'dist'))).toEqual(untouched);
});

test.each([
  ['that names nothing', 'replicas: *nobody\n', /names no anchor above it: \*nobody$/, /^consumer\.yaml:1:11$/],
  ['inside of itself', 'application: &a [*a]\n', /stands inside of what it names: \*a$/, /^consumer\.yaml:1:18$/],
  [
    'that multiplies without end',
    `a: &a [x,x,x,x,x,x,x,x,x]\n${'bcdefgh'.replace(/./g, (c) => `${c}: &${c} [${Array(9).fill(`*${String.fromCharCode(c.charCodeAt(0) - 1)}`)}]\n`)}`,
    /^is not YAML: Excessive alias count/,
    /^consumer\.yaml$/,
  ],
])('an alias %s is a problem with a place', (_name, text, message, source) => {
  writeFileSync(join(folder, 'consumer.yaml'), text);
  const result = synthesize({ folder, render });
  const problem = { message: expect.stringMatching(message), source: expect.stringMatching(source) };
  expect(result).toMatchObject({ ok: false, problems: expect.arrayContaining([expect.objectContaining(problem)]) });
});

test('dist/ stays when rendering fails half-way', () => {
  const failing = (outdir: string, consumer: CheckedConsumer): void => {
    render(outdir, consumer);
    if (consumer.file.replicas === 3) {
      throw new Error('disk full');
    }
  };
  expect(() => synthesize({ folder, render: failing })).toThrow('disk full');
  expect(contents(join(folder, 'dist'))).toEqual(untouched);
});
