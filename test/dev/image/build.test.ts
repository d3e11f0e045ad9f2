import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { parse, stringify } from 'yaml';
import { buildArguments, commitReference, findContainerEngine, imageToBuild } from '../../../dev/image/image-build.ts';
import { imageFacts, sourceDateEpoch } from '../../../dev/image/image-facts.ts';
import { bundleConsumer } from '../../../dev/image/layer/bundle-consumer.ts';
import { SOFTWARE_BILL_FILE, softwareBill } from '../../../dev/image/layer/software-bill.ts';
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

describe('the base image', () => {
  /** A podman that has the base for the platforms of its list, or here alone. */
  const podman = (here: string, list: readonly string[]): void => {
    const manifests = list.map((architecture) => ({ platform: { os: 'linux', architecture } }));
    const inspect =
      list.length === 0 ? 'echo "no such manifest" >&2; exit 125' : `echo '${JSON.stringify({ manifests })}'`;
    const script = `case "$1" in image) echo ${here} ;; manifest) ${inspect} ;; *) exit 9 ;; esac`;
    writeFileSync(join(folder, 'podman'), `#!/bin/sh\n${script}\n`);
    chmodSync(join(folder, 'podman'), 0o755);
  };
  const run = (...args: readonly string[]) =>
    spawnSync(process.execPath, ['--import', 'tsx', resolve('dev/image/build.ts'), ...args], {
      env: { PATH: `${folder}:/bin:/usr/bin` },
      encoding: 'utf8',
    });

  test('that is missing for a platform is named before anything is built', () => {
    podman('linux/amd64', []);
    const { status, stdout, stderr } = run('--platform', 'linux/amd64,linux/arm64', '--node-image', 'base:1');
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(
      /^The base image base:1 is there for linux\/amd64, and not for linux\/arm64 \(podman: no such manifest\)\.\n.*--node-image IMAGE/,
    );
  });

  test('is found in a list, here or in its registry', () => {
    podman('linux/amd64', ['amd64', 'arm64']);
    const { stdout } = run('--platform', 'linux/amd64,linux/arm64', '--node-image', 'base:1');
    expect(stdout).toMatch(/^podman build .*--platform linux\/amd64,linux\/arm64 /);
  });

  test('is for platforms that are spelt right', () => {
    expect(run('--platform', 'arm64').stderr).toMatch(/^--platform: "arm64" is not allowed; allowed is linux\//);
  });
});

describe('the arguments', () => {
  const facts = imageFacts('.', { SOURCE_DATE_EPOCH: '1700000000' });
  const build = { reference: 'r:1', facts, epoch: 1_700_000_000 };

  test("keep HEALTHCHECK, which podman's own format drops", () => {
    const args = buildArguments('podman', build);
    expect(args.slice(0, 3)).toEqual(['build', '--format', 'docker']);
    expect(args.slice(-5)).toEqual(['--file', 'app/Dockerfile', '--tag', 'r:1', '.']);
    expect(buildArguments('docker', build)).not.toContain('--format');
  });

  test('date everything with SOURCE_DATE_EPOCH', () => {
    expect(buildArguments('podman', build).join(' ')).toContain('--timestamp 1700000000');
    expect(buildArguments('docker', build)).toContain('SOURCE_DATE_EPOCH=1700000000');
    expect(buildArguments('docker', build)).toContain('CREATED=2023-11-14T22:13:20Z');
  });

  test.each(['podman', 'docker'] as const)('are all declared in app/Dockerfile (%s)', (engine) => {
    const declared = [...readFileSync('app/Dockerfile', 'utf8').matchAll(/^ARG ([A-Z_]+)/gm)].map(([, name]) => name);
    const args = buildArguments(engine, { ...build, nodeImage: 'node:24' });
    const given = args.filter((_, at) => args[at - 1] === '--build-arg').map((pair) => pair.split('=')[0] ?? '');
    expect(given).toContain('NODE_IMAGE');
    expect(given.filter((name) => name !== 'SOURCE_DATE_EPOCH' && !declared.includes(name))).toEqual([]);
  });

  test('make a manifest list of several platforms', () => {
    const several = { ...build, platforms: ['linux/amd64', 'linux/arm64'] };
    expect(buildArguments('podman', several).join(' ')).toMatch(
      /--platform linux\/amd64,linux\/arm64 .* --manifest r:1 \.$/,
    );
    expect(buildArguments('docker', several).slice(-3)).toEqual(['--tag', 'r:1', '.']);
    expect(buildArguments('podman', { ...build, platforms: ['linux/arm64'] }).slice(-3)).toEqual(['--tag', 'r:1', '.']);
  });

  test('name another base image, certificates and no registry where that is asked for', () => {
    const args = buildArguments('podman', { ...build, nodeImage: 'node:24', certificates: '/ca.pem', isLocal: true });
    expect(args.join(' ')).toContain('--build-arg NODE_IMAGE=node:24');
    expect(args).toContain('id=certificates,src=/ca.pem');
    expect(args).toContain('--pull-never');
    expect(buildArguments('podman', build)).not.toContain('--pull-never');
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

describe('the second name', () => {
  const facts = { ...imageFacts('.', {}), VERSION: '1.2.3' };
  const commit = '3a2e408b2f8d1f5a0c9c6c2a3f1b2d4e5f607182';

  test.each([
    ['registry.example.com:5000/team/x:1.2.3', commit, 'registry.example.com:5000/team/x:1.2.3-3a2e408'],
    ['localhost/x:v7', commit, 'localhost/x:1.2.3-3a2e408'],
    ['localhost/x:1.2.3', `${commit}-dirty`, 'localhost/x:1.2.3-3a2e408-dirty'],
    ['localhost/x:1.2.3', '', undefined],
  ])('of %s, built from %j, has version and commit', (reference, revision, expected) => {
    expect(commitReference(reference, { ...facts, REVISION: revision })).toBe(expected);
  });

  /** Runs `npm run image` with a podman that succeeds at all but what the pattern of the shell names. */
  const build = (fails: string) => {
    const log = join(folder, 'log');
    writeFileSync(join(folder, 'podman'), `#!/bin/sh\necho "$@" >>'${log}'\ncase "$1" in ${fails}) exit 9 ;; esac\n`);
    chmodSync(join(folder, 'podman'), 0o755);
    const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', 'tsx', resolve('dev/image/build.ts')], {
      env: { ...process.env, PATH: `${folder}:${process.env['PATH']}` },
      encoding: 'utf8',
    });
    return { status, stdout, stderr, tags: readFileSync(log, 'utf8').match(/^tag .*$/gm) ?? [] };
  };

  test('is given to the image once it is built, and is in no manifest', () => {
    const { status, stdout, tags } = build('nothing');
    expect(tags).toHaveLength(1);
    const [, first = '', second = ''] = tags[0]?.split(' ') ?? [];
    expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringContaining(`Built ${first} and ${second}.`) });
    const manifests = readFileSync('dist/consumer.k8s.yaml', 'utf8');
    expect(second.startsWith(`${first}-`)).toBe(true);
    expect([manifests.includes(`image: ${first}\n`), manifests.includes(second)]).toEqual([true, false]);
  });

  test('that cannot be given is named, and the command fails', () => {
    const { status, stderr } = build('tag');
    expect(status).toBe(1);
    expect(stderr).toMatch(/^podman failed, .* was built, and has no name \S+:\d\S+-[0-9a-f]{7}/);
  });
});

describe('what the image says of itself', () => {
  const git = (...args: readonly string[]) =>
    spawnSync('git', ['-C', folder, '-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { encoding: 'utf8' });
  const aCommit = (): void => {
    writeFileSync(
      join(folder, 'package.json'),
      JSON.stringify({ repository: { url: 'git+https://example.com/x.git' } }),
    );
    git('init', '--quiet', '--initial-branch', 'trunk');
    git('add', '.');
    git('commit', '--quiet', '--message', 'm', '--date', '2026-01-02T03:04:05Z');
  };

  test('are the commit, its branch and its time, and where the sources are', () => {
    aCommit();
    const commit = git('rev-parse', 'HEAD').stdout.trim();
    expect(imageFacts(folder, {})).toMatchObject({
      SOURCE: 'https://example.com/x',
      REVISION: commit,
      BRANCH: 'trunk',
    });
    const { CREATED, COMMIT_TIME } = imageFacts(folder, {});
    expect(CREATED).toBe(COMMIT_TIME);
    expect(Date.parse(CREATED)).toBe(sourceDateEpoch(folder, {}) * 1_000);
  });

  test('owns up to files that differ from the commit', () => {
    aCommit();
    writeFileSync(join(folder, 'more'), '');
    expect(imageFacts(folder, {}).REVISION).toMatch(/^[0-9a-f]{40}-dirty$/);
  });

  test('refuses a SOURCE_DATE_EPOCH that is no number', () => {
    expect(() => sourceDateEpoch(folder, { SOURCE_DATE_EPOCH: 'now' })).toThrow('SOURCE_DATE_EPOCH is "now"');
  });
});

describe('the software bill of materials', () => {
  const created = '2026-01-02T03:04:05Z';

  interface Bill {
    readonly bomFormat: string;
    readonly metadata: { readonly timestamp: string; readonly component: { readonly name: string } };
    readonly components: readonly { readonly name: string; readonly hashes: readonly { readonly content: string }[] }[];
    readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
  }

  let packages: readonly string[] = [];
  let text = '';
  beforeAll(async () => {
    packages = await bundleConsumer();
    text = softwareBill('.', { created, packages, type: 'application' });
  });

  test('holds the packages that the bundle holds code of, and no other of those that are installed', () => {
    const bill = JSON.parse(text) as Bill;
    expect(bill.bomFormat).toBe('CycloneDX');
    expect(bill.metadata).toMatchObject({ timestamp: created, component: { name: 'stream-consumer' } });
    const names = bill.components.map(({ name }) => name);
    expect(names.toSorted()).toEqual(packages.map((path) => path.replace('node_modules/', '')).toSorted());
    expect(names).toEqual(expect.arrayContaining(['fastify', 'kafkajs', 'pg', 'prom-client', 'yaml']));
    // Dependencies of fastify of which nothing is in the bundle.
    expect(names.filter((name) => /ajv-compiler|light-my-request/.test(name))).toEqual([]);
    expect(
      bill.components.flatMap(({ hashes }) => hashes).filter(({ content }) => !/^[0-9a-f]{128}$/.test(content)),
    ).toEqual([]);
    const refs = new Set(bill.dependencies.map(({ ref }) => ref));
    expect(bill.dependencies.flatMap(({ dependsOn }) => dependsOn).filter((ref) => !refs.has(ref))).toEqual([]);
  });

  test('is written into the image by its build, as it is beside it', () => {
    const args = ['--import', 'tsx', 'dev/image/layer/write-bill.ts', folder];
    const { status, stderr } = spawnSync(process.execPath, args, {
      env: { ...process.env, CREATED: created },
      encoding: 'utf8',
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(readFileSync(join(folder, SOFTWARE_BILL_FILE), 'utf8')).toBe(text);
    expect(readFileSync('app/Dockerfile', 'utf8')).toMatch(/^RUN .*node dev\/image\/layer\/write-bill\.ts \/image$/m);
    // The npm of the image's build is another one than that of this machine.
    const { tools } = (JSON.parse(text) as { metadata: { tools?: readonly object[] } }).metadata;
    expect(tools?.flatMap((tool) => Object.keys(tool))).not.toContain('version');
  });

  test('is the same for the same sources', () => {
    expect(softwareBill('.', { created, packages, type: 'application' })).toBe(text);
  });
});
