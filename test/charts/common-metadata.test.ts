import { describe, expect, test } from '@jest/globals';
import { App } from 'cdk8s';
import { ConsumerChart, SharedNamespacesChart } from '../../charts/consumer-chart.ts';
import { checkConsumerFile } from '../../deployment/check-consumer.ts';
import { checkedWorkload } from '../../deployment/checked-workload.ts';
import { GrafanaChart } from '../../monitoring/dashboards/grafana-files.ts';
import { manifestProblems } from '../manifests/manifest-problems.ts';
import { renderedMonitoring } from '../monitoring/rendered-monitoring.ts';
import { consumerDocument, exampleConsumer } from './example-consumer.ts';
import { deploymentSpec, type Manifest, only, renderedConsumer } from './rendered-consumer.ts';

const labels = { 'example.com/cost-centre': '42', team: 'payments', 'app.kubernetes.io/name': 'theirs' };
const annotations = { 'example.com/owner': 'Payments, room 4', 'argocd.argoproj.io/sync-options': 'Replace=true' };

const EVERYTHING = {
  replicas: 2,
  partitions: 4,
  scaling: { keda: {} },
  kafka: { existingSecret: 'brokers' },
  database: {
    migrate: 'job',
    owner: { existingSecret: 'owner' },
    sealedSecret: { encryptedData: { password: 'x'.repeat(120) } },
    job: { annotations: { 'example.com/owner': 'the Job' } },
  },
  serviceAccount: { labels: { team: 'accounts' } },
  monitoring: { labels: { team: 'monitoring' } },
  application: { kafka: { sasl: { mechanism: 'plain' } } },
};

function allObjects(changes: object): Manifest[] {
  const grafana = new GrafanaChart(new App(), 'grafana', { workloads: [checkedWorkload(exampleConsumer(changes))] });
  return [...renderedConsumer(changes), ...renderedMonitoring(changes), ...grafana.toJson()];
}

const plain = allObjects(EVERYTHING);
const common = allObjects({ ...EVERYTHING, labels, annotations });

const annotationsOf = ({ metadata }: Manifest): unknown => (metadata as { annotations?: unknown }).annotations ?? {};

describe('labels and annotations of all objects', () => {
  test('are on the metadata of each object that there is', () => {
    expect(common.length).toBeGreaterThan(10);
    for (const object of common) {
      expect(object.metadata.labels).toMatchObject({ 'example.com/cost-centre': '42' });
      expect(Object.keys(annotationsOf(object) as object)).toEqual(expect.arrayContaining(['example.com/owner']));
    }
  });

  test('change nothing else: no selector, no Pod, no name', () => {
    const rest = (objects: readonly Manifest[]) =>
      objects.map(({ metadata: { labels: _labels, ...metadata }, ...object }) => ({
        ...object,
        metadata: { ...metadata, annotations: undefined },
      }));
    expect(rest(common)).toEqual(rest(plain));
  });

  test('are taken by the API server', () => {
    expect(common.flatMap(manifestProblems)).toEqual([]);
  });

  test('do not win over ours', () => {
    for (const [index, object] of common.entries()) {
      expect(object.metadata.labels).toMatchObject(plain[index]?.metadata.labels ?? {});
      expect(annotationsOf(object)).toMatchObject((annotationsOf(plain[index] ?? object) as object) ?? {});
    }
    expect(annotationsOf(only(common, 'Namespace'))).toMatchObject({
      'argocd.argoproj.io/sync-options': 'Delete=false,Prune=false',
    });
  });

  test('do not win over those of a section, which say more', () => {
    expect(only(common, 'ServiceAccount').metadata.labels['team']).toBe('accounts');
    expect(only(common, 'PrometheusRule').metadata.labels['team']).toBe('monitoring');
    expect(only(common, 'Deployment').metadata.labels['team']).toBe('payments');
    expect(annotationsOf(only(common, 'Job'))).toMatchObject({ 'example.com/owner': 'the Job' });
  });

  test('are not labels of Pods, and pods.labels are not those of objects', () => {
    const objects = renderedConsumer({ labels: { team: 'a' }, pods: { labels: { tier: 'b' } } });
    const { labels: ofPods } = deploymentSpec(objects).template.metadata;
    expect(ofPods).toMatchObject({ tier: 'b' });
    expect(ofPods).not.toHaveProperty('team');
    expect(only(objects, 'Deployment').metadata.labels).not.toHaveProperty('tier');
  });

  test.each<[string, object, string]>([
    ['a name that is none', { labels: { 'a b': 'c' } }, 'labels.a b'],
    ['a value with a blank', { labels: { a: 'b c' } }, 'labels.a'],
    ['a number', { annotations: { a: 1 } }, 'annotations.a'],
    ['a name that cdk8s cannot render', { annotations: { constructor: 'a' } }, 'annotations.constructor'],
  ])('have not %s', (_, changes, place) => {
    const checked = checkConsumerFile(consumerDocument(changes));
    expect(checked.ok ? [] : checked.problems.map(({ path }) => path)).toEqual([place]);
  });
});

test('a Namespace that several consumers share has what they agree on', () => {
  const consumers = [
    exampleConsumer({ labels: { team: 'a', site: 'eu' }, annotations: { owner: 'x' } }),
    exampleConsumer({ name: 'payments', labels: { team: 'b', site: 'eu' }, annotations: { owner: 'x', more: 'y' } }),
    exampleConsumer({ name: 'other', namespace: { name: 'other' }, labels: { team: 'c' } }),
  ];
  const [shared, other] = new SharedNamespacesChart(new App(), 'namespaces', { consumers }).toJson() as Manifest[];
  expect(shared?.metadata.labels).toMatchObject({ site: 'eu' });
  expect(shared?.metadata.labels).not.toHaveProperty('team');
  expect(shared && annotationsOf(shared)).toMatchObject({ owner: 'x' });
  expect(shared && annotationsOf(shared)).not.toHaveProperty('more');
  expect(other?.metadata.labels).toMatchObject({ team: 'c' });
});

test('a patch sees them, and may take them away', () => {
  const patches = [{ kind: 'Service', operations: [{ op: 'remove', path: '/metadata/labels/team' }] }];
  const consumer = exampleConsumer({ labels: { team: 'a' }, patches });
  const objects = new ConsumerChart(new App(), 'consumer', { consumer }).toJson() as Manifest[];
  expect(only(objects, 'Service').metadata.labels).not.toHaveProperty('team');
  expect(only(objects, 'Deployment').metadata.labels).toHaveProperty('team');
});
