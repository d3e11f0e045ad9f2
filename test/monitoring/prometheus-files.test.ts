import { expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { prometheusFiles } from '../../monitoring/prometheus-files.ts';
import { exampleWorkload } from '../charts/example-consumer.ts';
import { only, renderedConsumer } from '../charts/rendered-consumer.ts';
import { groupsOf, renderedMonitoring } from './rendered-monitoring.ts';

function file(name: string, changes: object = {}): unknown {
  const text = prometheusFiles(exampleWorkload(changes)).get(name);
  if (text === undefined) {
    throw new Error(`no ${name}`);
  }
  return parse(text);
}

test('the files end in .yml, because cdk8s takes every .yaml for a manifest', () => {
  expect([...prometheusFiles(exampleWorkload()).keys()]).toEqual(['rules.yml', 'scrape.yml']);
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
        static_configs: [{ targets: [`${name}.${namespace}.svc:8080`], labels: { namespace } }],
      },
    ],
  });
});

test('another server.port moves the target', () => {
  const scrape = file('scrape.yml', { application: { server: { port: 9090 } } });
  expect(JSON.stringify(scrape)).toContain('"orders-consumer.stream-consumer.svc:9090"');
});
