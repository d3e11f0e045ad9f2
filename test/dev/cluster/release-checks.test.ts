import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { parseAllDocuments } from 'yaml';
import { PRODUCT_VERSION } from '../../../contract/product-version.ts';
import { keptReleases, releaseManifests } from '../../../dev/cluster/release-checks.ts';
import { RunFolder } from '../../../dev/run/run-folder.ts';

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

const objectsIn = (folder: string): readonly Manifest[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.k8s.yaml'))
    .flatMap((name) => parseAllDocuments(readFileSync(join(folder, name), 'utf8')))
    .map((document) => document.toJS() as Manifest);

const ofKind = (folder: string, kind: string) => objectsIn(folder).find((object) => object.kind === kind);

let run: RunFolder;

beforeEach(async () => {
  run = await RunFolder.create();
});
afterEach(() => run.close());

describe('the manifests of a release before, and those of today', () => {
  test.each(keptReleases())('of %s are in the namespace of the test, with the images of each', async (version) => {
    const { before, now } = await releaseManifests(run, version, { namespace: 'test', hasOperator: true });
    for (const [folder, tag] of [
      [before, version],
      [now, PRODUCT_VERSION],
    ] as const) {
      const objects = objectsIn(folder);
      expect(objects.length).toBeGreaterThan(8);
      const places = objects.map(({ kind, metadata }) => (kind === 'Namespace' ? metadata.name : metadata.namespace));
      expect(new Set(places)).toEqual(new Set(['test']));
      expect(JSON.stringify(ofKind(folder, 'Deployment'))).toContain(`"image":"localhost/stream-consumer:${tag}"`);
      expect(ofKind(folder, 'PrometheusRule')).toBeDefined();
    }
  });

  test('lack what a cluster without the Prometheus Operator refuses', async () => {
    const [version = ''] = keptReleases();
    const { before, now } = await releaseManifests(run, version, { namespace: 'test', hasOperator: false });
    for (const folder of [before, now]) {
      expect([ofKind(folder, 'PrometheusRule'), ofKind(folder, 'ServiceMonitor')]).toEqual([undefined, undefined]);
    }
  });
});

describe('there and back', () => {
  let folder = '';

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'kubectl-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  /** Goes there and back with a kubectl that notes what it has to do, and finds a difference from a folder. */
  function run(differs: string) {
    const script = `#!/bin/sh
shift 2
name="$(basename "$(echo "$@" | grep -o '${folder}/[a-z]*')")"
echo "$1 $name" >>'${folder}/log'
case "$1 $name" in
  apply*) echo applied ;;
  get*) echo '{"items":[{"kind":"Service","metadata":{"name":"a","resourceVersion":"1"}}]}' ;;
  'diff ${differs}') exit 1 ;;
esac
`;
    writeFileSync(join(folder, 'kubectl'), script);
    chmodSync(join(folder, 'kubectl'), 0o755);
    const program = `import { Kubectl } from './dev/cluster/kubectl.ts';
      import { thereAndBack } from './dev/cluster/release-checks.ts';
      const releases = { version: '0.0.1', before: '${folder}/before', now: '${folder}/now' };
      console.log(await thereAndBack(new Kubectl('test'), releases));`;
    const args = ['--import', 'tsx', '--input-type=module', '--eval', program];
    const env = { ...process.env, PATH: `${folder}:${process.env['PATH']}` };
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { env, encoding: 'utf8' });
    const steps = readFileSync(join(folder, 'log'), 'utf8').trim().split('\n');
    return { status, stdout, stderr, steps: steps.filter((step) => !step.startsWith('get')) };
  }

  test('is the release before, this one, and the one before again, each without a difference', () => {
    const { status, stdout, steps } = run('nothing');
    expect({ status, stdout }).toEqual({
      status: 0,
      stdout: `0.0.1, ${PRODUCT_VERSION} and 0.0.1 again: no difference after each\n`,
    });
    expect(steps).toEqual(['before', 'now', 'before'].flatMap((name) => [`apply ${name}`, `diff ${name}`]));
  });

  test('fails where the cluster has something else than the manifests', () => {
    const { status, stderr, steps } = run('now');
    expect([status, steps.at(-1)]).toEqual([1, 'diff now']);
    expect(stderr).toContain('kubectl diff ended with 1');
  });
});
