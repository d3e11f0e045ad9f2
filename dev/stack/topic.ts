import { setTimeout as delay } from 'node:timers/promises';
import type { Admin, ITopicConfig, Kafka } from 'kafkajs';

const POLL_MS = 50;
/** A broker that makes a thousand logs beside other work takes more than half a minute. */
const LEADERS_TIMEOUT_MS = { least: 30_000, perPartition: 100 } as const;
/** kafkajs gives a busy controller 5 s. */
export const ADMIN_TIMEOUT_MS = 30_000;

/**
 * The metadata may name a leader that does not know of it yet and refuses requests: only answers of all leaders count.
 */
async function haveLeadersAnswered(admin: Admin, topic: string, partitions: number): Promise<boolean> {
  const { length } = await admin.fetchTopicOffsets(topic);
  if (length < partitions) {
    throw new Error(`the broker knows ${length} of the ${partitions} partitions of ${topic}`);
  }
  return true;
}

const falseUntil = (deadline: number) => (error: unknown) => {
  if (Date.now() > deadline) {
    throw error;
  }
  return false;
};

/**
 * Creates a topic and waits until the leader of each partition answers. kafkajs's own wait fails where a busy broker
 * does not know the topic at once, and it ends before the leaders know that they lead.
 *
 * @param config `numPartitions` left out: 1
 * @throws Error the last answer, when 30 s, and 0.1 s more for each partition, were not enough.
 */
export async function createTopicWithLeaders(admin: Admin, config: ITopicConfig): Promise<void> {
  await admin.createTopics({ topics: [config], waitForLeaders: false, timeout: ADMIN_TIMEOUT_MS });
  const { topic, numPartitions = 1 } = config;
  const deadline = Date.now() + LEADERS_TIMEOUT_MS.least + numPartitions * LEADERS_TIMEOUT_MS.perPartition;
  while (!(await haveLeadersAnswered(admin, topic, numPartitions).catch(falseUntil(deadline)))) {
    await delay(POLL_MS);
  }
}

/**
 * Creates the topic when it is absent.
 *
 * @returns its number of partitions, which may be another one than asked for when the topic existed before.
 */
export async function ensureTopic(kafka: Kafka, topic: string, partitions: number): Promise<number> {
  const admin = kafka.admin();
  await admin.connect();
  try {
    const existing = await admin.listTopics();
    if (!existing.includes(topic)) {
      const replicationFactor = -1;
      await createTopicWithLeaders(admin, { topic, numPartitions: partitions, replicationFactor });
    }
    const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
    return topics[0]?.partitions.length ?? partitions;
  } finally {
    await admin.disconnect();
  }
}
