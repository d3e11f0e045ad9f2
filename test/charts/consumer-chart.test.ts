import { describe, expect, test } from '@jest/globals';
import { managementEndpoint } from '../../contract/actuator.ts';
import { CONTAINER_USER } from '../../contract/container.ts';
import { LIVENESS_PROBE, READINESS_PROBE, STARTUP_PROBE } from '../../contract/probes.ts';
import { exampleConsumer } from './example-consumer.ts';
import { restrictedViolations } from './pod-security.ts';
import { deploymentSpec, only, onlyContainer, renderedConsumer, VERSION } from './rendered-consumer.ts';

const everything = renderedConsumer({ replicas: 2 });
const endpoint = managementEndpoint(exampleConsumer().settings);
const selector = { 'app.kubernetes.io/name': 'stream-consumer', 'app.kubernetes.io/instance': 'orders-consumer' };

const podSpec = (changes: object = {}) => deploymentSpec(renderedConsumer(changes)).template.spec;
const container = (changes: object = {}) => onlyContainer(renderedConsumer(changes));
const environment = (changes: object = {}) =>
  container({ secrets: { as: 'environment' }, ...changes })['env'] as { name: string; value?: string }[];

test('the chart is what it was', () => {
  expect(renderedConsumer({ replicas: 2, image: { tag: '1.2.3' } })).toMatchSnapshot();
});

describe('objects', () => {
  test('all are there, and the budget only from two replicas on', () => {
    const kinds = ['Namespace', 'ServiceAccount', 'ConfigMap', 'Deployment', 'Service'];
    expect(everything.map(({ kind }) => kind)).toEqual([...kinds, 'PodDisruptionBudget', 'NetworkPolicy']);
    expect(renderedConsumer({ replicas: 1 }).map(({ kind }) => kind)).toEqual([...kinds, 'NetworkPolicy']);
  });

  test('the end of a container is told with its last lines', () => {
    expect(container()).toMatchObject({ terminationMessagePolicy: 'FallbackToLogsOnError' });
  });

  test('names are our own, without a hash of cdk8s, and unique', () => {
    const names = everything.map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? ''}/${metadata.name}`);
    expect(new Set(names).size).toBe(names.length);
    expect(names.filter((name) => /-c8[0-9a-f]{6}$/.test(name))).toEqual([]);
    for (const kind of ['ServiceAccount', 'Deployment', 'Service', 'PodDisruptionBudget']) {
      expect(only(everything, kind).metadata.name).toBe('orders-consumer');
    }
  });

  test('no label of cdk8s is anywhere', () => {
    expect(JSON.stringify(everything)).not.toContain('cdk8s.io/');
  });

  test('all six recommended labels are on every object and on the Pods', () => {
    const labels = {
      ...selector,
      'app.kubernetes.io/version': VERSION,
      'app.kubernetes.io/component': 'consumer',
      'app.kubernetes.io/part-of': 'stream-consumer',
      'app.kubernetes.io/managed-by': 'cdk8s',
    };
    for (const { metadata } of [...everything, deploymentSpec(everything).template]) {
      expect(metadata.labels).toMatchObject(labels);
    }
  });

  test('selectors are our own and never hold the version', () => {
    expect(deploymentSpec(everything).selector).toEqual({ matchLabels: selector });
    expect(only(everything, 'Service')['spec']).toEqual(expect.objectContaining({ selector }));
    expect(only(everything, 'PodDisruptionBudget')['spec']).toEqual(
      expect.objectContaining({ selector: { matchLabels: selector } }),
    );
  });

  test('the budget takes one Pod at a time and lets unhealthy ones go', () => {
    expect(only(everything, 'PodDisruptionBudget')['spec']).toMatchObject({
      maxUnavailable: 1,
      unhealthyPodEvictionPolicy: 'AlwaysAllow',
    });
  });

  test('no token is mounted', () => {
    expect(only(everything, 'ServiceAccount')['automountServiceAccountToken']).toBe(false);
    expect(podSpec()).toMatchObject({ automountServiceAccountToken: false, serviceAccountName: 'orders-consumer' });
  });
});

describe('probes', () => {
  const httpGet = { path: '/actuator/health', port: 8080, scheme: 'HTTP' };

  test('both ask the health of the contract, at its port, with its timing', () => {
    expect(endpoint.healthPath).toBe(httpGet.path);
    expect(container()['livenessProbe']).toEqual({ httpGet, ...LIVENESS_PROBE });
    expect(container()['readinessProbe']).toEqual({ httpGet, ...READINESS_PROBE });
  });

  test('groups are asked instead when consumer.yaml says so', () => {
    const { livenessProbe, readinessProbe } = container({ probes: { paths: 'groups' } });
    expect(livenessProbe).toEqual({ httpGet: { ...httpGet, path: endpoint.livenessPath }, ...LIVENESS_PROBE });
    expect(readinessProbe).toEqual({ httpGet: { ...httpGet, path: endpoint.readinessPath }, ...READINESS_PROBE });
  });

  test('their timing is that of consumer.yaml', () => {
    const { livenessProbe, readinessProbe } = container({
      probes: { liveness: { periodSeconds: 60 }, readiness: { failureThreshold: 1 } },
    });
    expect(livenessProbe).toEqual({ httpGet, ...LIVENESS_PROBE, periodSeconds: 60 });
    expect(readinessProbe).toEqual({ httpGet, ...READINESS_PROBE, failureThreshold: 1 });
  });

  test('there is no startup probe unless it is asked for, and then it asks what liveness asks', () => {
    expect(container()).not.toHaveProperty('startupProbe');
    const { startupProbe } = container({ probes: { startup: { failureThreshold: 30 } } });
    expect(startupProbe).toEqual({ httpGet, ...STARTUP_PROBE, failureThreshold: 30 });
    const { startupProbe: ofGroup, livenessProbe } = container({ probes: { paths: 'groups', startup: {} } });
    expect(ofGroup).toMatchObject({ httpGet: (livenessProbe as { httpGet: object }).httpGet });
  });

  test('another server.port moves container, probes, Service and ConfigMap together', () => {
    const moved = renderedConsumer({ application: { server: { port: 9090 } } });
    const { ports, livenessProbe, readinessProbe } = onlyContainer(moved);
    expect(ports).toEqual([{ name: 'management', containerPort: 9090, protocol: 'TCP' }]);
    expect(livenessProbe).toMatchObject({ httpGet: { port: 9090 } });
    expect(readinessProbe).toMatchObject({ httpGet: { port: 9090 } });
    expect(only(moved, 'Service')['spec']).toMatchObject({ ports: [{ port: 9090, targetPort: 'management' }] });
    expect(JSON.stringify(only(moved, 'ConfigMap')['data'])).toContain('port: 9090');
  });
});

describe('Pods', () => {
  test('hold Pod Security "restricted"', () => {
    expect(restrictedViolations(podSpec())).toEqual([]);
  });

  test('run as a numeric user above 10,000 on a root file system they cannot write to', () => {
    expect(CONTAINER_USER.uid).toBeGreaterThan(10_000);
    expect(CONTAINER_USER.gid).toBeGreaterThan(10_000);
    const user = { runAsNonRoot: true, runAsUser: CONTAINER_USER.uid, runAsGroup: CONTAINER_USER.gid };
    expect(podSpec()['securityContext']).toMatchObject(user);
    expect(container()['securityContext']).toMatchObject({ ...user, readOnlyRootFilesystem: true });
  });

  test('have a sized folder for temporary files', () => {
    expect(podSpec()['volumes']).toContainEqual({ name: 'temporary', emptyDir: { sizeLimit: '64Mi' } });
    expect(container()['volumeMounts']).toContainEqual({ name: 'temporary', mountPath: '/tmp' });
  });

  test('prefer different nodes and zones, and start without them', () => {
    const constraints = podSpec()['topologySpreadConstraints'] as { topologyKey: string; whenUnsatisfiable: string }[];
    expect(constraints.map(({ topologyKey }) => topologyKey)).toEqual([
      'kubernetes.io/hostname',
      'topology.kubernetes.io/zone',
    ]);
    expect(constraints.every(({ whenUnsatisfiable }) => whenUnsatisfiable === 'ScheduleAnyway')).toBe(true);
  });

  test('see no service links, and get the grace period of consumer.yaml', () => {
    expect(podSpec()).toMatchObject({ enableServiceLinks: false, terminationGracePeriodSeconds: 40 });
    expect(podSpec({ terminationGracePeriodSeconds: 90 })).toMatchObject({ terminationGracePeriodSeconds: 90 });
  });

  test('are replaced one by one, without one more in between', () => {
    expect(deploymentSpec(everything)).toMatchObject({
      replicas: 2,
      revisionHistoryLimit: 3,
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } },
    });
  });

  test('are replaced with more in between where consumer.yaml has partitions for them', () => {
    const rollout = { maxSurge: 1, maxUnavailable: 0 };
    expect(deploymentSpec(renderedConsumer({ partitions: 2, rollout })).strategy).toEqual({
      type: 'RollingUpdate',
      rollingUpdate: rollout,
    });
  });
});

describe('memory', () => {
  test('request and limit are explicit; the request is the limit unless it is given', () => {
    const storage = { request: '0', limit: '128Mi' };
    expect(container()['resources']).toEqual({
      requests: { cpu: '100m', memory: '512Mi', 'ephemeral-storage': storage.request },
      limits: { cpu: '1', memory: '512Mi', 'ephemeral-storage': storage.limit },
    });
    const resources = { requests: { memory: '768Mi' }, limits: { memory: '1Gi' } };
    expect(container({ resources })['resources']).toMatchObject(resources);
  });

  test.each([
    ['512Mi', 332],
    ['1Gi', 665],
  ])("V8's heap under a limit of %s is %i MiB", (memory, heap) => {
    expect(environment({ resources: { limits: { memory } } })).toContainEqual({
      name: 'NODE_OPTIONS',
      value: `--max-old-space-size=${heap}`,
    });
  });
});

describe('image', () => {
  const digest = `sha256:${'ab'.repeat(32)}`;

  test.each([
    [{}, `localhost/stream-consumer:${VERSION}`],
    [{ repository: 'registry.example.com:5000/team/consumer' }, `registry.example.com:5000/team/consumer:${VERSION}`],
    [{ tag: '9.9.9' }, 'localhost/stream-consumer:9.9.9'],
    [{ tag: '9.9.9', digest }, `localhost/stream-consumer@${digest}`],
  ])('%j is pulled as %s', (image, reference) => {
    expect(container({ image })).toMatchObject({ image: reference, imagePullPolicy: 'IfNotPresent' });
  });

  test('a tag is the version on the labels', () => {
    const { labels } = only(renderedConsumer({ image: { tag: '9.9.9' } }), 'Deployment').metadata;
    expect(labels['app.kubernetes.io/version']).toBe('9.9.9');
  });

  test('pull secrets are named when there are any', () => {
    expect(podSpec()).not.toHaveProperty('imagePullSecrets');
    expect(podSpec({ image: { pullSecrets: ['registry'] } })['imagePullSecrets']).toEqual([{ name: 'registry' }]);
  });
});

describe('secrets as variables', () => {
  const fromSecret = (name: string, key: string, optional?: true) => ({
    secretKeyRef: { name, key, ...(optional === undefined ? {} : { optional }) },
  });

  test("the database's come from the Secret that is named; user and password may be missing there", () => {
    const secret = 'orders-consumer-database';
    expect(environment()).toEqual(
      expect.arrayContaining([
        { name: 'DATABASE_URL', valueFrom: fromSecret(secret, 'url') },
        { name: 'DATABASE_USER', valueFrom: fromSecret(secret, 'user', true) },
        { name: 'DATABASE_PASSWORD', valueFrom: fromSecret(secret, 'password', true) },
      ]),
    );
  });

  test('Secret and keys can have other names', () => {
    const database = { existingSecret: 'pg', keys: { url: 'uri', user: 'username', password: 'pw' } };
    expect(environment({ database })).toEqual(
      expect.arrayContaining([
        { name: 'DATABASE_URL', valueFrom: fromSecret('pg', 'uri') },
        { name: 'DATABASE_USER', valueFrom: fromSecret('pg', 'username', true) },
        { name: 'DATABASE_PASSWORD', valueFrom: fromSecret('pg', 'pw', true) },
      ]),
    );
  });

  test("the brokers' are there only when consumer.yaml names their Secret", () => {
    expect(environment().map(({ name }) => name)).not.toContain('KAFKA_SASL_PASSWORD');
    const changes = {
      kafka: { existingSecret: 'brokers' },
      application: { kafka: { sasl: { mechanism: 'scram-sha-512' } } },
    };
    expect(environment(changes)).toEqual(
      expect.arrayContaining([
        { name: 'KAFKA_SASL_USERNAME', valueFrom: fromSecret('brokers', 'username', true) },
        { name: 'KAFKA_SASL_PASSWORD', valueFrom: fromSecret('brokers', 'password') },
      ]),
    );
  });
});

describe('configuration', () => {
  const configMap = (changes: object = {}) => only(renderedConsumer(changes), 'ConfigMap');

  test('the ConfigMap is immutable and named by a hash of its content', () => {
    expect(configMap()['immutable']).toBe(true);
    expect(configMap().metadata.name).toMatch(/^orders-consumer-config-[0-9a-f]{10}$/);
  });

  test('a changed setting renames it, and the Deployment follows', () => {
    const changes = { application: { logging: { level: 'debug' } } };
    const { name } = configMap(changes).metadata;
    expect(name).not.toBe(configMap().metadata.name);
    expect(podSpec(changes)['volumes']).toContainEqual({ name: 'configuration', configMap: { name } });
  });

  test('what is no setting leaves its name alone', () => {
    const changes = { replicas: 5, resources: { limits: { memory: '1Gi' } } };
    expect(configMap(changes).metadata.name).toBe(configMap().metadata.name);
  });

  test('CONFIG_FILE points into the mount', () => {
    expect(environment()).toContainEqual({ name: 'CONFIG_FILE', value: '/etc/stream-consumer/application.yml' });
    expect(container()['volumeMounts']).toContainEqual({
      name: 'configuration',
      mountPath: '/etc/stream-consumer',
      readOnly: true,
    });
    expect(Object.keys(configMap()['data'] as object)).toEqual(['application.yml']);
  });
});
