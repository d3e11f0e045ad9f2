import { describe, expect, test } from '@jest/globals';
import { checkConsumerFile } from '../../../deployment/check-consumer.ts';
import { initContainersOf, type PodParts } from '../../../deployment/pods/pod-parts.ts';
import type { Problem } from '../../../settings/schema/problem.ts';
import { consumerDocument } from '../../charts/example-consumer.ts';
import { type PodSpec, restrictedViolations } from '../../charts/pod-security.ts';

function problemsOf(pods: object, more: object = {}): readonly Problem[] {
  const checked = checkConsumerFile(consumerDocument({ pods, ...more }));
  return checked.ok ? [] : checked.problems;
}

const places = (pods: object): string[] => problemsOf(pods).map(({ path }) => path);

const cache = { name: 'cache', emptyDir: {} };

const mount = (mountPath: string) => ({ volumes: [cache], volumeMounts: [{ name: 'cache', mountPath }] });

const proxy = { name: 'proxy', image: 'proxy:2' };

describe('what a user adds to the Pods', () => {
  test('is what Kubernetes knows: a mistyped field is named, with the nearest one that exists', () => {
    expect(problemsOf({ volumes: [{ name: 'cache', emptyDr: {} }], affinity: { podAfinity: {} } })).toMatchObject([
      { path: 'pods.volumes[0].emptyDr', nearest: 'pods.volumes[0].emptyDir' },
      { path: 'pods.affinity.podAfinity', nearest: 'pods.affinity.podAffinity' },
    ]);
  });

  test.each<[string, object, string]>([
    ['a volume without a name', { volumes: [{ emptyDir: {} }] }, 'pods.volumes[0].name'],
    [
      'an amount that is none',
      { volumes: [{ name: 'a', emptyDir: { sizeLimit: 'a lot' } }] },
      'pods.volumes[0].emptyDir.sizeLimit',
    ],
    [
      'a number for a text',
      { sidecars: [{ ...proxy, env: [{ name: 'A', value: 1 }] }] },
      'pods.sidecars[0].env[0].value',
    ],
    [
      'a constraint without its skew',
      { topologySpreadConstraints: [{ topologyKey: 'a', whenUnsatisfiable: 'ScheduleAnyway' }] },
      'pods.topologySpreadConstraints[0].maxSkew',
    ],
    ['a container without an image', { initContainers: [{ name: 'wait' }] }, 'pods.initContainers[0].image'],
    ['a volume of two kinds', { volumes: [{ ...cache, secret: { secretName: 'a' } }] }, 'pods.volumes[0]'],
    ['a source of variables that names nothing', { envFrom: [{ prefix: 'A_' }] }, 'pods.envFrom[0]'],
    [
      'a sidecar that is to end',
      { sidecars: [{ ...proxy, restartPolicy: 'Never' }] },
      'pods.sidecars[0].restartPolicy',
    ],
  ])('has no %s', (_, pods, place) => {
    expect(places(pods)).toEqual([place]);
  });

  const sidecar = (more: object) => ({ sidecars: [{ ...proxy, ...more }] });
  const probe = (more: object) => sidecar({ startupProbe: { httpGet: { port: 'http' }, ...more } });
  const spread = { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'ScheduleAnyway' };
  const nodes = (term: object) => ({
    affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [term] } },
  });
  const TERM = 'pods.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0]';

  test.each<[string, object, string]>([
    [
      'a port that does not exist',
      sidecar({ ports: [{ containerPort: 70_000 }] }),
      'sidecars[0].ports[0].containerPort',
    ],
    [
      'a long name of a port',
      sidecar({ ports: [{ containerPort: 1, name: 'a-name-of-16-chr' }] }),
      'sidecars[0].ports[0].name',
    ],
    ['a protocol', sidecar({ ports: [{ containerPort: 1, protocol: 'HTTP' }] }), 'sidecars[0].ports[0].protocol'],
    [
      'one port twice',
      sidecar({ ports: [{ containerPort: 1 }, { containerPort: 1, protocol: 'TCP' }] }),
      'sidecars[0].ports[1]',
    ],
    [
      'one name for two ports',
      sidecar({
        ports: [
          { containerPort: 1, name: 'a' },
          { containerPort: 2, name: 'a' },
        ],
      }),
      'sidecars[0].ports[1]',
    ],
    [
      'one variable twice',
      sidecar({
        env: [
          { name: 'A', value: '1' },
          { name: 'A', value: '2' },
        ],
      }),
      'sidecars[0].env[1]',
    ],
    ['a variable with =', sidecar({ env: [{ name: 'A=B' }] }), 'sidecars[0].env[0].name'],
    ['a policy for pulls', sidecar({ imagePullPolicy: 'always' }), 'sidecars[0].imagePullPolicy'],
    ['a long name of a container', { sidecars: [{ ...proxy, name: 'a'.repeat(64) }] }, 'sidecars[0].name'],
    ["a probe's port", probe({ httpGet: { port: 0 } }), 'sidecars[0].startupProbe.httpGet.port'],
    ["a probe's scheme", probe({ httpGet: { port: 1, scheme: 'https' } }), 'sidecars[0].startupProbe.httpGet.scheme'],
    ["a probe's period", probe({ periodSeconds: -1 }), 'sidecars[0].startupProbe.periodSeconds'],
    ['a long name of a volume', { volumes: [{ name: 'a'.repeat(64), emptyDir: {} }] }, 'volumes[0].name'],
    ['a medium', { volumes: [{ name: 'a', emptyDir: { medium: 'RAM' } }] }, 'volumes[0].emptyDir.medium'],
    [
      'a mode',
      { volumes: [{ name: 'a', secret: { secretName: 's', defaultMode: 644 } }] },
      'volumes[0].secret.defaultMode',
    ],
    [
      'a path out of the volume',
      { volumes: [{ name: 'a', configMap: { name: 'c', items: [{ key: 'k', path: '../../k' }] } }] },
      'volumes[0].configMap.items[0].path',
    ],
    ['a skew of 0', { topologySpreadConstraints: [{ ...spread, maxSkew: 0 }] }, 'topologySpreadConstraints[0].maxSkew'],
    [
      'what is done otherwise',
      { topologySpreadConstraints: [{ ...spread, whenUnsatisfiable: 'Never' }] },
      'topologySpreadConstraints[0].whenUnsatisfiable',
    ],
    ['one constraint twice', { topologySpreadConstraints: [spread, spread] }, 'topologySpreadConstraints[1]'],
    ['a weight', nodes({ weight: 101, preference: {} }), `${TERM.slice(5)}.weight`],
    [
      'an operator',
      nodes({ weight: 1, preference: { matchExpressions: [{ key: 'a', operator: 'Is' }] } }),
      `${TERM.slice(5)}.preference.matchExpressions[0].operator`,
    ],
  ])('has no value that the API server refuses: %s', (_, pods, place) => {
    expect(places(pods)).toEqual([`pods.${place}`]);
  });

  test('has values at their limits', () => {
    const ports = [
      { containerPort: 65_535, name: 'a-name-of-15-ch' },
      { containerPort: 65_535, protocol: 'UDP' },
    ];
    const pods = {
      ...sidecar({
        ports,
        env: [{ name: 'A' }, { name: 'B' }],
        startupProbe: { tcpSocket: { port: 'a-name-of-15-ch' } },
      }),
      volumes: [{ name: 'a'.repeat(63), secret: { secretName: 's', defaultMode: 0o777 } }],
      topologySpreadConstraints: [spread, { ...spread, whenUnsatisfiable: 'DoNotSchedule' }],
      ...nodes({
        weight: 100,
        preference: { matchExpressions: [{ key: 'topology.disk.csi.azure.com/zone', operator: 'Exists' }] },
      }),
    };
    expect(problemsOf(pods)).toEqual([]);
  });

  test.each<[string, object, string]>([
    ['a volume of ours', { volumes: [{ name: 'temporary', emptyDir: {} }] }, 'pods.volumes[0].name'],
    ['one name for two volumes', { volumes: [cache, cache] }, 'pods.volumes[1].name'],
    [
      'a mount of a volume that is not there',
      { volumeMounts: [{ name: 'a', mountPath: '/a' }] },
      'pods.volumeMounts[0].name',
    ],
    ['our folder', mount('/etc/stream-consumer/'), 'pods.volumeMounts[0].mountPath'],
    ['a place in our folder', mount('/etc/stream-consumer/ca'), 'pods.volumeMounts[0].mountPath'],
    ['a folder that holds ours', mount('/etc'), 'pods.volumeMounts[0].mountPath'],
    ['the root', mount('/'), 'pods.volumeMounts[0].mountPath'],
    ["the program's folder", mount('/app/build'), 'pods.volumeMounts[0].mountPath'],
    ['the folder /tmp', mount('/tmp'), 'pods.volumeMounts[0].mountPath'],
    ['no absolute folder', mount('cache'), 'pods.volumeMounts[0].mountPath'],
    ['a container of ours', { sidecars: [{ ...proxy, name: 'consumer' }] }, 'pods.sidecars[0].name'],
    ['one name for two containers', { sidecars: [proxy], initContainers: [proxy] }, 'pods.initContainers[0].name'],
    [
      "the consumer's port",
      { sidecars: [{ ...proxy, ports: [{ containerPort: 8080 }] }] },
      'pods.sidecars[0].ports[0]',
    ],
    [
      "the name of the consumer's port",
      { sidecars: [{ ...proxy, ports: [{ containerPort: 1, name: 'management' }] }] },
      'pods.sidecars[0].ports[0]',
    ],
    [
      'a mount in a sidecar of what is not there',
      { sidecars: [{ ...proxy, volumeMounts: [{ name: 'a', mountPath: '/a' }] }] },
      'pods.sidecars[0].volumeMounts[0].name',
    ],
  ])('does not take %s', (_, pods, place) => {
    expect(places(pods)).toEqual([place]);
  });

  test('may stand beside our folders, and below /tmp', () => {
    expect(places(mount('/etc/stream-consumer-ca'))).toEqual([]);
    expect(places(mount('/tmp/cache'))).toEqual([]);
  });

  test('is told with all its problems at once', () => {
    const pods = {
      volumes: [{ name: 'temporary', emptyDir: {} }],
      volumeMounts: [{ name: 'nothing', mountPath: '/tmp' }],
      envFrom: [{}],
      sidecars: [{ ...proxy, name: 'migrate', securityContext: { privileged: true } }],
    };
    expect(places(pods)).toEqual([
      'pods.volumes[0].name',
      'pods.volumeMounts[0].name',
      'pods.volumeMounts[0].mountPath',
      'pods.envFrom[0]',
      'pods.sidecars[0].name',
      'pods.sidecars[0].securityContext.privileged',
    ]);
  });
});

const FORBIDDEN_CONTEXTS: readonly object[] = [
  { privileged: true },
  { allowPrivilegeEscalation: true },
  { runAsNonRoot: false },
  { runAsUser: 0 },
  { capabilities: { drop: [] } },
  { capabilities: { add: ['SYS_ADMIN'] } },
  { procMount: 'Unmasked' },
  { seccompProfile: { type: 'Unconfined' } },
  { appArmorProfile: { type: 'Unconfined' } },
  { seLinuxOptions: { type: 'spc_t' } },
  { seLinuxOptions: { user: 'root' } },
  { seLinuxOptions: { role: 'admin' } },
  { windowsOptions: { hostProcess: true } },
];

const FORBIDDEN: readonly object[] = [
  ...FORBIDDEN_CONTEXTS.map((securityContext) => ({ securityContext })),
  { ports: [{ containerPort: 1, hostPort: 1 }] },
  { livenessProbe: { httpGet: { port: 1, host: 'a' } } },
  { lifecycle: { preStop: { tcpSocket: { port: 1, host: 'a' } } } },
];

const pod = (parts: Partial<PodParts>): PodSpec => ({
  containers: [],
  initContainers: initContainersOf({
    userFromCluster: false,
    sidecars: [],
    initContainers: [],
    ...parts,
  }) as unknown as NonNullable<PodSpec['initContainers']>,
});

describe('a container of the user', () => {
  test.each(FORBIDDEN.map((each) => [JSON.stringify(each), each]))(
    'is refused with %s, as the standard "restricted" refuses it',
    (_, forbidden) => {
      const container = { ...proxy, ...(forbidden as object) };
      expect(restrictedViolations(pod({ sidecars: [container] }))).not.toEqual([]);
      expect(problemsOf({ sidecars: [container] })).toMatchObject([
        { message: expect.stringContaining('"restricted"') },
      ]);
    },
  );

  test('is given what "restricted" asks, and keeps what it says itself', () => {
    const container = { ...proxy, securityContext: { runAsUser: 65_532, capabilities: { add: ['NET_BIND_SERVICE'] } } };
    expect(problemsOf({ initContainers: [container] })).toEqual([]);
    const made = pod({ initContainers: [container] });
    expect(restrictedViolations(made)).toEqual([]);
    expect(made.initContainers).toMatchObject([
      {
        securityContext: {
          runAsUser: 65_532,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'], add: ['NET_BIND_SERVICE'] },
        },
      },
    ]);
  });
});

test.each(['hostPath', 'nfs', 'iscsi'])('a volume of the kind %s is refused', (kind) => {
  const sources: Readonly<Record<string, object>> = {
    hostPath: { path: '/' },
    nfs: { server: 'a', path: '/' },
    iscsi: { iqn: 'a', lun: 0, targetPortal: 'b' },
  };
  expect(places({ volumes: [{ name: 'a', [kind]: sources[kind] }] })).toEqual([`pods.volumes[0].${kind}`]);
});
