import { setTimeout as delay } from 'node:timers/promises';
import type { Kafka } from 'kafkajs';
import { benchmarkMessages } from './produce-records.ts';

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
