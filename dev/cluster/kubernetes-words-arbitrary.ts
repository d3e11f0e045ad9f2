import fc from 'fast-check';

/** A part for each way of saying it, some of them at random, in Kubernetes' own words. */
const some = (parts: readonly object[]): fc.Arbitrary<object[]> =>
  fc.subarray([...parts]).map((each) => structuredClone(each));

const volumes = some([
  { name: 'cache', emptyDir: { sizeLimit: '64Mi', medium: 'Memory' } },
  { name: 'authority', configMap: { name: 'company-ca', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
  { name: 'token', projected: { sources: [{ serviceAccountToken: { audience: 'sts', path: 'token' } }] } },
  { name: 'vault', csi: { driver: 'secrets-store.csi.k8s.io', readOnly: true } },
  { name: 'pod', downwardAPI: { items: [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } }] } },
]);

const volumeMounts = some([
  { name: 'cache', mountPath: '/var/cache/stream-consumer' },
  { name: 'authority', mountPath: '/etc/company/', readOnly: true },
  { name: 'token', mountPath: '/var/run/secrets/tokens', readOnly: true },
  { name: 'cache', mountPath: '/tmp/cache', subPath: 'below' },
]);

const envFrom = some([
  { secretRef: { name: 'more' } },
  { configMapRef: { name: 'more', optional: true }, prefix: 'TEAM_' },
]);

const env = some([
  { name: 'NODE', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
  { name: 'PROXY', valueFrom: { configMapKeyRef: { name: 'proxies', key: 'http', optional: true } } },
  { name: 'TRACE', valueFrom: { secretKeyRef: { name: 'tracing', key: 'token', optional: true } } },
  { name: 'CPUS', valueFrom: { resourceFieldRef: { resource: 'limits.cpu', divisor: '1m' } } },
  { name: 'PLACE', value: '$(NODE)' },
]);

const dnsConfig = fc.constantFrom(
  { nameservers: ['192.0.2.53', '2001:db8::53'] },
  { searches: ['svc.example.com', '.'], options: [{ name: 'ndots', value: '2' }, { name: 'edns0' }] },
);

const hostAliases = some([
  { ip: '192.0.2.1', hostnames: ['kafka', 'kafka-1.example.com'] },
  { ip: '2001:db8::1', hostnames: ['database'] },
]);

const affinity = fc.constantFrom(
  {
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [
        { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: { app: 'other' } } },
      ],
    },
  },
  {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [{ key: 'disk', operator: 'In', values: ['ssd'] }] }],
      },
    },
  },
);

const topologySpreadConstraints = some([
  { maxSkew: 1, topologyKey: 'topology.kubernetes.io/zone', whenUnsatisfiable: 'DoNotSchedule' },
  { maxSkew: 2, minDomains: 2, topologyKey: 'rack', whenUnsatisfiable: 'DoNotSchedule', nodeTaintsPolicy: 'Honor' },
]);

const initContainers = some([
  { name: 'wait', image: 'busybox:1.36', command: ['true'], resources: { limits: { memory: '16Mi', cpu: 0.1 } } },
  { name: 'fetch', image: 'busybox:1.36', volumeMounts: [{ name: 'temporary', mountPath: '/tmp' }] },
]);

const sidecars = some([
  {
    name: 'proxy',
    image: 'proxy:2',
    ports: [{ containerPort: 5432 }],
    startupProbe: { tcpSocket: { port: 5432 }, periodSeconds: 1 },
    securityContext: { runAsUser: 65_532, readOnlyRootFilesystem: false },
  },
  { name: 'logs', image: 'logs:1', restartPolicy: 'Always', env: [{ name: 'LEVEL', value: 'info' }] },
]);

/** Each matches an object that every consumer has. */
const patches = some([
  {
    kind: 'Deployment',
    operations: [
      { op: 'replace', path: '/spec/revisionHistoryLimit', value: 5 },
      { op: 'add', path: '/spec/template/spec/dnsPolicy', value: 'Default' },
    ],
  },
  { operations: [{ op: 'add', path: '/metadata/labels/patched', value: 'all' }] },
  { kind: 'Service', operations: [{ op: 'add', path: '/spec/sessionAffinity', value: 'ClientIP' }] },
  { kind: 'ConfigMap', operations: [{ op: 'remove', path: '/metadata/labels/app.kubernetes.io~1version' }] },
]);

const extraObjects = some([
  { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'more', labels: { team: 'x' } }, data: { a: 'b' } },
  {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name: 'proxy' },
    spec: { podSelector: { matchLabels: { app: 'proxy' } }, policyTypes: ['Ingress'] },
  },
]);

/** By dotted path: what a user may add in Kubernetes' words; as names go together, some combinations are mistakes. */
export const KUBERNETES_WORDS: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  'pods.volumes': volumes,
  'pods.volumeMounts': volumeMounts,
  'pods.envFrom': envFrom,
  'pods.env': env,
  'pods.dnsConfig': dnsConfig,
  'pods.hostAliases': hostAliases,
  'pods.affinity': affinity,
  'pods.topologySpreadConstraints': topologySpreadConstraints,
  'pods.initContainers': initContainers,
  'pods.sidecars': sidecars,
  patches,
  extraObjects,
};
