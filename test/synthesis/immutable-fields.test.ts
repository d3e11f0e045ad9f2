import { expect, test } from '@jest/globals';
import {
  abandonedWorkloads,
  IMMUTABLE_KINDS,
  immutableChanges,
  upgradeProblems,
} from '../../synthesis/immutable-fields.ts';
import { overlay } from '../../synthesis/overlay.ts';
import { renderedConsumer } from '../charts/rendered-consumer.ts';
import { VARIANTS } from '../manifests/variants.ts';

const object = (kind: string, content: object) => ({ kind, metadata: { name: 'x', namespace: 'n' }, ...content });

function refused(kind: string, content: object, change: object): string[] {
  const before = object(kind, content);
  return immutableChanges(before, overlay(before, change) as typeof before).map(({ field }) => field);
}

const config = { immutable: true, data: { a: '1' } };

test.each<[string, string, object, object, string[]]>([
  [
    "a Deployment's selector",
    'Deployment',
    { spec: { selector: { a: 'b' } } },
    { spec: { selector: { a: 'c' } } },
    ['spec.selector'],
  ],
  [
    "a Deployment's template and replicas",
    'Deployment',
    { spec: { replicas: 1 } },
    { spec: { replicas: 2, template: {} } },
    [],
  ],
  ["a Service's address", 'Service', { spec: {} }, { spec: { clusterIP: 'None' } }, ['spec.clusterIP']],
  ["a Service's ports", 'Service', { spec: { ports: [] } }, { spec: { ports: [1], selector: {} } }, []],
  ["a Job's template", 'Job', { spec: { template: { a: 1 } } }, { spec: { template: { a: 2 } } }, ['spec.template']],
  ["a Job's deadline", 'Job', { spec: { template: {} } }, { spec: { activeDeadlineSeconds: 5 } }, []],
  ['data of an immutable ConfigMap', 'ConfigMap', config, { data: { a: '2' } }, ['data']],
  ['immutable itself', 'ConfigMap', config, { immutable: false }, ['immutable']],
  [
    'data of a ConfigMap that is becoming immutable',
    'ConfigMap',
    { data: { a: '1' } },
    { ...config, data: { a: '2' } },
    [],
  ],
  ['any field of other kinds', 'PodDisruptionBudget', { spec: { selector: 1 } }, { spec: { selector: 2 } }, []],
])('%s', (_name, kind, content, change, expected) => {
  expect(refused(kind, content, change)).toEqual(expected);
});

test('the order of keys is no change', () => {
  const [before, after] = [
    object('Deployment', { spec: { selector: { a: 1, b: 2 } } }),
    object('Deployment', { spec: { selector: { b: 2, a: 1 } } }),
  ];
  expect(immutableChanges(before, after)).toEqual([]);
});

test('only kinds that consumer.yaml can render have such fields', () => {
  const kinds = new Set(
    Object.values(VARIANTS)
      .flatMap((changes) => renderedConsumer(changes))
      .map(({ kind }) => kind),
  );
  expect(IMMUTABLE_KINDS.filter((kind) => !kinds.has(kind))).toEqual([]);
});

test.each(IMMUTABLE_KINDS)('a %s says what to do in the cluster', (kind) => {
  const before = object(kind, { ...config, type: 'a', spec: { selector: 1, template: 1, clusterIP: 1 } });
  const [change] = immutableChanges(before, object(kind, { type: 'b', spec: {} }));
  expect(change?.upgrade).toMatch(/kubectl --namespace n delete .*\bx\b/);
});

test('a Deployment of the user that is gone or renamed is deleted by its name, as it has no label of ours', () => {
  const gone = { file: 'a', object: object('Deployment', { apiVersion: 'apps/v1' }) };
  const added = { file: 'a', object: { ...gone.object, metadata: { name: 'y', namespace: 'n' } } };
  const changes = [{ before: gone }, { after: added }];
  expect(upgradeProblems(changes)).toEqual([]);
  expect(abandonedWorkloads(changes)).toEqual([
    expect.stringMatching(/^Deployment n\/x .*: kubectl --namespace n delete deployment x$/),
  ]);
});
