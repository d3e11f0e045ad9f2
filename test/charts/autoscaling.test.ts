import { describe, expect, test } from '@jest/globals';
import { checkConsumerFile } from '../../deployment/check-consumer.ts';
import { consumerDocument } from './example-consumer.ts';
import { deploymentSpec, only, renderedConsumer } from './rendered-consumer.ts';

const withKeda = (keda: object = {}, more: object = {}) =>
  renderedConsumer({ partitions: 12, scaling: { keda }, ...more });
const withHpa = (hpa: object = { cpuPercent: 75 }) => renderedConsumer({ partitions: 12, scaling: { hpa } });
const scaledObject = (keda: object = {}, more: object = {}) =>
  only(withKeda(keda, more), 'ScaledObject')['spec'] as Record<string, unknown> & {
    readonly triggers: readonly {
      readonly useCachedMetrics?: boolean;
      readonly metadata: Readonly<Record<string, string>>;
    }[];
  };
const hpa = (settings?: object) => only(withHpa(settings), 'HorizontalPodAutoscaler')['spec'];

const SLOW = {
  scaleUp: { stabilizationWindowSeconds: 60, selectPolicy: 'Max' },
  scaleDown: {
    stabilizationWindowSeconds: 600,
    selectPolicy: 'Max',
    policies: [{ type: 'Pods', value: 1, periodSeconds: 300 }],
  },
};

test('the autoscalers are what they were', () => {
  const sasl = { mechanism: 'scram-sha-512' };
  const secured = { kafka: { existingSecret: 'brokers' }, application: { kafka: { sasl, ssl: true } } };
  const objects = [...withKeda({}, secured), ...withHpa()];
  const kinds = ['ScaledObject', 'TriggerAuthentication', 'HorizontalPodAutoscaler'];
  expect(objects.filter(({ kind }) => kinds.includes(kind))).toMatchSnapshot();
});

describe('without an autoscaler', () => {
  test('replicas counts', () => {
    const objects = renderedConsumer({ replicas: 3, partitions: 12 });
    expect(deploymentSpec(objects).replicas).toBe(3);
    const kinds = objects.map(({ kind }) => kind);
    expect(kinds).not.toContain('ScaledObject');
    expect(kinds).not.toContain('HorizontalPodAutoscaler');
  });
});

describe('with either', () => {
  test.each([
    ['KEDA', withKeda()],
    ['an HPA', withHpa()],
  ])('%s the Deployment has no number of replicas, and there is a budget for more than one Pod', (_, objects) => {
    expect(deploymentSpec(objects)).not.toHaveProperty('replicas');
    expect(only(objects, 'PodDisruptionBudget')['spec']).toMatchObject({ maxUnavailable: 1 });
  });
});

describe('the ScaledObject', () => {
  test('is for the Deployment, from one Pod up to one per partition, unless it says otherwise', () => {
    expect(scaledObject()).toMatchObject({
      scaleTargetRef: { name: 'orders-consumer' },
      minReplicaCount: 1,
      maxReplicaCount: 12,
      pollingInterval: 30,
      cooldownPeriod: 300,
    });
    expect(scaledObject({ minReplicas: 2, maxReplicas: 6 })).toMatchObject({ minReplicaCount: 2, maxReplicaCount: 6 });
  });

  test("asks for a Pod more for each 10,000 records, unless it says otherwise: a tenth of a second's work", () => {
    expect(scaledObject().triggers[0]?.metadata['lagThreshold']).toBe('10000');
    expect(scaledObject({ lagPerReplica: 1_000 }).triggers[0]?.metadata['lagThreshold']).toBe('1000');
  });

  test("asks for the group's lag at the topics of tables as well, at each once", () => {
    const tables = [
      { topic: ['orders', 'bills'], table: 'public.bills' },
      { topic: 'customers', table: 'public.customers' },
    ];
    const topics = ({ triggers }: ReturnType<typeof scaledObject>) => triggers.map(({ metadata }) => metadata['topic']);
    expect(topics(scaledObject({}, { application: { tables } }))).toEqual(['orders', 'bills', 'customers']);
    expect(topics(scaledObject({}, { application: { kafka: { topics: null }, tables } }))).toHaveLength(3);
  });

  test("asks for the group's lag at all topics once where templates take some, beside those that are named", () => {
    const application = {
      kafka: { topics: ['orders', 'log.{any}'] },
      tables: [{ topic: 'shop.{schema}.{table}', table: '{schema}.{table}' }],
    };
    const { triggers } = scaledObject({}, { application });
    expect(triggers.map(({ metadata }) => metadata)).toEqual([
      expect.objectContaining({ topic: 'orders' }),
      expect.not.objectContaining({ topic: expect.anything() }),
    ]);
  });

  test('leaves out the lag of partitions that stand still where templates take topics, which may wait, and nowhere else', () => {
    const tables = [{ topic: 'shop.{schema}.{table}', table: '{schema}.{table}' }];
    const { triggers } = scaledObject({}, { application: { tables } });
    const shown = triggers.map(({ useCachedMetrics, metadata: { topic, excludePersistentLag } }) => ({
      ...{ topic, excludePersistentLag, useCachedMetrics },
    }));
    expect(shown).toEqual([{ topic: 'orders' }, { excludePersistentLag: 'true', useCachedMetrics: true }]);
    expect(JSON.stringify(scaledObject())).not.toMatch(/excludePersistentLag|useCachedMetrics/);
  });

  test("asks for the group's lag at each topic, since without a topic a group that never committed has none", () => {
    const { triggers } = scaledObject(
      { lagPerReplica: 500 },
      { application: { kafka: { topics: ['orders', 'bills'] } } },
    );
    expect(triggers.map(({ metadata }) => metadata['topic'])).toEqual(['orders', 'bills']);
    expect(triggers[0]).toMatchObject({
      type: 'kafka',
      metadata: {
        bootstrapServers: 'kafka:9092',
        consumerGroup: 'orders-consumer',
        lagThreshold: '500',
        offsetResetPolicy: 'earliest',
        allowIdleConsumers: 'false',
        tls: 'disable',
        sasl: 'none',
      },
    });
  });

  test('counts from where the consumer would start', () => {
    const application = { consumer: { startFrom: 'latest' } };
    expect(scaledObject({}, { application }).triggers[0]?.metadata['offsetResetPolicy']).toBe('latest');
  });

  test('takes Pods away one at a time and late, since each moves partitions', () => {
    expect(scaledObject()).toMatchObject({ advanced: { horizontalPodAutoscalerConfig: { behavior: SLOW } } });
  });

  test('falls back to replicas, within its limits, where the lag cannot be seen', () => {
    expect(scaledObject({}, { replicas: 3 })).toMatchObject({ fallback: { failureThreshold: 3, replicas: 3 } });
    expect(scaledObject({ maxReplicas: 2 }, { replicas: 3 })).toMatchObject({ fallback: { replicas: 2 } });
  });

  test("logs in with the consumer's own Secret", () => {
    const kafka = { existingSecret: 'brokers', keys: { username: 'user' } };
    const application = { kafka: { ssl: true, sasl: { mechanism: 'scram-sha-256' } } };
    const objects = withKeda({}, { kafka, application });
    const { name } = only(objects, 'TriggerAuthentication').metadata;
    expect(only(objects, 'TriggerAuthentication')['spec']).toEqual({
      secretTargetRef: [
        { parameter: 'username', name: 'brokers', key: 'user' },
        { parameter: 'password', name: 'brokers', key: 'password' },
      ],
    });
    expect(only(objects, 'ScaledObject')['spec']).toMatchObject({
      triggers: [{ authenticationRef: { name }, metadata: { tls: 'enable', sasl: 'scram_sha256' } }],
    });
  });

  test('logs in nowhere where the brokers ask for nothing', () => {
    expect(withKeda().map(({ kind }) => kind)).not.toContain('TriggerAuthentication');
    expect(scaledObject().triggers[0]).not.toHaveProperty('authenticationRef');
  });
});

describe('the HorizontalPodAutoscaler', () => {
  test('is for the Deployment, with its limits and its patience', () => {
    expect(hpa()).toMatchObject({
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'orders-consumer' },
      minReplicas: 1,
      maxReplicas: 12,
      behavior: SLOW,
    });
  });

  test('aims at CPU, memory or a metric from outside', () => {
    const external = { metric: 'kafka_lag', labels: { topic: 'orders' }, averageValue: 1000 };
    const utilization = (name: string, averageUtilization: number) => ({
      type: 'Resource',
      resource: { name, target: { type: 'Utilization', averageUtilization } },
    });
    expect(hpa({ cpuPercent: 75, memoryPercent: 90, external })).toMatchObject({
      metrics: [
        utilization('cpu', 75),
        utilization('memory', 90),
        {
          type: 'External',
          external: {
            metric: { name: 'kafka_lag', selector: { matchLabels: { topic: 'orders' } } },
            target: { type: 'AverageValue', averageValue: '1000' },
          },
        },
      ],
    });
  });
});

describe('a wrong autoscaler', () => {
  const hpaByCpu = { cpuPercent: 75 };

  test.each<[string, object, string]>([
    ['beside another', { partitions: 12, scaling: { keda: {}, hpa: hpaByCpu } }, 'scaling'],
    ['without partitions', { scaling: { keda: {} } }, 'partitions'],
    ['above the partitions', { partitions: 3, scaling: { keda: { maxReplicas: 4 } } }, 'scaling.keda.maxReplicas'],
    [
      'from more than to',
      { partitions: 9, scaling: { hpa: { ...hpaByCpu, minReplicas: 5, maxReplicas: 4 } } },
      'scaling.hpa.minReplicas',
    ],
    ...['a/b', '..', '%'].map((metric): [string, object, string] => [
      `by a metric that Kubernetes cannot name, ${metric}`,
      { partitions: 3, scaling: { hpa: { external: { metric, averageValue: 1 } } } },
      'scaling.hpa.external.metric',
    ]),
    ['by nothing', { partitions: 3, scaling: { hpa: {} } }, 'scaling.hpa'],
    [
      'with surge beyond the partitions',
      { partitions: 3, rollout: { maxSurge: 1 }, scaling: { keda: {} } },
      'rollout.maxSurge',
    ],
    [
      'whose user KEDA cannot see',
      {
        partitions: 3,
        scaling: { keda: {} },
        kafka: { existingSecret: 'brokers' },
        application: { kafka: { sasl: { mechanism: 'plain', username: 'reader' } } },
      },
      'application.kafka.sasl.username',
    ],
    [
      'that would log in at MSK',
      {
        partitions: 3,
        scaling: { keda: {} },
        application: { kafka: { ssl: true, sasl: { mechanism: 'aws-msk-iam' } } },
      },
      'scaling.keda',
    ],
    [
      'that would log in by a token',
      {
        partitions: 3,
        scaling: { keda: {} },
        application: { kafka: { sasl: { mechanism: 'oauthbearer', oauth: { tokenFile: '/var/run/token' } } } },
      },
      'scaling.keda',
    ],
  ])('%s is refused', (_, changes, path) => {
    const checked = checkConsumerFile(consumerDocument(changes));
    expect(checked.ok ? [] : checked.problems.map((problem) => problem.path)).toEqual([path]);
  });
});
