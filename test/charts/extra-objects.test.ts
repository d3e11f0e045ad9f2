import { describe, expect, test } from '@jest/globals';
import { App, Chart, YamlOutputType } from 'cdk8s';
import { StreamConsumer } from '../../charts/stream-consumer.ts';
import { checkConsumerFile } from '../../deployment/check-consumer.ts';
import type { StreamConsumerProps } from '../../deployment/generated/props.ts';
import { describeProblem } from '../../settings/schema/problem.ts';
import { manifestProblems } from '../manifests/manifest-problems.ts';
import { consumerDocument } from './example-consumer.ts';
import { only, renderedConsumer } from './rendered-consumer.ts';

const config = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'company-ca' }, data: { 'ca.crt': 'x' } };

const policy = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: { name: 'proxy', namespace: 'proxies', labels: { team: 'network' } },
  spec: { podSelector: {}, policyTypes: ['Ingress'], ingress: [] },
};

const role = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: { name: 'team:orders' },
  rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }],
};

const issuer = {
  apiVersion: 'example.com/v1beta1',
  kind: 'Issuer',
  metadata: { name: 'issuer', namespace: '' },
  spec: { value: 'kept', nothing: null, list: [], map: {}, number: 0 },
};

const problemsOf = (extraObjects: unknown) => {
  const checked = checkConsumerFile(consumerDocument({ extraObjects }));
  return checked.ok ? [] : checked.problems;
};

describe('objects of the user', () => {
  const objects = renderedConsumer({ extraObjects: [config, policy, role, issuer] });
  const find = (name: string) => objects.find(({ metadata }) => metadata.name === name);

  test('are beside ours, as they were written', () => {
    expect(find('proxy')).toEqual(policy);
    expect(find('team:orders')).toEqual(role);
    expect(find('issuer')).toEqual({ ...issuer, metadata: { name: 'issuer' } });
    expect([find('company-ca'), find('proxy'), find('team:orders')].flatMap((each) => manifestProblems(each ?? role)))
      // The publishers' schemas that tests have are those of our kinds.
      .toEqual(['rbac.authorization.k8s.io/v1/ClusterRole team:orders: there is no schema for this kind']);
  });

  test('are in the namespace of the consumer unless they name one, or their kind has none', () => {
    expect(find('company-ca')?.metadata).toEqual({ name: 'company-ca', namespace: 'stream-consumer' });
    expect(find('team:orders')?.metadata).not.toHaveProperty('namespace');
    expect(find('issuer')?.metadata).not.toHaveProperty('namespace');
  });

  test('change none of ours', () => {
    const names = [config, policy, role, issuer].map(({ metadata }) => metadata.name);
    expect(objects.filter(({ metadata }) => !names.includes(metadata.name))).toEqual(renderedConsumer());
  });

  test('have the labels of all objects below their own, and none of ours', () => {
    const labelled = renderedConsumer({ extraObjects: [config, policy], labels: { team: 'payments' } });
    expect(labelled.find(({ metadata }) => metadata.name === 'company-ca')?.metadata.labels).toEqual({
      team: 'payments',
    });
    expect(labelled.find(({ metadata }) => metadata.name === 'proxy')?.metadata.labels).toEqual({ team: 'network' });
  });

  test('are not patched: they say themselves what they are', () => {
    const patches = [{ operations: [{ op: 'add', path: '/metadata/labels/patched', value: 'yes' }] }];
    const patched = renderedConsumer({ extraObjects: [policy], patches });
    expect(patched.find(({ metadata }) => metadata.name === 'proxy')).toEqual(policy);
    expect(only(patched, 'Deployment').metadata.labels['patched']).toBe('yes');
  });

  test('have no namespace of a chart either, where they have none', () => {
    const app = new App({ yamlOutputType: YamlOutputType.FILE_PER_CHART });
    const chart = new Chart(app, 'chart', { namespace: 'charts' });
    const props = consumerDocument({ extraObjects: [config, role, issuer] }) as StreamConsumerProps;
    const made = new StreamConsumer(chart, 'consumer', props).extraObjects.map((each) => each.toJson());
    expect(made.map(({ metadata }) => metadata.namespace)).toEqual(['stream-consumer', undefined, undefined]);
  });
});

describe('an object of the user is refused', () => {
  test.each<[string, readonly object[], string]>([
    ['without a version', [{ ...config, apiVersion: undefined }], 'extraObjects[0].apiVersion'],
    ['with a version that is none', [{ ...config, apiVersion: 'apps' }], 'extraObjects[0].apiVersion'],
    ['without a kind', [{ ...config, kind: undefined }], 'extraObjects[0].kind'],
    ['without a name', [config, { ...config, metadata: {} }], 'extraObjects[1].metadata.name'],
    ['with a name that is none', [{ ...config, metadata: { name: 'A b' } }], 'extraObjects[0].metadata.name'],
    [
      'with a namespace that is none',
      [{ ...config, metadata: { name: 'a', namespace: 'A' } }],
      'extraObjects[0].metadata.namespace',
    ],
    ['that is there twice', [config, config], 'extraObjects[1]'],
    [
      'with a name that cdk8s cannot render',
      [{ ...config, data: { constructor: 'a' } }],
      'extraObjects[0].data.constructor',
    ],
  ])('%s', (_, extraObjects, place) => {
    expect(problemsOf(JSON.parse(JSON.stringify(extraObjects))).map(({ path }) => path)).toEqual([place]);
  });

  test('that is a Secret, without what is in it', () => {
    const found = problemsOf([{ ...config, kind: 'Secret', stringData: { password: 'hunter2' } }]);
    expect(found).toMatchObject([{ path: 'extraObjects[0].kind', message: expect.stringContaining('is a secret') }]);
    expect(found.map(describeProblem).join()).not.toContain('hunter2');
  });

  test('that is no map', () => {
    expect(problemsOf(['a']).map(({ path }) => path)).toEqual(['extraObjects[0]']);
    expect(problemsOf({}).map(({ path }) => path)).toEqual(['extraObjects']);
  });

  test('that would overwrite one of ours', () => {
    const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'orders-consumer' }, spec: {} };
    expect(() => renderedConsumer({ extraObjects: [config, service] })).toThrow(
      'extraObjects[1] is Service orders-consumer, which the manifests have already',
    );
    const elsewhere = { ...service, metadata: { name: 'orders-consumer', namespace: 'other' } };
    expect(renderedConsumer({ extraObjects: [elsewhere] })).toHaveLength(renderedConsumer().length + 1);
  });
});
