import { setTimeout as delay } from 'node:timers/promises';
import type { Admin, ITopicConfig, Kafka } from 'kafkajs';

const LOOK_MS = 50;
const LEADERS_WITHIN_MS = 30_000;

/** A broker that is named as leader may not know it yet, and refuse: only an answer of every leader tells. */
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
 * Makes a topic and waits until the leader of each partition answers. kafkajs's own wait fails where a broker that is busy does
 * not know the topic at once, and ends before the leaders know what they are.
 *
 * @param config `numPartitions` left out: 1
 * @throws Error what the last look said, when 30 s were not enough.
 */
export async function createTopicWithLeaders(admin: Admin, config: ITopicConfig): Promise<void> {
  await admin.createTopics({ topics: [config], waitForLeaders: false });
  const deadline = Date.now() + LEADERS_WITHIN_MS;
  const { topic, numPartitions = 1 } = config;
  while (!(await haveLeadersAnswered(admin, topic, numPartitions).catch(falseUntil(deadline)))) {
    await delay(LOOK_MS);
  }
}

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
      await createTopicWithLeaders(admin, { topic, numPartitions: partitions, replicationFactor });
    }
    const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
    return topics[0]?.partitions.length ?? partitions;
  } finally {
    await admin.disconnect();
  }
}
