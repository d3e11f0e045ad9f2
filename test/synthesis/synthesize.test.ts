import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { stringify } from 'yaml';
import { InvalidConsumerError } from '../../deployment/invalid-consumer-error.ts';
import { contentHash } from '../../deployment/sections/object-names.ts';
import { describeProblem } from '../../settings/schema/problem.ts';
import type { CheckedEnvironment } from '../../synthesis/checked-environment.ts';
import { overlay } from '../../synthesis/overlay.ts';
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

function render(outdir: string, { consumers }: CheckedEnvironment): void {
  mkdirSync(outdir, { recursive: true });
  writeFileSync(join(outdir, 'replicas'), consumers.map(({ file }) => file.replicas).join());
}

/** Renders one Deployment for each consumer. */
function renderDeployments(change: object = {}) {
  return (outdir: string, { consumers }: CheckedEnvironment): void => {
    mkdirSync(outdir, { recursive: true });
    for (const { file } of consumers) {
      const { name, namespace } = file;
      const labels = { 'app.kubernetes.io/instance': name };
      const object = {
        kind: 'Deployment',
        metadata: { name, namespace: namespace.name, labels },
        spec: { replicas: file.replicas, selector: { matchLabels: labels } },
      };
      writeFileSync(join(outdir, `${name}.k8s.yaml`), stringify(overlay(object, change)));
    }
  };
}

const failure = (result: ReturnType<typeof synthesize>): string =>
  result.ok ? '' : result.problems.map(describeProblem).join('\n');

const rendered = new Map([
  ['replicas', '1'],
  ['staging/replicas', '3'],
]);
const untouched = new Map([['stale.yaml', 'stale']]);

test('dist/ holds what was rendered and nothing else', () => {
  expect(synthesize({ folder, render })).toEqual({
    ok: true,
    value: { files: ['dist/replicas', 'dist/staging/replicas'], notes: [] },
  });
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
  expect(result).toMatchObject({ ok: true, value: { files: ['elsewhere/replicas', 'elsewhere/staging/replicas'] } });
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
  ['that names nothing', 'replicas: *nobody\n', /an alias names no anchor above it$/, /^consumer\.yaml:1:11$/],
  ['inside of itself', 'application: &a [*a]\n', /an alias is inside of what it names$/, /^consumer\.yaml:1:18$/],
  [
    'that multiplies without end',
    `a: &a [x,x,x,x,x,x,x,x,x]\n${'bcdefgh'.replace(/./g, (c) => `${c}: &${c} [${Array(9).fill(`*${String.fromCharCode(c.charCodeAt(0) - 1)}`)}]\n`)}`,
    /^is not YAML: its aliases multiply without end$/,
    /^consumer\.yaml$/,
  ],
])('an alias %s is a problem with a place', (_name, text, message, source) => {
  writeFileSync(join(folder, 'consumer.yaml'), text);
  const result = synthesize({ folder, render });
  const problem = { message: expect.stringMatching(message), source: expect.stringMatching(source) };
  expect(result).toMatchObject({ ok: false, problems: expect.arrayContaining([expect.objectContaining(problem)]) });
});

test('dist/ stays when a patch fails, which is told with its environment', () => {
  const problem = { path: 'patches[0]', message: 'matches no object', allowed: 'one of Deployment orders' };
  const result = synthesize({
    folder,
    render: (outdir, environment) => {
      render(outdir, environment);
      if (environment.folder === 'staging') {
        throw new InvalidConsumerError('StreamConsumer', [problem]);
      }
    },
  });
  expect(failure(result)).toBe('patches[0] matches no object (in staging)\n  allowed: one of Deployment orders');
  expect(contents(join(folder, 'dist'))).toEqual(new Map([['stale.yaml', 'stale']]));
});

test('dist/ stays when rendering fails half-way', () => {
  const failing = (outdir: string, environment: CheckedEnvironment): void => {
    render(outdir, environment);
    if (environment.folder === 'staging') {
      throw new Error('disk full');
    }
  };
  expect(() => synthesize({ folder, render: failing })).toThrow('disk full');
  expect(contents(join(folder, 'dist'))).toEqual(untouched);
});

describe('one environment only', () => {
  test('is replaced, and all else in dist/ stays', () => {
    synthesize({ folder, render });
    writeFileSync(join(folder, 'environments/staging.yaml'), 'replicas: 4\n');
    writeFileSync(join(folder, 'environments/wrong.yaml'), 'replica: 4\n');
    writeFileSync(join(folder, 'consumer.yaml'), `${SMALLEST_YAML}replicas: 7\n`);
    const result = synthesize({ folder, only: ['staging'], render });
    expect(result).toEqual({ ok: true, value: { files: ['dist/staging/replicas'], notes: [] } });
    expect(contents(join(folder, 'dist'))).toEqual(new Map([...rendered, ['staging/replicas', '4']]));
  });

  test('loses the files that it no longer has', () => {
    mkdirSync(join(folder, 'dist/staging'));
    writeFileSync(join(folder, 'dist/staging/stale.yaml'), 'stale');
    synthesize({ folder, only: ['staging'], render });
    expect(contents(join(folder, 'dist'))).toEqual(new Map([...untouched, ['staging/replicas', '3']]));
  });

  test('is written to a dist/ that was not there', () => {
    rmSync(join(folder, 'dist'), { recursive: true });
    synthesize({ folder, only: ['staging'], render });
    expect(contents(join(folder, 'dist'))).toEqual(new Map([['staging/replicas', '3']]));
  });

  test('of an unknown name is refused with the known ones', () => {
    const result = synthesize({ folder, only: ['stagin'], render });
    expect(failure(result)).toBe(
      '--env names no file in environments/: "stagin"; did you mean staging?\n  allowed: one of staging',
    );
    expect(contents(join(folder, 'dist'))).toEqual(untouched);
  });
});

describe('a change that a cluster refuses', () => {
  const otherSelector = { spec: { selector: { matchLabels: { 'app.kubernetes.io/name': 'other' } } } };

  beforeEach(() => {
    synthesize({ folder, render: renderDeployments() });
  });

  test('is refused with the way to upgrade, and dist/ stays', () => {
    const before = contents(join(folder, 'dist'));
    const result = synthesize({ folder, only: ['staging'], render: renderDeployments(otherSelector) });
    expect(failure(result)).toMatch(/^Deployment stream-consumer\/orders-consumer spec\.selector cannot be changed/);
    expect(failure(result)).toContain('--allow-recreate');
    expect(failure(result)).toContain('kubectl --namespace stream-consumer delete deployment orders-consumer');
    expect(contents(join(folder, 'dist'))).toEqual(before);
  });

  test('is written when it is allowed', () => {
    const result = synthesize({ folder, allowRecreate: true, render: renderDeployments(otherSelector) });
    expect(result.ok).toBe(true);
    expect(contents(join(folder, 'dist')).get('orders-consumer.k8s.yaml')).toContain('name: other');
  });

  test('is another name of a workload whose consumer keeps its own', () => {
    const result = synthesize({ folder, render: renderDeployments({ metadata: { name: 'renamed' } }) });
    expect(failure(result)).toContain('Deployment stream-consumer/orders-consumer metadata.name would change');
    expect(failure(result)).toContain('"renamed"');
  });

  test('is none when anything else changes', () => {
    expect(synthesize({ folder, render: renderDeployments({ spec: { replicas: 9 } }) }).ok).toBe(true);
  });
});

test('a renamed consumer is told to go on under its old name, with the command that ends it', () => {
  synthesize({ folder, only: ['staging'], render: renderDeployments() });
  const metadata = { name: 'payments', labels: { 'app.kubernetes.io/instance': 'payments' } };
  const result = synthesize({ folder, only: ['staging'], render: renderDeployments({ metadata }) });
  expect(result.ok && result.value.notes).toEqual([
    'Deployment stream-consumer/orders-consumer is in dist/ no longer, and goes on in each cluster that has it, unless a GitOps tool prunes it: kubectl --namespace stream-consumer delete deployment --selector app.kubernetes.io/instance=orders-consumer',
  ]);
});

describe('a number of Pods that is left to an autoscaler from now on', () => {
  const toAutoscaler = renderDeployments({ spec: { replicas: null } });
  const command =
    `echo '{"kind":"Deployment","metadata":{"name":"orders-consumer"},"spec":{"replicas":3}}' | kubectl --namespace ` +
    'stream-consumer apply --server-side --validate=false --field-manager=autoscaler-hand-over -f -';

  test('is noted with the command that keeps the Pods meanwhile', () => {
    synthesize({ folder, only: ['staging'], render: renderDeployments() });
    const result = synthesize({ folder, only: ['staging'], render: toAutoscaler });
    expect(result.ok && result.value.notes).toEqual([
      'Deployment stream-consumer/orders-consumer leaves its number of Pods to the autoscaler, and the next apply sets ' +
        `it to 1 until the autoscaler acts. To keep 3 Pods, do in each cluster before that apply: ${command}`,
    ]);
  });

  test('is not noted again, nor where it was 1, nor where there is one again', () => {
    const notes = (render: ReturnType<typeof renderDeployments>): readonly string[] | false => {
      const result = synthesize({ folder, only: ['staging'], render });
      return result.ok && result.value.notes;
    };
    expect(notes(toAutoscaler)).toEqual([]);
    expect(notes(toAutoscaler)).toEqual([]);
    expect(notes(renderDeployments({ spec: { replicas: 1 } }))).toEqual([]);
    expect(notes(toAutoscaler)).toEqual([]);
    expect(notes(renderDeployments())).toEqual([]);
    expect(notes(renderDeployments({ spec: { replicas: 4 } }))).toEqual([]);
  });
});

test('more replicas than partitions are told, as Pods that wait idle', () => {
  writeFileSync(join(folder, 'environments/staging.yaml'), 'replicas: 3\npartitions: 2\n');
  const result = synthesize({ folder, only: ['staging'], render });
  expect(result.ok && result.value.notes).toEqual([
    'dist/staging: orders-consumer has 3 replicas for 2 partitions: 1 will wait idle',
  ]);
  writeFileSync(join(folder, 'environments/staging.yaml'), 'replicas: 3\npartitions: 3\n');
  const enough = synthesize({ folder, only: ['staging'], render });
  expect(enough.ok && enough.value.notes).toEqual([]);
});

describe('a ConfigMap that was edited by hand in dist/', () => {
  const data = { 'application.yml': 'kafka: {}' };
  const name = `orders-consumer-config-${contentHash(data['application.yml'])}`;
  const configMap = (changes: object = {}) => ({
    ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'stream-consumer' }, immutable: true, data },
    ...changes,
  });
  const renderObject = (object: object) => (outdir: string) => {
    mkdirSync(outdir, { recursive: true });
    writeFileSync(join(outdir, 'consumer.k8s.yaml'), JSON.stringify(object));
  };

  test('is proved by its name, and taken back by git', () => {
    synthesize({
      folder,
      only: ['staging'],
      render: renderObject(configMap({ data: { 'application.yml': 'kafka: x' } })),
    });
    const result = synthesize({ folder, only: ['staging'], render: renderObject(configMap()) });
    expect(failure(result)).toBe(
      `ConfigMap stream-consumer/${name} data was edited by hand in dist/: it is not what its name, a hash of its content, says\n` +
        '  allowed: what synth writes: git checkout -- dist takes the edit back, and the same change in consumer.yaml keeps it',
    );
  });

  test('is told apart from one that would change under its name', () => {
    synthesize({ folder, only: ['staging'], render: renderObject(configMap()) });
    const changed = renderObject(configMap({ data: { 'application.yml': 'kafka: y' } }));
    expect(failure(synthesize({ folder, only: ['staging'], render: changed }))).toContain(
      'cannot be changed in a cluster',
    );
  });
});

test('two objects of one name in one environment are refused', () => {
  const twice = (outdir: string, environment: CheckedEnvironment): void => {
    renderDeployments()(outdir, environment);
    writeFileSync(join(outdir, 'z.k8s.yaml'), contents(outdir).get('orders-consumer.k8s.yaml') ?? '');
  };
  const result = synthesize({ folder, only: ['staging'], render: twice });
  expect(failure(result)).toContain('is in orders-consumer.k8s.yaml and in z.k8s.yaml');
});

test('two objects of one name in two environments are right for two clusters, and noted', () => {
  const noted = synthesize({ folder, render: renderDeployments() });
  expect(noted.ok && noted.value.notes).toEqual([
    expect.stringMatching(/^dist and dist\/staging both hold Deployment stream-consumer\/orders-consumer: /),
  ]);
  writeFileSync(join(folder, 'environments/staging.yaml'), 'namespace: { name: staging }\n');
  synthesize({ folder, render: renderDeployments() });
  const silent = synthesize({ folder, render: renderDeployments() });
  expect(silent.ok && silent.value.notes).toEqual([]);
});
