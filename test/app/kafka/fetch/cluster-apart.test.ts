import { expect, test } from '@jest/globals';
import type { Kafka } from 'kafkajs';
import { clusterApart } from '../../../../app/kafka/fetch/cluster-apart.ts';
import { StubCluster } from './stub-cluster.ts';

test("a cluster is made by the client, and its requests are those of the client's metrics", () => {
  const { cluster } = new StubCluster();
  const answers: unknown[] = [];
  let made: { instrumentationEmitter: { emit(event: string, payload: object): void } } | undefined;
  const kafka = {
    [Symbol('private:Kafka:createCluster')]: (options: typeof made) => {
      made = options;
      return cluster;
    },
  } as unknown as Kafka;
  expect(clusterApart(kafka, { onAnswer: (answer) => answers.push(answer) })).toBe(cluster);
  const payload = { apiName: 'Fetch', duration: 12, size: 345 };
  made?.instrumentationEmitter.emit('network.request_queue_size', payload);
  made?.instrumentationEmitter.emit('network.request', payload);
  expect(answers).toEqual([{ kind: 'Fetch', milliseconds: 12, bytes: 345 }]);
  expect(() => clusterApart({} as Kafka, { onAnswer: () => undefined })).toThrow('createCluster');
});
