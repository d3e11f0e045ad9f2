import { setTimeout as delay } from 'node:timers/promises';
import type { Kafka, Message } from 'kafkajs';
import { randomSource } from '../orders/random-source.ts';
import { sampleOrder } from '../orders/sample-record.ts';
import { ensureTopic } from '../stack/topic.ts';

const CUSTOMERS = 20_000;
const SEED = 7;

/** One record of the benchmark: about 200 bytes of JSON, a key and one header, none of them poison. */
interface BenchmarkRecord {
  readonly key: Buffer;
  readonly value: Buffer;
}

/** The header that every record of the benchmark carries. */
export const BENCHMARK_HEADER = { key: 'source', value: Buffer.from('bench') } as const;

/** The record at an index; the same in every run. */
export function benchmarkRecord(index: number): BenchmarkRecord {
  const random = randomSource(SEED, index);
  const customer = random.below(CUSTOMERS);
  return { key: Buffer.from(`customer-${customer}`), value: Buffer.from(sampleOrder(random, index, customer)) };
}

const PER_REQUEST = 3_000;

/** So many of the benchmark's records, spread evenly over the partitions. */
const benchmarkMessages = (from: number, count: number, partitions: number): Message[] =>
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

const EVERY_MS = 100;

/** What is produced, and how fast. */
export interface SteadyLoad {
  readonly kafka: Kafka;
  readonly topic: string;
  readonly partitions: number;
  readonly recordsPerSecond: number;
  /** Index of the first record. */
  readonly from: number;
}

/**
 * Produces records at a steady rate, until the function that it gives is called.
 *
 * @returns ends the load when what was begun is acknowledged, and says how many records the topic has then.
 */
export async function startSteadyLoad(load: SteadyLoad): Promise<() => Promise<number>> {
  const { kafka, topic, partitions, recordsPerSecond, from } = load;
  const producer = kafka.producer({ allowAutoTopicCreation: false });
  await producer.connect();
  const perRequest = (recordsPerSecond * EVERY_MS) / 1_000;
  let [isEnding, next] = [false, from];
  const work = (async () => {
    while (!isEnding) {
      const messages = benchmarkMessages(next, perRequest, partitions);
      next += perRequest;
      await Promise.all([producer.send({ topic, messages }), delay(EVERY_MS)]);
    }
  })();
  return async () => {
    isEnding = true;
    await work;
    await producer.disconnect();
    return next;
  };
}
