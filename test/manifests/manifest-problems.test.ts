import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { parseAllDocuments } from 'yaml';
import { podSpecs, restrictedViolations } from '../charts/pod-security.ts';
import { deploymentSpec, type Manifest, only, renderedConsumer } from '../charts/rendered-consumer.ts';
import { manifestProblems } from './manifest-problems.ts';

const deployment = only(renderedConsumer(), 'Deployment');
const service = only(renderedConsumer(), 'Service');

const withSpec = (manifest: Manifest, changes: object): Manifest => ({
  ...manifest,
  spec: { ...(manifest['spec'] as object), ...changes },
});

describe('the check of objects', () => {
  test.each<[string, Manifest, RegExp]>([
    [
      'an unknown field',
      withSpec(deployment, { minReadySecond: 1 }),
      /^apps\/v1\/Deployment orders-consumer: \/spec .*minReadySecond/,
    ],
    ['a number as a text', withSpec(deployment, { replicas: '2' }), /\/spec\/replicas must be integer/],
    ['a missing field', withSpec(deployment, { selector: undefined }), /must have required property 'selector'/],
    [
      'an unknown field deep inside',
      withSpec(service, { ports: [{ port: 80, prot: 'TCP' }] }),
      /\/spec\/ports\/0 .*prot/,
    ],
    [
      'a name that is none',
      { ...service, metadata: { ...service.metadata, name: 'Orders' } },
      /\/metadata\/name must match/,
    ],
    [
      'a label that is none',
      { ...service, metadata: { ...service.metadata, labels: { a: '-' } } },
      /\/metadata\/labels\/a must match/,
    ],
    ['an unknown kind', { ...service, kind: 'Servant' }, /there is no schema for this kind/],
    ['a version that does not exist', { ...deployment, apiVersion: 'apps/v2' }, /there is no schema for this kind/],
  ])('sees %s', (_, manifest, problem) => {
    expect(manifestProblems(manifest).join('\n')).toMatch(problem);
  });

  test('sees what a Kubernetes of today takes and the oldest supported one does not', () => {
    const { template } = deploymentSpec([deployment]);
    const spec = { ...template.spec, resources: { limits: { memory: '1Gi' } } };
    expect(manifestProblems(withSpec(deployment, { template: { ...template, spec } }))).toEqual([
      expect.stringContaining(
        '/spec/template/spec must NOT have additional properties {"additionalProperty":"resources"}',
      ),
    ]);
  });

  test('sees a duration that Prometheus does not read', () => {
    const rule = { alert: 'A', expr: 'up', for: 'nonsense' };
    const manifest: Manifest = {
      apiVersion: 'monitoring.coreos.com/v1',
      kind: 'PrometheusRule',
      metadata: service.metadata,
      spec: { groups: [{ name: 'group', rules: [rule] }] },
    };
    expect(manifestProblems(manifest).join()).toContain('/spec/groups/0/rules/0/for must match pattern');
  });
});

const manifestFiles = readdirSync('dist', { recursive: true, encoding: 'utf8' }).filter((file) =>
  file.endsWith('.yaml'),
);

describe.each(manifestFiles)('dist/%s', (file) => {
  const objects = parseAllDocuments(readFileSync(`dist/${file}`, 'utf8')).map(
    (document) => document.toJS() as Manifest,
  );

  test('has only objects that an API server takes', () => {
    // One is enough: with `monitoring.scrape: none` monitoring.k8s.yaml holds the PrometheusRule alone.
    expect(objects.length).toBeGreaterThan(0);
    expect(objects.flatMap(manifestProblems)).toEqual([]);
  });

  test('has only Pods that are "restricted"', () => {
    expect(objects.flatMap(podSpecs).flatMap(restrictedViolations)).toEqual([]);
  });
});
