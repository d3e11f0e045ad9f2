import type { Kafka, KafkaMessage } from 'kafkajs';
import type { ProducedRecord } from '../orders/sample-producer.ts';
import { chaosRecord, NUMBER_HEADER } from './chaos-producer.ts';

/** The records of a topic, by their numbers. */
export interface TopicContent {
  /** Numbers of the records of each partition, in the order of their offsets. */
  readonly numbers: ReadonlyMap<number, readonly number[]>;
  /** Gaps, and records with other content than produced. */
  readonly problems: readonly string[];
}

/** The topic to read, and the seed of its records' content. */
export interface TopicToRead {
  readonly kafka: Kafka;
  readonly topic: string;
  readonly partitions: number;
  readonly seed: number;
  /** The offset after the last record, by partition. */
  readonly ends: ReadonlyMap<number, bigint>;
}

/**
 * Reads a topic from its start to its end with a separate client and without any of the consumer's code.
 *
 * @param timeout milliseconds after which the read fails.
 * @throws Error when the end is not reached in time.
 */
export async function readTopic(source: TopicToRead, timeout: number): Promise<TopicContent> {
  const consumer = source.kafka.consumer({ groupId: `reader-of-${source.topic}`, maxWaitTimeInMs: 100 });
  const numbers = new Map([...source.ends.keys()].map((partition): [number, number[]] => [partition, []]));
  const problems: string[] = [];
  const isComplete = (): boolean =>
    [...source.ends].every(([partition, end]) => BigInt(numbers.get(partition)?.length ?? 0) >= end);
  await consumer.connect();
  let timer: NodeJS.Timeout | undefined;
  try {
    await consumer.subscribe({ topic: source.topic, fromBeginning: true });
    await new Promise<void>((resolve, reject) => {
      timer = setTimeout(() => reject(new Error(`${source.topic} was not read within ${timeout / 1_000} s`)), timeout);
      const eachBatch = async ({ batch }: { batch: { partition: number; messages: KafkaMessage[] } }) => {
        const read = numbers.get(batch.partition) ?? [];
        // kafkajs begins at the first offset again after an error that it caused itself.
        for (const message of batch.messages.filter(({ offset }) => Number(offset) >= read.length)) {
          read.push(numberOf(source, batch.partition, message, read.length, problems));
        }
        if (isComplete()) {
          resolve();
        }
      };
      if (isComplete()) {
        resolve();
      }
      consumer.run({ autoCommit: false, eachBatch }).catch(reject);
    });
  } finally {
    clearTimeout(timer);
    await consumer.disconnect();
  }
  return { numbers, problems };
}

/** The records of a topic as they were produced, with their offsets. */
export function* contentRecords({ numbers }: TopicContent, source: TopicToRead): Generator<ProducedRecord> {
  for (const [partition, inOrder] of numbers) {
    for (const [offset, number] of inOrder.entries()) {
      yield { ...chaosRecord(source.seed, number, source.partitions, partition), offset: BigInt(offset) };
    }
  }
}

function numberOf(
  { seed, partitions }: TopicToRead,
  partition: number,
  { offset, key, value, headers }: KafkaMessage,
  expectedOffset: number,
  problems: string[],
): number {
  const number = Number(String(headers?.[NUMBER_HEADER]));
  const produced = chaosRecord(seed, number, partitions, partition);
  const place = `${partition}/${offset}`;
  if (offset !== String(expectedOffset)) {
    problems.push(`${place}: offset ${expectedOffset} was expected there`);
  }
  if (produced.partition !== partition || !isSame(produced.key, key) || !isSame(produced.value, value)) {
    problems.push(`${place}: the record is not number ${number} as it was produced`);
  }
  return number;
}

const isSame = (a: Buffer | null, b: Buffer | null): boolean => (a === null || b === null ? a === b : a.equals(b));
