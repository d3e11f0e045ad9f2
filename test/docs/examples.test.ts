import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { parse, parseAllDocuments } from 'yaml';
import { manifestProblems } from '../manifests/manifest-problems.ts';

type Manifest = Parameters<typeof manifestProblems>[0] & { readonly spec: Readonly<Record<string, unknown>> };

const EXAMPLES = 'docs/examples';

/** A repository as the examples mean it: what is rendered, and at its root the example for kustomize. */
const repository = mkdtempSync(join(tmpdir(), 'gitops-'));
cpSync('dist', join(repository, 'dist'), { recursive: true });
cpSync(`${EXAMPLES}/kustomize`, repository, { recursive: true });
afterAll(() => rmSync(repository, { recursive: true, force: true }));

const manifests = (text: string): Manifest[] =>
  parseAllDocuments(text).map((document) => document.toJS() as unknown as Manifest);

const inFile = (path: string): Manifest => parse(readFileSync(path, 'utf8')) as Manifest;

const nameOf = ({ kind, metadata }: Manifest): string => `${kind}/${metadata.name}`;

const RENDERED = ['consumer', 'grafana', 'monitoring'].flatMap((name) =>
  manifests(readFileSync(`dist/${name}.k8s.yaml`, 'utf8')).map(nameOf),
);

const FOLDERS: readonly (readonly [example: string, folder: string, objects: readonly string[]])[] = [
  ['argocd', `${EXAMPLES}/argocd`, ['Application/orders-consumer']],
  ['flux', `${EXAMPLES}/flux`, ['GitRepository/orders-consumer', 'Kustomization/orders-consumer']],
  ['kustomize', repository, RENDERED],
  [
    'oci',
    `${EXAMPLES}/oci`,
    ['Application/orders-consumer', 'Kustomization/orders-consumer', 'OCIRepository/orders-consumer'],
  ],
];

/** Examples that are no manifests: those of consumer.yaml (broker-examples.test.ts), and Alertmanager's. */
const OTHER_TESTS = [
  ...['aiven', 'alertmanager', 'apicurio', 'confluent-cloud', 'confluent-cloud-oauth', 'event-hubs', 'msk-iam'],
  ...['strimzi', 'strimzi-scram'],
];

const hasKubectl = spawnSync('kubectl', ['version', '--client']).error === undefined;
const isRequired = process.env['CI'] === 'true';
if (!hasKubectl && !isRequired) {
  process.stderr.write(
    'kubectl is not installed (Debian: apt-get install kubernetes-client): docs/examples are NOT built\n',
  );
}

test('every example is known here', () => {
  const known = [...OTHER_TESTS, ...FOLDERS.map(([example]) => example)];
  expect(readdirSync(EXAMPLES).toSorted()).toEqual(known.toSorted());
});

describe.each(FOLDERS)('the example %s', (_example, folder, objects) => {
  const given = hasKubectl || isRequired ? test : test.skip;

  given('is built by kubectl kustomize into the objects that it is about, all of them valid', () => {
    const built = manifests(execFileSync('kubectl', ['kustomize', folder], { encoding: 'utf8' }));
    expect(built.map(nameOf).toSorted()).toEqual(objects.toSorted());
    expect(built.flatMap(manifestProblems)).toEqual([]);
  });
});

describe('Argo CD', () => {
  const { source } = inFile(`${EXAMPLES}/argocd/application.yaml`).spec as {
    source: { path: string; directory: { recurse: boolean } };
  };

  test('applies the files of a folder that is there, and looks into none below it', () => {
    expect(source.directory.recurse).toBe(false);
    const files = readdirSync(source.path, { withFileTypes: true }).filter((entry) => entry.isFile());
    expect(files.map(({ name }) => name)).toEqual(['consumer.k8s.yaml', 'grafana.k8s.yaml', 'monitoring.k8s.yaml']);
  });
});

describe('Flux', () => {
  const source = inFile(`${EXAMPLES}/flux/source.yaml`);
  const kustomization = inFile(`${EXAMPLES}/flux/orders-consumer.yaml`);

  /** The files of this very repository that a GitRepository with such rules fetches. */
  function fetched(ignore: unknown): string[] {
    const rules = String(ignore)
      .split('\n')
      .map((rule) => `--exclude=${rule}`);
    const tracked = (...args: string[]) =>
      execFileSync('git', ['ls-files', '--cached', ...args], { encoding: 'utf8' })
        .trim()
        .split('\n');
    const ignored = new Set(tracked('--ignored', ...rules));
    return tracked().filter((path) => !ignored.has(path));
  }

  test('fetches the files that hold nothing but objects', () => {
    expect(fetched(source.spec['ignore'])).toEqual([
      'dist/consumer.k8s.yaml',
      'dist/grafana.k8s.yaml',
      'dist/monitoring.k8s.yaml',
    ]);
  });

  test('fetches those of an environment by the rules in docs/gitops.md', () => {
    const [, rules = ''] =
      /```yaml\n(# spec of the GitRepository\n[\s\S]*?)```/.exec(readFileSync('docs/gitops.md', 'utf8')) ?? [];
    const { ignore } = parse(rules) as { ignore: string };
    expect(fetched(ignore)).toEqual(
      ['consumer', 'grafana', 'monitoring'].map((name) => `dist/staging/${name}.k8s.yaml`),
    );
  });

  test('applies what the source fetched', () => {
    expect(kustomization.spec).toMatchObject({
      path: './dist',
      sourceRef: { kind: source.kind, name: source.metadata.name },
    });
  });
});

test('the artifact for a registry is packed with all objects, and nothing else, at its top', () => {
  const [, pack = ''] = /^(tar --create .*)$/m.exec(readFileSync('docs/gitops.md', 'utf8')) ?? [];
  execFileSync('sh', ['-c', pack], { cwd: repository });
  const packed = execFileSync('tar', ['--list', '--file', 'manifests.tar.gz'], { cwd: repository, encoding: 'utf8' });
  const files = readdirSync('dist', { withFileTypes: true }).filter((entry) => entry.isFile());
  expect(packed.trim().split('\n').toSorted()).toEqual(files.map(({ name }) => name).toSorted());
});

test('Argo CD and Flux fetch the artifact from the place to which it is pushed', () => {
  const [, pushed = ''] = /^oras push (\S+?):/m.exec(readFileSync('docs/gitops.md', 'utf8')) ?? [];
  expect(inFile(`${EXAMPLES}/oci/argocd.yaml`).spec['source']).toMatchObject({ repoURL: `oci://${pushed}`, path: '.' });
  const [source] = manifests(readFileSync(`${EXAMPLES}/oci/flux.yaml`, 'utf8'));
  expect(source?.spec['url']).toBe(`oci://${pushed}`);
});

test('nothing in dist/ is a kustomization, which kubectl apply would take for an object', () => {
  const files = readdirSync('dist', { recursive: true, encoding: 'utf8' });
  expect(files.filter((path) => path.includes('kustomization'))).toEqual([]);
});
