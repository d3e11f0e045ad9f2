import { expect, test } from '@jest/globals';
import { only, renderedConsumer } from './rendered-consumer.ts';

const everything = renderedConsumer({ replicas: 2 });

test('the Namespace can be left to somebody else', () => {
  const objects = renderedConsumer({ namespace: { name: 'theirs', create: false } });
  expect(objects.map(({ kind }) => kind)).not.toContain('Namespace');
  expect(objects.map(({ metadata }) => metadata.namespace)).toEqual(objects.map(() => 'theirs'));
});

test('the Namespace enforces, warns of and audits Pod Security "restricted", of the oldest version supported', () => {
  expect(only(everything, 'Namespace').metadata.labels).toMatchObject({
    'pod-security.kubernetes.io/enforce': 'restricted',
    'pod-security.kubernetes.io/enforce-version': 'v1.28',
    'pod-security.kubernetes.io/warn': 'restricted',
    'pod-security.kubernetes.io/warn-version': 'v1.28',
    'pod-security.kubernetes.io/audit': 'restricted',
    'pod-security.kubernetes.io/audit-version': 'v1.28',
  });
});

test('Argo CD and Flux keep the Namespace, with the Secret in it', () => {
  expect(only(everything, 'Namespace').metadata).toHaveProperty('annotations', {
    'argocd.argoproj.io/sync-options': 'Delete=false,Prune=false',
    'kustomize.toolkit.fluxcd.io/prune': 'disabled',
  });
});

test('the Namespace alone has the label that the clean-up leaves out', () => {
  const labelled = everything.filter(({ metadata }) => 'pod-security.kubernetes.io/enforce' in metadata.labels);
  expect(labelled.map(({ kind }) => kind)).toEqual(['Namespace']);
});
