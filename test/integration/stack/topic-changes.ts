import type { Admin } from 'kafkajs';
import { ADMIN_TIMEOUT_MS, createTopicWithLeaders } from '../../../dev/stack/topic.ts';
import { type AtBroker, kafkaClient } from './kafka-client.ts';
import { until } from './until.ts';

type NewTopic = AtBroker & { readonly partitions?: number };

/** Makes an empty topic with a name that is given. @param options.partitions @default 1 */
export async function createNamedTopic(topic: string, options: NewTopic = {}): Promise<void> {
  const config = { topic, numPartitions: options.partitions ?? 1 };
  await withAdmin(options, (admin) => createTopicWithLeaders(admin, config));
}

/** Deletes a topic with all its records. */
export const deleteTopic = (topic: string, options: AtBroker = {}): Promise<void> =>
  withAdmin(options, (admin) => admin.deleteTopics({ topics: [topic], timeout: ADMIN_TIMEOUT_MS }));

/**
 * Deletes a topic that has records in each partition, and makes an empty one of its name. A broker that has not heard of
 * the deletion yet takes records into the old topic: the new one is there when each of its logs is told to end at 0.
 *
 * @param options.partitions @default 1
 */
export async function recreateTopic(topic: string, options: NewTopic = {}): Promise<void> {
  await deleteTopic(topic, options);
  await until(`the new topic ${topic}`, async () => {
    await createNamedTopic(topic, options);
    return true;
  });
  await withAdmin(options, (admin) =>
    until(`the empty logs of ${topic}`, async () => {
      const ends = await admin.fetchTopicOffsets(topic);
      return ends.every(({ high }) => high === '0') ? true : undefined;
    }),
  );
}

/** Gives a topic more partitions: `count` in all. */
export async function growTopic(topic: string, count: number, options: AtBroker = {}): Promise<void> {
  await withAdmin(options, async (admin) => {
    await admin.createPartitions({ topicPartitions: [{ topic, count }], timeout: ADMIN_TIMEOUT_MS });
    // A producer sends nothing to a partition that the broker does not tell of, and no error.
    await until(`${count} partitions of ${topic}`, async () => {
      const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
      return topics[0]?.partitions.length === count ? true : undefined;
    });
  });
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
