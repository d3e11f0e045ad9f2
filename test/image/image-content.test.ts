import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { LICENSE } from '../../contract/identity.ts';
import { PRODUCT_VERSION } from '../../contract/product-version.ts';
import { localBase } from '../../dev/image/base-platforms.ts';
import { buildArguments, imageToBuild } from '../../dev/image/image-build.ts';
import { imageFacts, sourceDateEpoch } from '../../dev/image/image-facts.ts';
import { randomName } from '../integration/stack/random-name.ts';
import { podman, podmanJson } from './stack/podman.ts';

/** The name under which `npm run image` builds, and which the manifests in dist/ refer to. */
function builtImage(): string {
  const image = imageToBuild('.', '', PRODUCT_VERSION);
  if (!image.ok) {
    throw new Error('consumer.yaml names no image that can be built');
  }
  return image.value;
}

interface Inspected {
  readonly Id: string;
  readonly Size: number;
  readonly Created: string;
  readonly Config: { readonly Env: readonly string[]; readonly User: string };
  readonly Labels: Readonly<Record<string, string>>;
  readonly RootFS: { readonly Layers: readonly string[] };
}

const MEGABYTE = 1_000_000;
const image = builtImage();
const base = localBase();
const inspect = async (name: string): Promise<Inspected> => {
  const [inspected] = await podmanJson<[Inspected]>(['image', 'inspect', name]);
  return inspected;
};

let root = '';
beforeAll(async () => {
  root = await podman(['image', 'mount', image]);
});
afterAll(async () => {
  await podman(['image', 'unmount', image]);
});

/** Files below a folder of the image, by their path in it. */
const filesBelow = (folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)));

describe('the image', () => {
  test('says which version and commit it is, where its sources are, under which license, and when it was made', async () => {
    const facts = imageFacts('.', process.env);
    const { Labels } = await inspect(image);
    const label = (name: string): string | undefined => Labels[`org.opencontainers.image.${name}`];
    expect(label('version')).toBe(PRODUCT_VERSION);
    expect(label('licenses')).toBe(LICENSE.name);
    expect(label('source')).toMatch(/^https:\/\//);
    // Whether files differ from the commit may change while the tests run.
    expect(label('revision')).toMatch(new RegExp(`^${facts.REVISION.slice(0, 40)}(-dirty)?$`));
    expect(label('created')).toBe(facts.CREATED);
    expect(facts.REVISION).toMatch(/^[0-9a-f]{40}/);
  });

  test('has a second name, with its commit', async () => {
    const names = (await podmanJson<[{ readonly RepoTags: readonly string[] }]>(['image', 'inspect', image]))[0]
      .RepoTags;
    const commit = imageFacts('.', process.env).REVISION.slice(0, 7);
    expect(names.filter((name) => name.startsWith(`${image}-${commit}`))).not.toEqual([]);
  });

  test('adds less than 25 MB to Node.js', async () => {
    const [own, node] = [await inspect(image), await inspect(base)];
    expect(own.RootFS.Layers.slice(0, node.RootFS.Layers.length)).toEqual(node.RootFS.Layers);
    expect(own.Size - node.Size).toBeLessThan(25 * MEGABYTE);
  });

  test('is the same, layer by layer, when it is built from nothing again', async () => {
    const reference = `localhost/${randomName('again')}:1`;
    const facts = imageFacts('.', process.env);
    const certificates = process.env['NODE_EXTRA_CA_CERTS'];
    const epoch = sourceDateEpoch('.', process.env);
    const build = { reference, nodeImage: base, facts, certificates, epoch, isLocal: true };
    const [command = '', ...rest] = buildArguments('podman', build);
    await podman([command, '--no-cache', ...rest]);
    try {
      const [first, second] = [await inspect(image), await inspect(reference)];
      expect(second.RootFS.Layers).toEqual(first.RootFS.Layers);
      expect(second.Created).toBe(first.Created);
    } finally {
      await podman(['rmi', '--force', reference]);
    }
  }, 300_000);

  test('holds the packages of its bill of materials, and no other; the bill is in it, and beside it', () => {
    const text = readFileSync(join(root, 'app/sbom.cdx.json'), 'utf8');
    const bill = JSON.parse(text) as {
      components: readonly { readonly name: string; readonly version: string }[];
    };
    expect(readFileSync('build/image/sbom.cdx.json', 'utf8')).toBe(text);
    const production = new Set(bill.components.map(({ name, version }) => `${name} ${version}`));
    const licenses = readFileSync(join(root, 'app/THIRD-PARTY-LICENSES.txt'), 'utf8');
    const packages = [...licenses.matchAll(/^(\S+ \d+\.\d+\.\d+\S*) \(.+\)$/gm)].map(([, name = '']) => name);
    expect(packages.length).toBeGreaterThan(30);
    expect(packages.toSorted()).toEqual([...production].toSorted());
    const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as { devDependencies: Record<string, string> };
    const folders = readdirSync(join(root, 'app/node_modules'));
    expect(folders.filter((name) => Object.hasOwn(manifest.devDependencies, name))).toEqual([]);
    expect(folders).toEqual(['kafkajs']);
  });

  test('holds no source map, declaration, TypeScript or test', () => {
    const files = filesBelow('app');
    expect(files).toContain('app/build/app/main.js');
    expect(files.filter((path) => /\.(map|ts|mts|cts|tsbuildinfo)$|(^|\/)(tests?|__tests__)\//.test(path))).toEqual([]);
    const scripts = files.filter((path) => path.endsWith('.js'));
    expect(scripts.filter((path) => readFileSync(join(root, path), 'utf8').includes('sourceMappingURL='))).toEqual([]);
  });

  test('holds no secret and no npm cache', async () => {
    const files = filesBelow('app');
    expect(files.filter((path) => /(^|\/)(\.npmrc|\.env.*|\.git.*|id_.*|.*\.(pem|key|crt))$/.test(path))).toEqual([]);
    const texts = files.map((path) => [path, readFileSync(join(root, path), 'utf8')] as const);
    expect(texts.filter(([, text]) => text.includes('PRIVATE KEY-----\n')).map(([path]) => path)).toEqual([]);
    const { Config } = await inspect(image);
    expect(
      Config.Env.map((entry) => entry.split('=')[0]).filter(
        (name) => !/^(PATH|NODE_ENV|MALLOC_MMAP_THRESHOLD_|(NODE|YARN)_VERSION)$/.test(name ?? ''),
      ),
    ).toEqual([]);
    for (const home of ['root', ...readdirSync(join(root, 'home')).map((user) => `home/${user}`)]) {
      expect(readdirSync(join(root, home))).not.toContain('.npm');
    }
    expect(readdirSync(join(root, 'run'))).not.toContain('secrets');
  });

  test('can be read, and not changed, by the user it runs as', () => {
    const modes = filesBelow('app').map((path) => [path, statSync(join(root, path))] as const);
    expect(modes.filter(([, { uid }]) => uid !== 0)).toEqual([]);
    expect(modes.filter(([, { mode }]) => (mode & 0o004) === 0 || (mode & 0o022) !== 0)).toEqual([]);
  });
});
