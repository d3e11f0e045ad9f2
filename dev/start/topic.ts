import type { Kafka } from 'kafkajs';

/**
 * Makes the topic when it is absent.
 *
 * @returns how many partitions it has, which for a topic that was there may be others than wanted.
 */
export async function ensureTopic(kafka: Kafka, topic: string, partitions: number): Promise<number> {
  const admin = kafka.admin();
  await admin.connect();
  try {
    const existing = await admin.listTopics();
    if (!existing.includes(topic)) {
      const replicationFactor = -1;
      await admin.createTopics({
        waitForLeaders: true,
        topics: [{ topic, numPartitions: partitions, replicationFactor }],
      });
    }
    const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
    return topics[0]?.partitions.length ?? partitions;
  } finally {
    await admin.disconnect();
  }
}
