import { expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { SERIES_BUDGET } from '../../contract/metrics.ts';
import { prometheusFiles } from '../../monitoring/prometheus-files.ts';
import { exampleWorkload } from '../charts/example-consumer.ts';
import { deploymentSpec, only, renderedConsumer } from '../charts/rendered-consumer.ts';
import { groupsOf, renderedMonitoring } from './rendered-monitoring.ts';

function file(name: string, changes: object = {}): unknown {
  const text = prometheusFiles(exampleWorkload(changes)).get(name);
  if (text === undefined) {
    throw new Error(`no ${name}`);
  }
  return parse(text);
}

test('the files end in .yml, because cdk8s takes every .yaml for a manifest', () => {
  expect([...prometheusFiles(exampleWorkload()).keys()]).toEqual(['rules.yml', 'scrape-pods.yml', 'scrape.yml']);
});

test('the rules are those of the PrometheusRule', () => {
  expect(file('rules.yml')).toEqual({ groups: groupsOf(renderedMonitoring()) });
});

test('the scrape job asks the Service at its port, under the job and namespace that the rules look at', () => {
  const service = only(renderedConsumer(), 'Service');
  const { name, namespace } = service.metadata;
  expect(file('scrape.yml')).toEqual({
    scrape_configs: [
      {
        job_name: name,
        metrics_path: '/actuator/prometheus',
        scheme: 'http',
        scrape_interval: '15s',
        scrape_timeout: '10s',
        sample_limit: 5000,
        label_limit: 33,
        static_configs: [{ targets: [`${name}.${namespace}.svc:8080`], labels: { namespace } }],
      },
    ],
  });
});

test('labels of the settings are no reason to refuse a scrape', () => {
  const tags = { region: 'eu', team: 'orders' };
  expect(file('scrape.yml', { application: { management: { metrics: { tags } } } })).toMatchObject({
    scrape_configs: [{ label_limit: 35 }],
  });
});

test('many topics are no reason to refuse a scrape: the limit is twice what named ones take, or that of templates', () => {
  const tables = (count: number) =>
    Array.from({ length: count }, (_, nth) => ({ topic: `topic-${nth}`, table: `public.table_${nth}` }));
  const limit = (application: object): number => {
    const text = JSON.stringify(file('scrape.yml', { application }));
    return Number(/"sample_limit":(\d+)/.exec(text)?.[1]);
  };
  expect(limit({ tables: tables(5) })).toBe(5_000);
  const [fifty, hundred] = [limit({ tables: tables(50) }), limit({ tables: tables(100) })];
  expect(hundred - fifty).toBe(2 * 50 * (SERIES_BUDGET.perTopic + SERIES_BUDGET.perTable));
  expect(fifty).toBeGreaterThan(5_000);
  expect(limit({ tables: [{ topic: 'shop.{table}', table: 'public.{table}' }] })).toBe(50_000);
  expect(limit({ kafka: { topics: ['shop.{table}'] } })).toBe(50_000);
});

test('another server.port moves the target', () => {
  const scrape = file('scrape.yml', { application: { server: { port: 9090 } } });
  expect(JSON.stringify(scrape)).toContain('"orders-consumer.stream-consumer.svc:9090"');
});

test('targets that consumer.yaml lists stand in place of the Service', () => {
  const staticTargets = ['10.0.0.1:8080', '10.0.0.2:8080'];
  expect(file('scrape.yml', { monitoring: { staticTargets } })).toMatchObject({
    scrape_configs: [{ static_configs: [{ targets: staticTargets, labels: { namespace: 'stream-consumer' } }] }],
  });
});

test('the discovering job keeps one target per Pod, with the labels that the rules look at', () => {
  const { labels } = deploymentSpec(renderedConsumer()).template.metadata;
  const { scrape_configs } = file('scrape-pods.yml') as {
    scrape_configs: [{ kubernetes_sd_configs: [{ selectors: [{ label: string }] }]; relabel_configs: unknown[] }];
  };
  const [job] = scrape_configs;
  expect(job).toMatchObject({
    job_name: 'orders-consumer',
    metrics_path: '/actuator/prometheus',
    kubernetes_sd_configs: [{ role: 'pod', namespaces: { names: ['stream-consumer'] } }],
  });
  expect(job.relabel_configs).toEqual(
    expect.arrayContaining([
      { source_labels: ['__meta_kubernetes_pod_container_port_name'], regex: 'management', action: 'keep' },
      { source_labels: ['__meta_kubernetes_namespace'], target_label: 'namespace', action: 'replace' },
      { target_label: 'job', replacement: 'orders-consumer', action: 'replace' },
    ]),
  );
  const [{ selectors }] = job.kubernetes_sd_configs;
  for (const pair of selectors[0].label.split(',')) {
    const [label = '', value] = pair.split('=');
    expect(labels[label]).toBe(value);
  }
});

test('where annotations say what to scrape there is no job beside them', () => {
  const files = prometheusFiles(exampleWorkload({ monitoring: { scrape: 'annotations' } }));
  expect([...files.keys()]).toEqual(['rules.yml']);
});
