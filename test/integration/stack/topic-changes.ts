import type { Admin } from 'kafkajs';
import { createTopicWithLeaders } from '../../../dev/stack/topic.ts';
import { type AtBroker, kafkaClient } from './kafka-client.ts';

/** Makes an empty topic with a name that is given. @param options.partitions @default 1 */
export async function createNamedTopic(
  topic: string,
  options: AtBroker & { readonly partitions?: number } = {},
): Promise<void> {
  const config = { topic, numPartitions: options.partitions ?? 1 };
  await withAdmin(options, (admin) => createTopicWithLeaders(admin, config));
}

/** Deletes a topic with all its records. */
export const deleteTopic = (topic: string, options: AtBroker = {}): Promise<void> =>
  withAdmin(options, (admin) => admin.deleteTopics({ topics: [topic] }));

/** Gives a topic more partitions: `count` in all. */
export async function growTopic(topic: string, count: number, options: AtBroker = {}): Promise<void> {
  await withAdmin(options, (admin) => admin.createPartitions({ topicPartitions: [{ topic, count }] }));
}

async function withAdmin<T>(options: AtBroker, work: (admin: Admin) => Promise<T>): Promise<T> {
  const admin = kafkaClient(options).admin();
  await admin.connect();
  try {
    return await work(admin);
  } finally {
    await admin.disconnect();
  }
}
