import { Kafka, logLevel, type RecordMetadata } from 'kafkajs';
import { createTopicWithLeaders } from '../../../dev/stack/topic.ts';
import { randomName } from './random-name.ts';
import { sharedBroker } from './shared-stack.ts';

/** A record to produce; what is left out is null, and the partition is chosen by the client. */
export interface TestRecord {
  readonly key?: string | Buffer | null;
  readonly value: string | Buffer | null;
  readonly headers?: Record<string, string | Buffer | (string | Buffer)[]>;
  readonly partition?: number;
  /** Milliseconds since the epoch. @default now */
  readonly timestamp?: number;
}

/** Options that name the Kafka; the shared one when left out. */
export interface AtBroker {
  readonly broker?: string;
}

/** A quiet kafkajs client. */
export const kafkaClient = ({ broker = sharedBroker() }: AtBroker = {}): Kafka =>
  new Kafka({ clientId: 'test', brokers: [broker], logLevel: logLevel.NOTHING });

/**
 * Makes a topic with a random name.
 *
 * @param options.partitions @default 1
 * @param options.config topic settings such as `retention.ms`. @default none
 */
export async function createTopic(
  options: AtBroker & { readonly partitions?: number; readonly config?: Readonly<Record<string, string>> } = {},
): Promise<string> {
  const topic = randomName('topic');
  const configEntries = Object.entries(options.config ?? {}).map(([name, value]) => ({ name, value }));
  const admin = kafkaClient(options).admin();
  await admin.connect();
  try {
    await createTopicWithLeaders(admin, { topic, numPartitions: options.partitions ?? 1, configEntries });
  } finally {
    await admin.disconnect();
  }
  return topic;
}

/**
 * Produces records in one request and waits until they are stored.
 *
 * @returns what the broker acknowledged: the base offset of each partition.
 */
export async function produce(
  topic: string,
  records: readonly TestRecord[],
  options: AtBroker = {},
): Promise<readonly RecordMetadata[]> {
  const producer = kafkaClient(options).producer();
  await producer.connect();
  try {
    return await producer.send({ topic, messages: records.map(toMessage) });
  } finally {
    await producer.disconnect();
  }
}

const toMessage = ({ key = null, value, headers, partition, timestamp }: TestRecord) => ({
  key,
  value,
  ...(headers === undefined ? {} : { headers }),
  ...(partition === undefined ? {} : { partition }),
  ...(timestamp === undefined ? {} : { timestamp: String(timestamp) }),
});
