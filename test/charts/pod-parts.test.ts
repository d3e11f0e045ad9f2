import { describe, expect, test } from '@jest/globals';
import { manifestProblems } from '../manifests/manifest-problems.ts';
import type { PodSpec } from './pod-security.ts';
import { deploymentSpec, only, renderedConsumer } from './rendered-consumer.ts';

const PODS = {
  volumes: [{ name: 'cache', emptyDir: { sizeLimit: '64Mi' } }],
  volumeMounts: [{ name: 'cache', mountPath: '/var/cache/stream-consumer' }],
  envFrom: [{ secretRef: { name: 'more' }, prefix: 'TEAM_' }],
  env: [
    { name: 'NODE', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
    { name: 'PROXY', valueFrom: { configMapKeyRef: { name: 'proxies', key: 'http', optional: true } } },
    { name: 'CPUS', valueFrom: { resourceFieldRef: { resource: 'limits.cpu', divisor: '1m' } } },
  ],
  affinity: { nodeAffinity: {} },
  dnsConfig: { nameservers: ['192.0.2.53'], searches: ['svc.example.com'], options: [{ name: 'ndots', value: '2' }] },
  hostAliases: [{ ip: '192.0.2.1', hostnames: ['kafka', 'kafka-1.example.com'] }],
  initContainers: [{ name: 'wait', image: 'busybox:1.36' }],
  sidecars: [
    { name: 'proxy', image: 'proxy:2', resources: { limits: { memory: '32Mi' } }, env: [{ name: 'A', value: 'B' }] },
  ],
};

const JOB = { database: { migrate: 'job', owner: { existingSecret: 'owner' } } };

type Pod = Omit<PodSpec, 'containers'> &
  Readonly<Record<string, unknown>> & {
    readonly containers: readonly { readonly volumeMounts: readonly object[]; readonly env: readonly object[] }[];
  };

const podOf = (kind: 'Deployment' | 'Job', changes: object): Pod => {
  const { template } = only(renderedConsumer(changes), kind)['spec'] as { template: { spec: Pod } };
  return template.spec;
};

describe.each(['Deployment', 'Job'] as const)('the Pods of the %s', (kind) => {
  const plain = podOf(kind, JOB);
  const pod = podOf(kind, { ...JOB, pods: PODS });

  test('have what the user adds, as it was written, after our own', () => {
    expect(pod['volumes']).toEqual([...(plain['volumes'] as object[]), ...PODS.volumes]);
    expect(pod.containers).toEqual([
      {
        ...plain.containers[0],
        envFrom: PODS.envFrom,
        env: [...(plain.containers[0]?.env ?? []), ...PODS.env],
        volumeMounts: [...(plain.containers[0]?.volumeMounts ?? []), ...PODS.volumeMounts],
      },
    ]);
    expect(pod['affinity']).toEqual(PODS.affinity);
    expect(pod['dnsConfig']).toEqual(PODS.dnsConfig);
    expect(pod['hostAliases']).toEqual(PODS.hostAliases);
  });

  test('are Pods that an API server takes', () => {
    const manifest = only(renderedConsumer({ ...JOB, pods: PODS }), kind);
    expect(manifestProblems(manifest)).toEqual([]);
  });

  test('begin with the sidecars, which end last, and then with what comes before the consumer', () => {
    expect(pod.initContainers).toMatchObject([
      { ...PODS.sidecars[0], restartPolicy: 'Always' },
      { name: 'wait', image: 'busybox:1.36' },
    ]);
    expect(pod.initContainers?.[1]).not.toHaveProperty('restartPolicy');
  });
});

test('what looks before the consumer begins has the same variables', () => {
  const [, doctor] = podOf('Deployment', { pods: { ...PODS, initContainers: [], doctor: true } }).initContainers ?? [];
  expect(doctor).toMatchObject({ name: 'doctor', env: expect.arrayContaining(PODS.env) });
});

test('a changed part is a new Job, and none leaves its name as it was', () => {
  const nameOf = (pods: object) => only(renderedConsumer({ ...JOB, pods }), 'Job').metadata.name;
  expect(nameOf({ volumes: [], env: [], hostAliases: [], userFromCluster: false })).toBe(nameOf({}));
  expect(nameOf(PODS)).not.toBe(nameOf({}));
});

describe('topology spread in its own words', () => {
  const constraint = { maxSkew: 1, topologyKey: 'rack', whenUnsatisfiable: 'DoNotSchedule' };
  const spreadOf = (pods: object) =>
    deploymentSpec(renderedConsumer({ pods })).template.spec['topologySpreadConstraints'];

  test("takes the place of ours, and counts the consumer's own Pods unless it says which", () => {
    const own = deploymentSpec(renderedConsumer()).selector;
    const labelSelector = { matchLabels: { app: 'other' } };
    const chosen = { ...constraint, topologyKey: 'room', labelSelector };
    expect(spreadOf({ topologySpreadConstraints: [constraint, chosen] })).toEqual([
      { ...constraint, labelSelector: own },
      chosen,
    ]);
  });

  test('may be none', () => {
    expect(spreadOf({ topologySpreadConstraints: [] })).toBeUndefined();
  });
});

describe('the ServiceAccount', () => {
  const CHANGES = {
    serviceAccount: { name: 'reader', annotations: { 'example.com/role': 'reader' }, labels: { team: 'payments' } },
  };

  test('has the name, annotations and labels that it is given, and still no token', () => {
    const manifests = renderedConsumer({ ...CHANGES, ...JOB });
    expect(only(manifests, 'ServiceAccount')).toMatchObject({
      metadata: {
        name: 'reader',
        annotations: { 'example.com/role': 'reader' },
        labels: { team: 'payments', 'app.kubernetes.io/instance': 'orders-consumer' },
      },
      automountServiceAccountToken: false,
    });
    for (const kind of ['Deployment', 'Job'] as const) {
      expect(podOf(kind, { ...CHANGES, ...JOB })).toMatchObject({
        serviceAccountName: 'reader',
        automountServiceAccountToken: false,
      });
    }
  });

  test('is left out where it is there already', () => {
    const manifests = renderedConsumer({ serviceAccount: { create: false, name: 'theirs' } });
    expect(manifests.map(({ kind }) => kind)).not.toContain('ServiceAccount');
    expect(deploymentSpec(manifests).template.spec['serviceAccountName']).toBe('theirs');
  });
});
