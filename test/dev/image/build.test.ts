import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { parse, stringify } from 'yaml';
import { buildArguments } from '../../../dev/image/build-arguments.ts';
import { findContainerEngine } from '../../../dev/image/container-engine.ts';
import { imageToBuild } from '../../../dev/image/image-to-build.ts';
import { consumerDocument } from '../../charts/example-consumer.ts';

let folder = '';
const program = (name: string, mode = 0o755): void => {
  writeFileSync(join(folder, name), '#!/bin/sh\n');
  chmodSync(join(folder, name), mode);
};

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'image-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

describe('the engine', () => {
  test('is podman where there is one, else docker', () => {
    program('docker');
    expect(findContainerEngine(`/nonexistent${delimiter}${folder}`)).toBe('docker');
    program('podman');
    expect(findContainerEngine(folder)).toBe('podman');
  });

  test.each([undefined, '', '/nonexistent'])('is missing in PATH=%s', (searchPath) => {
    expect(findContainerEngine(searchPath)).toBeUndefined();
  });

  test('when it is missing, the message says what was looked for and what to do', () => {
    const { status, stderr } = spawnSync(process.execPath, ['--import', 'tsx', resolve('dev/image/build.ts')], {
      env: { PATH: folder },
      encoding: 'utf8',
    });
    expect(status).toBe(1);
    expect(stderr).toMatch(/^Neither podman nor docker is installed/);
    expect(stderr).not.toMatch(/^\s+at /m);
  });
});

describe('the arguments', () => {
  test("keep HEALTHCHECK, which podman's own format drops", () => {
    expect(buildArguments('podman', { reference: 'r:1' })).toEqual([
      ...['build', '--format', 'docker', '--file', 'app/Dockerfile', '--tag', 'r:1', '.'],
    ]);
    expect(buildArguments('docker', { reference: 'r:1' })).toEqual([
      'build',
      '--file',
      'app/Dockerfile',
      '--tag',
      'r:1',
      '.',
    ]);
  });

  test('name another base image where one is given', () => {
    const args = buildArguments('docker', { reference: 'r:1', nodeImage: 'node:24' });
    expect(args.join(' ')).toContain('--build-arg NODE_IMAGE=node:24');
  });
});

describe('the reference', () => {
  const consumerYaml = (changes: object): void =>
    writeFileSync(join(folder, 'consumer.yaml'), stringify(consumerDocument(changes)));

  test('is the one that synth writes into the manifests', () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    const manifests = readFileSync('dist/consumer.k8s.yaml', 'utf8').split('---\n');
    const deployment = manifests
      .map((text) => parse(text) as { kind: string })
      .find(({ kind }) => kind === 'Deployment');
    const image = imageToBuild('.', '', version);
    expect(image.ok && deployment).toMatchObject({
      spec: { template: { spec: { containers: [{ image: image.ok ? image.value : '' }] } } },
    });
  });

  test('follows consumer.yaml', () => {
    consumerYaml({ image: { repository: 'registry/x', tag: 'v7' } });
    expect(imageToBuild(folder, '', '1.2.3')).toEqual({ ok: true, value: 'registry/x:v7' });
  });

  test('cannot be built where a digest pins it', () => {
    consumerYaml({ image: { digest: `sha256:${'0'.repeat(64)}` } });
    expect(imageToBuild(folder, '', '1.2.3')).toMatchObject({ ok: false, problems: [{ path: 'image.digest' }] });
  });

  test('of an unknown environment is refused with the known ones', () => {
    consumerYaml({});
    expect(imageToBuild(folder, 'prod', '1.2.3')).toMatchObject({ ok: false, problems: [{ given: 'prod' }] });
  });
});
