import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { App } from 'cdk8s';
import { parse } from 'yaml';
import { ConsumerChart } from '../../charts/consumer-chart.ts';
import { checkConsumerFile } from '../../deployment/check-consumer.ts';
import { MonitoringChart } from '../../monitoring/stream-consumer-monitoring.ts';
import { describeProblems } from '../../settings/schema/problem.ts';
import { podSpecs, restrictedViolations } from '../charts/pod-security.ts';
import { deploymentSpec, type Manifest, only } from '../charts/rendered-consumer.ts';
import { manifestProblems } from '../manifests/manifest-problems.ts';

/** All objects of an example. */
function synthesized(example: string): Manifest[] {
  const checked = checkConsumerFile(parse(readFileSync(`docs/examples/${example}/consumer.yaml`, 'utf8')));
  if (!checked.ok) {
    throw new Error(describeProblems(checked.problems));
  }
  const app = new App();
  const chart = new ConsumerChart(app, 'consumer', { consumer: checked.value });
  const monitoring = new MonitoringChart(app, 'monitoring', { consumer: chart.consumer });
  return [chart, monitoring].flatMap((each) => each.toJson() as Manifest[]);
}

const EXAMPLES = [
  ...['strimzi', 'strimzi-scram', 'confluent-cloud', 'confluent-cloud-oauth', 'apicurio'],
  ...['msk-iam', 'aiven', 'event-hubs'],
];

describe.each(EXAMPLES)('the example for %s', (example) => {
  const objects = synthesized(example);

  test('has only objects that an API server takes, and Pods that are "restricted"', () => {
    expect(objects.flatMap(manifestProblems)).toEqual([]);
    expect(objects.flatMap(podSpecs).flatMap(restrictedViolations)).toEqual([]);
  });

  test('speaks TLS', () => {
    expect(applicationOf(objects).kafka).toMatchObject({ ssl: true });
  });
});

/** application.yml in the ConfigMap. */
function applicationOf(objects: readonly Manifest[]) {
  const { 'application.yml': text = '' } = only(objects, 'ConfigMap')['data'] as Record<string, string>;
  return parse(text) as Readonly<Record<'kafka' | 'schemaRegistry', Readonly<Record<string, unknown>>>>;
}

const volumes = (objects: readonly Manifest[]) => deploymentSpec(objects).template.spec.volumes ?? [];

/** A Secret's keys among the files, as the volume of secrets has them. */
interface Source {
  readonly secret?: {
    readonly name: string;
    readonly items: readonly { readonly key: string; readonly path: string }[];
  };
}

/** The settings of the login at a server that come from a Secret, with its name and the key. */
const login = (objects: readonly Manifest[], server: 'kafka' | 'schemaRegistry' = 'kafka') =>
  volumes(objects)
    .flatMap(({ projected }) => (projected as { readonly sources: readonly Source[] } | undefined)?.sources ?? [])
    .flatMap(({ secret }) => (secret?.items ?? []).map(({ key, path }) => [path, secret?.name, key]))
    .filter(([path]) => path?.startsWith(`${server}/`))
    .toSorted();

/** Ports that the NetworkPolicy lets the Pods reach. */
const portsOf = (objects: readonly Manifest[]) => {
  const { egress } = only(objects, 'NetworkPolicy')['spec'] as {
    readonly egress: readonly { readonly ports: readonly { readonly port: number }[] }[];
  };
  return egress.flatMap(({ ports }) => ports.map(({ port }) => port));
};

const secretVolume = (name: string, secretName: string, ...keys: string[]) => ({
  name,
  secret: { secretName, defaultMode: 0o440, items: keys.map((key) => ({ key, path: key })) },
});

test("Strimzi's consumer trusts the cluster's authority, and shows the certificate of its KafkaUser", () => {
  const objects = synthesized('strimzi');
  expect(volumes(objects)).toEqual(
    expect.arrayContaining([
      secretVolume('kafka-ca', 'events-cluster-ca-cert', 'ca.crt'),
      secretVolume('kafka-certificate', 'orders-consumer', 'user.crt', 'user.key'),
    ]),
  );
  expect(login(objects)).toEqual([]);
  expect(applicationOf(objects).kafka['tls']).toEqual({
    ca: '/etc/stream-consumer-kafka-ca/ca.crt',
    certificate: '/etc/stream-consumer-kafka-tls/user.crt',
    privateKey: '/etc/stream-consumer-kafka-tls/user.key',
  });
});

test("Strimzi's consumer logs in with the password that the user operator made, as the KafkaUser", () => {
  const objects = synthesized('strimzi-scram');
  expect(login(objects)).toContainEqual(['kafka/sasl/password', 'orders-consumer', 'password']);
  expect(applicationOf(objects).kafka['sasl']).toEqual({ mechanism: 'scram-sha-512', username: 'orders-consumer' });
});

test("Confluent Cloud's consumer and KEDA log in with the same API key, by the authorities of Node.js", () => {
  const objects = synthesized('confluent-cloud');
  expect(login(objects)).toEqual([
    ['kafka/sasl/password', 'confluent-cloud', 'password'],
    ['kafka/sasl/username', 'confluent-cloud', 'username'],
  ]);
  expect(only(objects, 'TriggerAuthentication')['spec']).toEqual({
    secretTargetRef: [
      { parameter: 'username', name: 'confluent-cloud', key: 'username' },
      { parameter: 'password', name: 'confluent-cloud', key: 'password' },
    ],
  });
  expect(applicationOf(objects).kafka).not.toHaveProperty('tls');
});

test("Confluent Cloud's consumer logs in at Schema Registry with an API key apart from the cluster's, and reaches both", () => {
  const objects = synthesized('confluent-cloud');
  expect(login(objects, 'schemaRegistry')).toEqual([
    ['schemaRegistry/password', 'confluent-cloud-registry', 'password'],
    ['schemaRegistry/username', 'confluent-cloud-registry', 'username'],
  ]);
  expect(portsOf(objects)).toEqual(expect.arrayContaining([443, 9092]));
});

test("Confluent Cloud's consumer logs in by one client at the brokers and at Schema Registry, each with its pool", () => {
  const objects = synthesized('confluent-cloud-oauth');
  expect(login(objects)).toContainEqual(['kafka/sasl/oauth/clientSecret', 'confluent-cloud', 'clientSecret']);
  expect(login(objects, 'schemaRegistry')).toContainEqual([
    ...['schemaRegistry/oauth/clientSecret', 'confluent-cloud', 'clientSecret'],
  ]);
  const { kafka, schemaRegistry } = applicationOf(objects);
  expect(kafka['sasl']).toMatchObject({ oauth: { extensions: { logicalCluster: 'lkc-00000' } } });
  expect(schemaRegistry['oauth']).toMatchObject({ logicalCluster: 'lsrc-00000', identityPoolId: 'pool-0000' });
});

test("Apicurio's consumer asks its Confluent API, by the authority of its certificate, and reaches it and Keycloak alone", () => {
  const objects = synthesized('apicurio');
  expect(volumes(objects)).toContainEqual(secretVolume('schema-registry-ca', 'apicurio-registry-tls', 'ca.crt'));
  expect(applicationOf(objects).schemaRegistry).toMatchObject({
    url: expect.stringMatching(/\/apis\/ccompat\/v7$/),
    tls: { ca: '/etc/stream-consumer-schema-registry-ca/ca.crt' },
  });
  expect(login(objects, 'schemaRegistry')).toContainEqual([
    ...['schemaRegistry/oauth/clientSecret', 'apicurio', 'clientSecret'],
  ]);
  const to = {
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'apicurio' } },
    podSelector: { matchLabels: { app: 'apicurio-registry' } },
  };
  expect(only(objects, 'NetworkPolicy')['spec']).toMatchObject({
    egress: expect.arrayContaining([
      { to: [to], ports: [{ protocol: 'TCP', port: 8443 }] },
      { ports: [{ protocol: 'TCP', port: 443 }] },
    ]),
  });
});

test("MSK's consumer has the role of its ServiceAccount, no Secret for Kafka, and a way to AWS's STS", () => {
  const objects = synthesized('msk-iam');
  expect(only(objects, 'ServiceAccount')).toMatchObject({
    metadata: { annotations: { 'eks.amazonaws.com/role-arn': 'arn:aws:iam::111122223333:role/orders-consumer' } },
    automountServiceAccountToken: false,
  });
  expect(login(objects)).toEqual([]);
  expect(only(objects, 'NetworkPolicy')['spec']).toMatchObject({
    egress: expect.arrayContaining([
      { ports: [{ protocol: 'TCP', port: 443 }] },
      { ports: [{ protocol: 'TCP', port: 9098 }] },
    ]),
  });
});

test("Aiven's consumer takes authority, certificate and key from the Secret of the ServiceUser", () => {
  expect(volumes(synthesized('aiven'))).toEqual(
    expect.arrayContaining([
      secretVolume('kafka-ca', 'orders-consumer-kafka', 'SERVICEUSER_CA_CERT'),
      secretVolume('kafka-certificate', 'orders-consumer-kafka', 'SERVICEUSER_ACCESS_CERT', 'SERVICEUSER_ACCESS_KEY'),
    ]),
  );
});

test("Event Hubs' consumer logs in by PLAIN at port 9093, both parts from the Secret", () => {
  const objects = synthesized('event-hubs');
  expect(login(objects).map(([name]) => name)).toEqual(['kafka/sasl/password', 'kafka/sasl/username']);
  expect(applicationOf(objects).kafka).toMatchObject({
    brokers: ['NAMESPACE.servicebus.windows.net:9093'],
    sasl: { mechanism: 'plain' },
  });
});
