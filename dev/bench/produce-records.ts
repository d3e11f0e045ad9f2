import { setTimeout as delay } from 'node:timers/promises';
import type { Kafka, Message, TopicMessages } from 'kafkajs';
import { randomSource } from '../orders/random-source.ts';
import { sampleOrder } from '../orders/sample-record.ts';
import { ensureTopic } from '../stack/topic.ts';

const CUSTOMERS = 20_000;
const SEED = 7;

const PER_REQUEST = 3_000;
/** The most of a steady load that one request makes up for, after a stall: so many of a partition are one batch. */
const MOST_DUE = { inAll: 10_000, ofPartition: PER_REQUEST } as const;

/** The only header of every record. */
export const BENCHMARK_HEADER = { key: 'source', value: Buffer.from('bench') } as const;

/** The record at an index, the same in every run: a key and about 200 bytes of JSON, never poison. */
export function benchmarkRecord(index: number): { readonly key: Buffer; readonly value: Buffer } {
  const random = randomSource(SEED, index);
  const customer = random.below(CUSTOMERS);
  return { key: Buffer.from(`customer-${customer}`), value: Buffer.from(sampleOrder(random, index, customer)) };
}

const benchmarkMessage = (index: number): Message => ({
  ...benchmarkRecord(index),
  headers: { [BENCHMARK_HEADER.key]: BENCHMARK_HEADER.value },
});

/** Where records go: one after the other over the topics, and in each over its partitions. */
interface RecordPlaces {
  readonly topics: readonly string[];
  /** Of each topic. */
  readonly partitions: number;
  /** The record at an index. @default {@link benchmarkRecord} with its header */
  readonly messageAt?: (index: number) => Message;
}

/** The records from an index on, by their topics; a topic without any is left out. */
function benchmarkMessages(places: RecordPlaces, from: number, count: number): TopicMessages[] {
  const { topics, partitions, messageAt = benchmarkMessage } = places;
  const byTopic = topics.map((topic): TopicMessages => ({ topic, messages: [] }));
  for (let index = from; index < from + count; index += 1) {
    const partition = Math.floor(index / topics.length) % partitions;
    byTopic[index % topics.length]?.messages.push({ ...messageAt(index), partition });
  }
  return byTopic.filter(({ messages }) => messages.length > 0);
}

/** What is produced, spread evenly over the topics and their partitions. */
interface Production extends RecordPlaces {
  readonly records: number;
  /** Records in one produce request. @default 3,000 */
  readonly perRequest?: number;
}

/** Makes the topics and produces the benchmark's records into them. */
export async function produceRecords(kafka: Kafka, production: Production): Promise<void> {
  const { topics, partitions, records, perRequest = PER_REQUEST } = production;
  for (const topic of topics) {
    await ensureTopic(kafka, topic, partitions);
  }
  const producer = kafka.producer({ allowAutoTopicCreation: false, idempotent: true });
  await producer.connect();
  for (let from = 0; from < records; from += perRequest) {
    const topicMessages = benchmarkMessages(production, from, Math.min(perRequest, records - from));
    await producer.sendBatch({ topicMessages });
  }
  await producer.disconnect();
}

export interface SteadyLoad extends RecordPlaces {
  readonly kafka: Kafka;
  readonly recordsPerSecond: number;
  /** Milliseconds between two requests. @default 100 */
  readonly requestMs?: number;
  /** Index of the first record. */
  readonly from: number;
}

/**
 * Produces the benchmark's records at a steady rate.
 *
 * @returns a function that ends the load when the last request is acknowledged, and gives the number of records in
 * the topic
 */
export async function startSteadyLoad(load: SteadyLoad): Promise<() => Promise<number>> {
  const { kafka, topics, partitions, recordsPerSecond, requestMs = 100, from } = load;
  const most = Math.min(MOST_DUE.inAll, MOST_DUE.ofPartition * topics.length * partitions);
  const producer = kafka.producer({ allowAutoTopicCreation: false, idempotent: true });
  await producer.connect();
  const began = performance.now();
  const due = () => from + Math.floor(((performance.now() - began) * recordsPerSecond) / 1_000);
  let [isEnding, next] = [false, from];
  const work = (async () => {
    while (!isEnding) {
      const count = Math.min(due() - next, most);
      const topicMessages = benchmarkMessages(load, next, count);
      next += count;
      await Promise.all([count > 0 && producer.sendBatch({ topicMessages }), delay(requestMs)]);
    }
  })();
  return async () => {
    isEnding = true;
    await work;
    await producer.disconnect();
    return next;
  };
}
