import { expect, test } from '@jest/globals';
import { App } from 'cdk8s';
import { ConsumerChart } from '../../charts/consumer-chart.ts';
import { consumerOfProps, withoutNamespace } from '../../deployment/check-consumer.ts';
import { consumerDocument, exampleConsumer } from '../charts/example-consumer.ts';

test('props that were found right are not checked again', () => {
  const first = consumerOfProps('StreamConsumer a', consumerDocument());
  expect(consumerOfProps('StreamConsumer b', first.document)).toBe(first);
});

test('a chart takes the consumer.yaml that synth has checked as it is', () => {
  const consumer = exampleConsumer();
  expect(new ConsumerChart(new App(), 'consumer', { consumer }).consumer.workload.document).toBe(consumer.document);
});

test('a consumer whose Namespace is in another file is not checked again either', () => {
  const consumer = withoutNamespace(exampleConsumer());
  expect(consumerOfProps('StreamConsumer a', consumer.document)).toBe(consumer);
  expect(consumer).toMatchObject({
    document: { namespace: { create: false } },
    file: { namespace: { create: false } },
  });
});

test('what was found right cannot be made wrong', () => {
  const { document } = exampleConsumer();
  expect(() => Object.assign(document, { replicas: -1 })).toThrow(TypeError);
  expect(() => Object.assign(document.application.kafka, { topics: [] })).toThrow(TypeError);
});

test('props that only look the same are checked for themselves', () => {
  const props = consumerDocument() as object;
  const first = consumerOfProps('StreamConsumer a', props);
  Object.assign(props, { replicas: -1 });
  expect(() => consumerOfProps('StreamConsumer b', props)).toThrow('replicas');
  expect(() => consumerOfProps('StreamConsumer c', { ...first.document, replicas: -1 })).toThrow('replicas');
});
