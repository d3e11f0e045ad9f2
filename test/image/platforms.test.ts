import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { localBase } from '../../dev/image/base-platforms.ts';
import { buildForPlatforms } from '../../dev/image/image-build.ts';
import { imageFacts, sourceDateEpoch } from '../../dev/image/image-facts.ts';
import { randomName } from '../integration/stack/random-name.ts';
import { podman, podmanJson } from './stack/podman.ts';

interface ManifestList {
  readonly manifests: readonly { readonly digest: string; readonly platform: { readonly architecture: string } }[];
}

const name = randomName('platforms');
/** A base for another architecture, in which no program could run. */
const EMPTY = `localhost/${name}-arm64:1`;
const BASE = `localhost/${name}-base:1`;
const BUILT = `localhost/${name}:1`;
const PLATFORMS = ['linux/amd64', 'linux/arm64'];
let folder = '';

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'platforms-'));
  writeFileSync(join(folder, 'file'), '');
  execFileSync('tar', ['-C', folder, '-cf', join(folder, 'base.tar'), 'file']);
  await podman(['import', '--arch', 'arm64', '--os', 'linux', join(folder, 'base.tar'), EMPTY]);
  await podman(['manifest', 'create', BASE]);
  await podman(['manifest', 'add', BASE, `containers-storage:${localBase()}`]);
  await podman(['manifest', 'add', '--arch', 'arm64', BASE, `containers-storage:${EMPTY}`]);
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  for (const list of [BUILT, BASE]) {
    await podman(['manifest', 'rm', list]).catch(() => '');
  }
  await podman(['rmi', '--force', EMPTY]);
});

test('are several with one bundle, which this machine makes for all of them', async () => {
  const facts = imageFacts('.', process.env);
  const certificates = process.env['NODE_EXTRA_CA_CERTS'];
  const epoch = sourceDateEpoch('.', process.env);
  const build = { reference: BUILT, nodeImage: BASE, platforms: PLATFORMS, facts, certificates, epoch, isLocal: true };
  const run = (args: readonly string[]) =>
    spawnSync('podman', args, { stdio: ['ignore', 'ignore', 'inherit'] }).status === 0;
  expect(buildForPlatforms(build, run)).toBe(true);
  const { manifests } = await podmanJson<ManifestList>(['manifest', 'inspect', BUILT]);
  expect(manifests.map(({ platform }) => `linux/${platform.architecture}`).toSorted()).toEqual(PLATFORMS);
  const layers = await Promise.all(
    manifests.map(async ({ digest }) => {
      const [image] = await podmanJson<[{ RootFS: { Layers: string[] } }]>([
        'image',
        'inspect',
        `localhost/${name}@${digest}`,
      ]);
      return image.RootFS.Layers.at(-1);
    }),
  );
  expect(new Set(layers).size).toBe(1);
}, 300_000);
