import { expect, test } from '@jest/globals';
import { consumerDocument, consumerWorkload, REPLICAS, SECRET } from '../../../dev/cluster/tested-consumer.ts';

const dependencies = { namespace: 'test', broker: '10.0.0.1:19092', databasePort: 15_432, hasOperator: false };

test('the consumer under test is right, and reaches what the test gives it', () => {
  const { file, settings, namespace } = consumerWorkload(consumerDocument(dependencies, 'debug'));
  expect(namespace).toBe('test');
  expect(settings.kafka.brokers).toEqual(['10.0.0.1:19092']);
  expect(file.networkPolicy.egress.database).toEqual([{ ports: [15_432] }]);
  expect(file.replicas).toBe(REPLICAS);
  expect(file.database.existingSecret).toBe(SECRET);
  expect(file.monitoring.customResources).toBe(false);
});
