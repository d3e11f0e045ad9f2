import type { Kafka, Message } from 'kafkajs';
import { ensureTopic } from '../stack/topic.ts';
import { BENCHMARK_HEADER, benchmarkRecord } from './benchmark-records.ts';

const PER_REQUEST = 3_000;

/** So many of the benchmark's records, spread evenly over the partitions. */
export const benchmarkMessages = (from: number, count: number, partitions: number): Message[] =>
  Array.from({ length: count }, (_, nth) => ({
    ...benchmarkRecord(from + nth),
    partition: (from + nth) % partitions,
    headers: { [BENCHMARK_HEADER.key]: BENCHMARK_HEADER.value },
  }));

/** Makes the topic and produces the benchmark's records into it, spread evenly over its partitions. */
export async function produceRecords(
  kafka: Kafka,
  target: { readonly topic: string; readonly partitions: number; readonly records: number },
): Promise<void> {
  const { topic, partitions, records } = target;
  await ensureTopic(kafka, topic, partitions);
  const producer = kafka.producer({ allowAutoTopicCreation: false });
  await producer.connect();
  for (let from = 0; from < records; from += PER_REQUEST) {
    const messages = benchmarkMessages(from, Math.min(PER_REQUEST, records - from), partitions);
    await producer.send({ topic, messages });
  }
  await producer.disconnect();
}
