import { describe, expect, test } from '@jest/globals';
import { manifestProblems } from '../manifests/manifest-problems.ts';
import { podSpecs, restrictedViolations } from './pod-security.ts';
import { type Manifest, renderedConsumer } from './rendered-consumer.ts';

const PODS = {
  doctor: true,
  initContainers: [{ name: 'wait', image: 'busybox:1.36' }],
  sidecars: [{ name: 'proxy', image: 'proxy:2' }],
};

const rendered = (pods: object): Manifest[] =>
  renderedConsumer({ pods: { ...PODS, ...pods }, database: { migrate: 'job', owner: { existingSecret: 'owner' } } });

const CHOSEN_IDS = /"(runAsUser|runAsGroup|fsGroup)":/g;

const ids = (objects: readonly Manifest[]): number => [...JSON.stringify(objects).matchAll(CHOSEN_IDS)].length;

describe('Pods whose user the cluster chooses', () => {
  const objects = rendered({ userFromCluster: true });

  test('name no uid, gid or fsGroup, in no container', () => {
    expect(ids(objects)).toBe(0);
    // Two Pods with three ids each, and seven containers with two.
    expect(ids(rendered({}))).toBe(2 * 3 + 7 * 2);
  });

  test('still hold Pod Security "restricted", which OpenShift asks, too', () => {
    const pods = objects.flatMap(podSpecs);
    expect(pods).toHaveLength(2);
    expect(pods.flatMap(restrictedViolations)).toEqual([]);
    for (const pod of pods) {
      expect(pod).toMatchObject({
        securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
      });
    }
  });

  test('are taken by the API server', () => {
    expect(objects.flatMap(manifestProblems)).toEqual([]);
  });

  test('keep the user that a container of theirs names', () => {
    const sidecars = [{ ...PODS.sidecars[0], securityContext: { runAsUser: 65_532 } }];
    expect(JSON.stringify(rendered({ userFromCluster: true, sidecars }))).toContain('"runAsUser":65532');
  });
});
