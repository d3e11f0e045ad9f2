import { expect, test } from '@jest/globals';
import { App, Chart, JsonPatch } from 'cdk8s';
import {
  InvalidConsumerError,
  StreamConsumer,
  StreamConsumerMonitoring,
  type StreamConsumerProps,
} from '../../index.ts';
import { consumerDocument } from '../charts/example-consumer.ts';
import { renderedMonitoring } from './rendered-monitoring.ts';

const propsOf = (changes: object = {}) => consumerDocument(changes) as StreamConsumerProps;

test('a StreamConsumerMonitoring watches the consumer that it is given, from any chart', () => {
  const app = new App();
  const consumer = new StreamConsumer(new Chart(app, 'consumer'), 'orders', propsOf());
  const chart = new Chart(app, 'monitoring');
  new StreamConsumerMonitoring(chart, 'orders', { consumer });
  expect(chart.toJson()).toEqual(renderedMonitoring());
});

test('it refuses props that no StreamConsumer would take, and names itself', () => {
  const document = propsOf({ replicas: -1 });
  const watch = () =>
    new StreamConsumerMonitoring(new Chart(new App(), 'theirs'), 'watched', { consumer: { workload: { document } } });
  expect(watch).toThrow(InvalidConsumerError);
  expect(watch).toThrow('StreamConsumerMonitoring theirs/watched: 1 problem in the props\nreplicas ');
});

test('its objects can be patched', () => {
  const chart = new Chart(new App(), 'theirs');
  const consumer = new StreamConsumer(chart, 'orders', propsOf());
  const { scrape, prometheusRule } = new StreamConsumerMonitoring(chart, 'watched', { consumer });
  scrape?.addJsonPatch(JsonPatch.add('/spec/jobLabel', 'app'));
  prometheusRule.metadata.addLabel('team', 'orders');
  expect(scrape?.toJson()).toMatchObject({ spec: { jobLabel: 'app' } });
  expect(prometheusRule.toJson()).toMatchObject({ metadata: { labels: { team: 'orders' } } });
});
