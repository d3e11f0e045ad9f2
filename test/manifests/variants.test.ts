import { describe, expect, test } from '@jest/globals';
import { podSpecs, restrictedViolations } from '../charts/pod-security.ts';
import { type Manifest, renderedConsumer } from '../charts/rendered-consumer.ts';
import { renderedMonitoring } from '../monitoring/rendered-monitoring.ts';
import { manifestProblems } from './manifest-problems.ts';
import { VARIANTS } from './variants.ts';

const identity = ({ apiVersion, kind, metadata }: Manifest) =>
  `${apiVersion}/${kind} ${metadata.namespace ?? ''}/${metadata.name}`;

describe.each(Object.entries(VARIANTS))('%s', (_, changes) => {
  const objects = [...renderedConsumer(changes), ...renderedMonitoring(changes)];

  test('has only objects that an API server takes', () => {
    expect(objects.flatMap(manifestProblems)).toEqual([]);
  });

  test('has only Pods that are "restricted"', () => {
    const pods = objects.flatMap(podSpecs);
    expect(pods.length).toBeGreaterThan(0);
    expect(pods.flatMap(restrictedViolations)).toEqual([]);
  });

  test('has no object twice', () => {
    expect(new Set(objects.map(identity)).size).toBe(objects.length);
  });

  test('has the recommended labels on all objects', () => {
    for (const { metadata } of objects) {
      expect(metadata.labels).toMatchObject({ 'app.kubernetes.io/part-of': 'stream-consumer' });
    }
  });
});
