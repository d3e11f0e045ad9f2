import { describe, expect, test } from '@jest/globals';
import { checkConsumerFile } from '../../deployment/check-consumer.ts';
import { consumerDocument } from '../charts/example-consumer.ts';
import { deploymentSpec, only, onlyContainer, renderedConsumer } from '../charts/rendered-consumer.ts';
import { groupsOf, renderedMonitoring } from './rendered-monitoring.ts';

const scrapedBy = (scrape: string, more: object = {}) => renderedMonitoring({ monitoring: { scrape, ...more } });
const { labels } = deploymentSpec(renderedConsumer()).template.metadata;

/** The label matchers of the rules' expressions. */
/** Labels that select the consumer's series; those of a metric's own are left out. */
const selectedLabels = (scrape: string, more: object = {}) => {
  const expressions = groupsOf(scrapedBy(scrape, more)).flatMap(({ rules }) => rules.map(({ expr }) => expr));
  const selected = expressions.flatMap((expr) => [...expr.matchAll(/\{([^}]*)\}/g)].map(([, found]) => found ?? ''));
  return new Set(selected.map((labels) => labels.replace(/,(outcome|le)=.*$/, '')));
};

const everything = renderedMonitoring();
const serviceMonitor = only(everything, 'ServiceMonitor');

const OWN_JOB = 'namespace="stream-consumer",job="orders-consumer"';
const setsJobLabel = expect.objectContaining({ targetLabel: 'job', replacement: 'orders-consumer' });

test('the chart is what it was', () => {
  expect(renderedMonitoring({ image: { tag: '1.2.3' } })).toMatchSnapshot();
});

describe('custom resources', () => {
  test('carry the labels that an operator selects by', () => {
    const labels = { release: 'kube-prometheus-stack' };
    for (const { metadata } of renderedMonitoring({ monitoring: { labels } })) {
      expect(metadata.labels).toMatchObject({ ...labels, 'app.kubernetes.io/instance': 'orders-consumer' });
    }
  });

  test('are named like the consumer, in its namespace, without a label of cdk8s', () => {
    for (const { metadata } of everything) {
      expect(metadata).toMatchObject({ name: 'orders-consumer', namespace: 'stream-consumer' });
    }
    expect(JSON.stringify(everything)).not.toContain('cdk8s.io/');
  });
});

describe('the ServiceMonitor', () => {
  test('finds the Service by labels that it has, and its port by a name that it has', () => {
    const service = only(renderedConsumer(), 'Service');
    const { selector, endpoints } = serviceMonitor['spec'] as {
      selector: { matchLabels: Record<string, string> };
      endpoints: { port: string; path: string; interval: string; scrapeTimeout: string }[];
    };
    expect(service.metadata.labels).toMatchObject(selector.matchLabels);
    expect(service['spec']).toMatchObject({ ports: [{ name: endpoints[0]?.port }] });
    expect(endpoints).toEqual([
      { port: 'management', path: '/actuator/prometheus', scheme: 'http', interval: '15s', scrapeTimeout: '10s' },
    ]);
  });

  test('gives a scrape up before the next one is due', () => {
    const often = only(renderedMonitoring({ monitoring: { scrapeIntervalSeconds: 5 } }), 'ServiceMonitor');
    expect(often['spec']).toMatchObject({ endpoints: [{ interval: '5s', scrapeTimeout: '3s' }] });
  });
});

test('the ways of scraping are what they were', () => {
  const changes = { image: { tag: '1.2.3' } };
  const objects = ['podMonitor', 'scrapeConfig'].map(
    (scrape) => renderedMonitoring({ ...changes, monitoring: { scrape } })[0],
  );
  expect(objects).toMatchSnapshot();
});

test.each([
  ['serviceMonitor', ['ServiceMonitor', 'PrometheusRule']],
  ['podMonitor', ['PodMonitor', 'PrometheusRule']],
  ['scrapeConfig', ['ScrapeConfig', 'PrometheusRule']],
  ['annotations', ['PrometheusRule']],
  ['none', ['PrometheusRule']],
])('%s makes %j', (scrape, kinds) => {
  expect(scrapedBy(scrape).map(({ kind }) => kind)).toEqual(kinds);
});

test.each(['serviceMonitor', 'podMonitor', 'scrapeConfig', 'none'])(
  'with %s the rules look at our own job',
  (scrape) => {
    expect(selectedLabels(scrape)).toEqual(new Set([OWN_JOB]));
  },
);

describe('a PodMonitor', () => {
  const { selector, podMetricsEndpoints } = only(scrapedBy('podMonitor'), 'PodMonitor')['spec'] as {
    readonly selector: { readonly matchLabels: object };
    readonly podMetricsEndpoints: readonly { readonly port: string }[];
  };

  test('finds the Pods by labels that they have, and a port by a name that it has', () => {
    expect(labels).toMatchObject(selector.matchLabels);
    expect(onlyContainer(renderedConsumer())['ports']).toMatchObject([{ name: podMetricsEndpoints[0]?.port }]);
  });

  test('scrapes the path of the contract under our own job, which would be namespace/name', () => {
    expect(podMetricsEndpoints).toMatchObject([
      {
        path: '/actuator/prometheus',
        scheme: 'http',
        interval: '15s',
        scrapeTimeout: '10s',
        relabelings: [setsJobLabel],
      },
    ]);
  });
});

describe('a ScrapeConfig', () => {
  const spec = only(scrapedBy('scrapeConfig'), 'ScrapeConfig')['spec'];

  test('looks for the Pods in the namespace, by labels that they have', () => {
    const label = 'app.kubernetes.io/name=stream-consumer,app.kubernetes.io/instance=orders-consumer';
    expect(spec).toMatchObject({
      kubernetesSDConfigs: [
        { role: 'Pod', namespaces: { names: ['stream-consumer'] }, selectors: [{ role: 'Pod', label }] },
      ],
    });
    expect(labels).toMatchObject(Object.fromEntries(label.split(',').map((pair) => pair.split('='))));
  });

  test('scrapes the path of the contract under our own job and namespace', () => {
    expect(spec).toMatchObject({
      metricsPath: '/actuator/prometheus',
      scheme: 'HTTP',
      relabelings: expect.arrayContaining([setsJobLabel, expect.objectContaining({ targetLabel: 'namespace' })]),
    });
  });
});

describe('annotations', () => {
  const annotations = (changes: object = {}) =>
    (deploymentSpec(renderedConsumer(changes)).template.metadata as { annotations?: object }).annotations;

  test('say where to ask', () => {
    expect(annotations({ monitoring: { scrape: 'annotations' }, application: { server: { port: 9090 } } })).toEqual({
      'prometheus.io/scrape': 'true',
      'prometheus.io/scheme': 'http',
      'prometheus.io/port': '9090',
      'prometheus.io/path': '/actuator/prometheus',
    });
  });

  test('are not there with any other way, so that nothing is scraped twice', () => {
    expect(annotations()).toBeUndefined();
  });

  test("make the rules look at Prometheus' own job, and at the label that it copies from the Pods", () => {
    const own = 'namespace="stream-consumer",job="kubernetes-pods",app_kubernetes_io_instance="orders-consumer"';
    expect(selectedLabels('annotations')).toEqual(new Set([own]));
    expect(labels['app.kubernetes.io/instance']).toBe('orders-consumer');
    expect([...selectedLabels('annotations', { annotationJob: 'pods' })][0]).toContain('job="pods"');
  });

  test('are refused together with a credential, which they have no word for', () => {
    const credentials = { existingSecret: 'actuator', type: 'bearer' };
    const checked = checkConsumerFile(consumerDocument({ monitoring: { scrape: 'annotations', credentials } }));
    expect(checked.ok ? [] : checked.problems.map(({ path }) => path)).toEqual(['monitoring.scrape']);
  });
});
