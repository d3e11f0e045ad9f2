import { expect, test } from '@jest/globals';
import { checkConsumerFile, withShownPath } from '../../deployment/check-consumer.ts';
import { ConsumerFileSchema } from '../../deployment/consumer-file.ts';
import type { SchemaNode } from '../../settings/schema/schema.ts';
import { canary, randomNumbers } from '../app/configuration/canaries.ts';
import { longTest } from '../integration/stack/long-test.ts';
import { type CheckedDocument, falseMistakes, faultsOfKinds, type Mistake } from '../settings/wrong-kinds.ts';

const RULES = 'monitoring.alerts.rules';

/** Two groups, since not all mistakes can be made together. */
const MISTAKES: readonly (readonly Mistake[])[] = [
  [
    { at: 'image.tag', value: 'latest', problem: 'image.tag moves', needs: ['image.tag'] },
    {
      at: 'resources.limits.memory',
      value: '64Mi',
      problem: 'resources.limits.memory is too small',
      needs: ['resources.limits.memory'],
    },
    {
      at: 'probes.liveness.timeoutSeconds',
      value: 3_000,
      problem: 'probes.liveness.timeoutSeconds is longer',
      needs: ['probes.liveness'],
    },
    {
      at: 'networkPolicy.ingress[1]',
      value: {},
      problem: 'networkPolicy.ingress[1] names nobody',
      needs: [],
    },
    { at: `${RULES}.NoAlert`, value: {}, problem: `${RULES}.NoAlert is no alert`, needs: [] },
    {
      at: 'pods.environment.SERVER_PORT',
      value: '1',
      problem: 'pods.environment.SERVER_PORT is the setting',
      needs: [],
    },
    {
      at: 'pods.tolerations[1]',
      value: { operator: 'Equal' },
      problem: 'pods.tolerations[1].operator compares',
      needs: [],
    },
    {
      at: 'pods.volumes',
      value: [{ name: 'temporary', emptyDir: {} }],
      problem: 'pods.volumes[0].name is the name of a volume',
      needs: ['pods.volumes', 'pods.volumeMounts', 'pods.envFrom', 'pods.initContainers', 'pods.sidecars'],
    },
    {
      at: 'pods.env',
      value: [{ name: 'PGHOST' }],
      problem: 'pods.env[0].name is read by the PostgreSQL client',
      needs: ['pods.env'],
    },
    {
      at: 'pods.labels.constructor',
      value: 'x',
      problem: 'pods.labels.constructor has a name',
      needs: ['pods.labels'],
    },
    {
      at: 'serviceAccount.name',
      value: undefined,
      problem: 'serviceAccount.name is missing',
      needs: ['serviceAccount.create', 'serviceAccount.name'],
    },
    {
      at: 'patches[1]',
      value: { kind: 'Deployment', operations: [{ op: 'add', path: '/a' }] },
      problem: 'patches[1].operations[0].value is missing',
      needs: [],
    },
    {
      at: 'application.server.port',
      value: 0,
      problem: 'application.server.port would be chosen',
      needs: ['application.server', 'application.management'],
    },
    {
      at: 'application.kafka.brokers[1]',
      value: 'b:0',
      problem: 'application.kafka.brokers[1] has a port',
      needs: [],
    },
    {
      at: 'terminationGracePeriodSeconds',
      value: 1,
      problem: 'terminationGracePeriodSeconds is not longer',
      needs: ['terminationGracePeriodSeconds', 'application.shutdown.timeout'],
    },
  ],
  [
    {
      at: 'scaling.keda.maxReplicas',
      value: 9,
      problem: 'scaling.keda.maxReplicas is above the number',
      needs: ['scaling.keda', 'partitions'],
    },
    {
      at: 'rollout.maxUnavailable',
      value: 0,
      problem: 'rollout.maxUnavailable is 0',
      needs: ['rollout'],
    },
    {
      at: 'kafka.tls.ca.existingConfigMap',
      value: 'ca',
      problem: 'kafka.tls.ca names both',
      needs: ['kafka.tls.ca'],
    },
    {
      at: 'kafka.existingSecret',
      value: undefined,
      problem: 'kafka.existingSecret is missing',
      needs: ['kafka.existingSecret', 'application.kafka.sasl'],
    },
    {
      at: 'schemaRegistry.existingSecret',
      value: undefined,
      problem: 'schemaRegistry.existingSecret is missing',
      needs: ['schemaRegistry.existingSecret', 'application.schemaRegistry'],
    },
    {
      at: 'application.formats.other',
      value: 'text',
      problem: 'application.formats.other is the format of a topic',
      needs: ['application.kafka.topics', 'application.tables'],
    },
    {
      at: 'database.owner',
      value: undefined,
      problem: 'database.owner.existingSecret is missing',
      needs: ['database.migrate', 'database.owner'],
    },
    {
      at: 'monitoring.scrape',
      value: 'annotations',
      problem: 'monitoring.scrape has no way',
      needs: ['monitoring.scrape', 'monitoring.credentials'],
    },
    {
      at: 'monitoring.credentials.type',
      value: 'bearer',
      problem: 'application.spring.boot.admin.client.instance.sendCredentials has nothing to send',
      needs: ['monitoring', 'application.spring.boot.admin.client.instance'],
    },
    {
      at: 'application.tables[1].columns.x',
      value: 'a..b',
      problem: 'application.tables[1].columns.x has a dot',
      needs: ['application.tables[1]'],
    },
  ],
];

const secret = canary(randomNumbers(16));

const document: CheckedDocument = {
  schema: ConsumerFileSchema as SchemaNode,
  right: {
    image: { repository: 'registry.example.com/a' },
    partitions: 4,
    scaling: { keda: { maxReplicas: 2 } },
    serviceAccount: { create: false, name: 'default' },
    kafka: {
      existingSecret: 'orders-kafka',
      tls: { ca: { existingSecret: 'kafka-ca' }, clientCertificate: { existingSecret: 'kafka-client' } },
    },
    database: {
      existingSecret: 'orders-database',
      migrate: 'job',
      owner: { existingSecret: 'owner' },
      tls: { ca: { existingConfigMap: 'database-ca' } },
    },
    schemaRegistry: { existingSecret: 'registry', tls: { ca: { existingSecret: 'registry-ca' } } },
    monitoring: {
      credentials: { existingSecret: 'm', type: 'basic' },
      tls: { existingSecret: 't' },
      alerts: { rules: {} },
    },
    pods: { volumes: [], labels: {}, environment: {}, tolerations: [{ operator: 'Exists' }] },
    networkPolicy: { ingress: [{ namespace: 'monitoring' }] },
    patches: [{ kind: 'Deployment', operations: [{ op: 'remove', path: '/a' }] }],
    application: {
      kafka: {
        brokers: ['a:1', 'b:1'],
        topics: ['orders'],
        groupId: 'g',
        ssl: true,
        sasl: { mechanism: 'scram-sha-256' },
      },
      tables: [
        { topic: 'items', table: 's.t', key: 'x', columns: { x: '$key', custom: { from: 'a' } } },
        { topic: 'items', table: 's.u', columns: { x: 'a' } },
      ],
      formats: { orders: 'registry', items: { key: 'registry', value: ['registry', 'json'] } },
      schemaRegistry: { url: ['https://a', 'https://b'], username: 'u' },
      spring: { boot: { admin: { client: { instance: { sendCredentials: true } } } } },
    },
  },
  check: (consumer) => {
    const checked = checkConsumerFile(consumer);
    return checked.ok ? [] : checked.problems.map(withShownPath);
  },
  mistakes: MISTAKES,
  secrets: [secret],
};

test('the consumer.yaml is right, and each mistake is one problem of it', () => {
  expect(falseMistakes(document)).toEqual([]);
});

const HONEST =
  'a wrong kind of value at any place hides and invents no other problem, shows nothing and throws nothing';

test(HONEST, () => expect(faultsOfKinds(document, 23)).toEqual([]));
longTest(`${HONEST}, beside all mistakes`, async () => expect(faultsOfKinds(document)).toEqual([]));
