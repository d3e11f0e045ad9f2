import { expect, test } from '@jest/globals';
import { App } from 'cdk8s';
import { GrafanaChart } from '../../monitoring/dashboards/grafana-files.ts';
import { exampleWorkload } from '../charts/example-consumer.ts';
import { deploymentSpec, type Manifest, renderedConsumer } from '../charts/rendered-consumer.ts';
import { renderedMonitoring } from '../monitoring/rendered-monitoring.ts';

/**
 * What objects are called and how they find their Pods. None of this may change under the same consumer.yaml: a cluster
 * refuses another selector, and an object of another name is a second one beside the first. A changed line here needs
 * an entry in CHANGELOG.md: how a cluster that has the old objects is upgraded.
 */
const NAMES = [
  'v1 Namespace stream-consumer',
  'v1 ServiceAccount stream-consumer/orders-consumer',
  'v1 ConfigMap stream-consumer/orders-consumer-config-HASH',
  'apps/v1 Deployment stream-consumer/orders-consumer',
  'v1 Service stream-consumer/orders-consumer',
  'policy/v1 PodDisruptionBudget stream-consumer/orders-consumer',
  'networking.k8s.io/v1 NetworkPolicy stream-consumer/orders-consumer',
  'keda.sh/v1alpha1 TriggerAuthentication stream-consumer/orders-consumer',
  'keda.sh/v1alpha1 ScaledObject stream-consumer/orders-consumer',
  'autoscaling/v2 HorizontalPodAutoscaler stream-consumer/orders-consumer',
  'v1 ConfigMap stream-consumer/orders-consumer-dashboards',
  'monitoring.coreos.com/v1 ServiceMonitor stream-consumer/orders-consumer',
  'monitoring.coreos.com/v1 PrometheusRule stream-consumer/orders-consumer',
  'monitoring.coreos.com/v1 PodMonitor stream-consumer/orders-consumer',
  'monitoring.coreos.com/v1alpha1 ScrapeConfig stream-consumer/orders-consumer',
];

const SELECTOR = { 'app.kubernetes.io/name': 'stream-consumer', 'app.kubernetes.io/instance': 'orders-consumer' };

const LABELS = {
  ...SELECTOR,
  'app.kubernetes.io/version': 'v7',
  'app.kubernetes.io/component': 'consumer',
  'app.kubernetes.io/part-of': 'stream-consumer',
  'app.kubernetes.io/managed-by': 'cdk8s',
};

const COMMON = {
  image: { tag: 'v7' },
  replicas: 2,
  partitions: 4,
  kafka: { existingSecret: 'brokers' },
  application: { kafka: { sasl: { mechanism: 'plain' } } },
};

const consumer: readonly Manifest[] = [
  ...renderedConsumer({ ...COMMON, scaling: { keda: {} } }),
  ...renderedConsumer({ ...COMMON, scaling: { hpa: { cpuPercent: 80 } } }),
];
const monitoring = (['serviceMonitor', 'podMonitor', 'scrapeConfig'] as const).flatMap((scrape) =>
  renderedMonitoring({ ...COMMON, monitoring: { scrape } }),
);
const grafana: readonly Manifest[] = new GrafanaChart(new App(), 'grafana', {
  workloads: [exampleWorkload(COMMON)],
}).toJson();
const all = [...consumer, ...monitoring, ...grafana];

const identity = ({ apiVersion, kind, metadata: { namespace, name } }: Manifest): string =>
  `${apiVersion} ${kind} ${namespace === undefined ? '' : `${namespace}/`}${name.replace(/-[0-9a-f]{10}$/, '-HASH')}`;

/** How an object finds the consumer's Pods; nothing for one that looks for none. */
function selectorOf({ kind, spec = {} }: Manifest & { readonly spec?: Record<string, unknown> }): unknown {
  const found = (spec['selector'] ?? spec['podSelector']) as Record<string, unknown> | undefined;
  return kind === 'Service' ? found : found?.['matchLabels'];
}

test('the names of all objects are what they have always been', () => {
  expect([...new Set(all.map(identity))].sort()).toEqual([...NAMES].sort());
});

test.each(['Deployment', 'Service', 'PodDisruptionBudget', 'NetworkPolicy', 'ServiceMonitor', 'PodMonitor'])(
  'the selector of the %s is what it has always been',
  (kind) => {
    const selectors = all.filter((manifest) => manifest.kind === kind).map(selectorOf);
    expect(selectors.length).toBeGreaterThan(0);
    expect(selectors).toEqual(selectors.map(() => SELECTOR));
  },
);

test('the labels of all objects and of the Pods are what they have always been', () => {
  for (const { metadata } of [...all, deploymentSpec(renderedConsumer(COMMON)).template]) {
    expect(metadata.labels).toMatchObject(LABELS);
  }
});

test('the names hold for any consumer, from its name alone', () => {
  const renamed = renderedConsumer({ name: 'payments', namespace: { name: 'shop' } }).map(identity);
  const expected = NAMES.map((each) =>
    each.replaceAll('orders-consumer', 'payments').replace(/\bstream-consumer(\/|$)/, 'shop$1'),
  );
  expect(expected).toEqual(expect.arrayContaining(renamed));
});
