import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { stringify } from 'yaml';
import type { CheckedEnvironment } from '../../synthesis/checked-environment.ts';
import { compareWithDist } from '../../synthesis/diff.ts';
import { synthesize } from '../../synthesis/synthesize.ts';
import { SMALLEST_YAML } from '../charts/example-consumer.ts';
import { contents } from './checkout.ts';

let folder = '';

function render(outdir: string, { consumers }: CheckedEnvironment): void {
  mkdirSync(outdir, { recursive: true });
  for (const { file } of consumers) {
    const labels = { 'app.kubernetes.io/instance': file.name };
    const object = { kind: 'Deployment', metadata: { name: file.name, namespace: file.namespace.name, labels } };
    writeFileSync(join(outdir, 'consumer.k8s.yaml'), stringify(object));
  }
}

const write = (base: string) => writeFileSync(join(folder, 'consumer.yaml'), `${base}${SMALLEST_YAML}`);
const files = () => [...contents(join(folder, 'dist')).keys()];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'template-'));
  mkdirSync(join(folder, 'environments'));
  writeFileSync(join(folder, 'environments/prod.yaml'), 'namespace: { name: prod }\n');
  write('');
  expect(synthesize({ folder, render })).toMatchObject({ ok: true });
});
afterEach(() => rmSync(folder, { recursive: true }));

test('a template renders to nothing by itself, and what it rendered to before is gone, with a note', () => {
  expect(files()).toEqual(['consumer.k8s.yaml', 'prod/consumer.k8s.yaml']);
  write('base: template\n');
  const synthesized = synthesize({ folder, render });
  expect(files()).toEqual(['prod/consumer.k8s.yaml']);
  expect(synthesized).toMatchObject({
    ok: true,
    value: {
      files: ['dist/prod/consumer.k8s.yaml'],
      notes: [expect.stringMatching(/^Deployment stream-consumer\/orders-consumer is in dist\/ no longer/)],
    },
  });
});

test('diff shows what is gone with it', () => {
  write('base: template\n');
  const compared = compareWithDist({ folder, render });
  expect(compared).toMatchObject({
    ok: true,
    value: { differences: [{ folder: 'dist', objects: [{ before: { file: 'consumer.k8s.yaml' } }] }] },
  });
  synthesize({ folder, render });
  expect(compareWithDist({ folder, render })).toMatchObject({ ok: true, value: { differences: [] } });
});

test('one environment of it leaves the rest of dist/ as it is', () => {
  write('base: template\n');
  expect(synthesize({ folder, render, only: ['prod'] })).toMatchObject({ ok: true, value: { notes: [] } });
  expect(files()).toEqual(['consumer.k8s.yaml', 'prod/consumer.k8s.yaml']);
});
