import { connect } from 'node:net';
import type { Kafka, KafkaConfig } from 'kafkajs';
import type { Cluster } from '../../../../app/kafka/kafkajs/classes.ts';
import { createCluster } from '../../../../app/kafka/kafkajs/internals.ts';
import { loadKafkajs } from '../../../../app/kafka/kafkajs/patches.ts';

/** kafkajs's own client, with all patches, that gives up a request after some milliseconds. */
export function clientOf(broker: { readonly address: string }, config: Partial<KafkaConfig> = {}): Kafka {
  const { Kafka, logLevel } = loadKafkajs();
  return new Kafka({
    brokers: [broker.address],
    clientId: 'test',
    logLevel: logLevel.NOTHING,
    retry: { retries: 2, initialRetryTime: 1, maxRetryTime: 5 },
    socketFactory: ({ host, port, onConnect }) => connect({ host, port }, onConnect),
    ...config,
  });
}

/** kafkajs's own cluster, which knows the metadata of the topics. */
export async function clusterOf(
  broker: { readonly address: string },
  topics: readonly string[] = [],
  prepare: (cluster: Cluster) => void = () => undefined,
): Promise<Cluster> {
  const cluster = createCluster(clientOf(broker), { metadataMaxAge: 300_000, allowAutoTopicCreation: false });
  prepare(cluster);
  await cluster.connect();
  await cluster.addMultipleTargetTopics(topics);
  return cluster;
}
