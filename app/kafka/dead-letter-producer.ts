import type { Kafka, Message, Producer } from 'kafkajs';
import { deadLetterTopic } from '../../settings/sections/dead-letters.ts';
import type { Settings } from '../../settings/settings.ts';
import type { RecordHeader } from '../records/record.ts';
import type { Clock } from '../stream/ports/clock.ts';
import type { DeadLetter, DeadLetterTopic } from '../stream/ports/dead-letter.ts';
import { FatalError, OutageError } from '../stream/ports/stream-errors.ts';
import { errorTypeOf, messageOf } from './client/kafka-errors.ts';

/** Below `database.statementTimeout` (30 s): PostgreSQL's transaction is open and idle meanwhile. */
const SEND_TIMEOUT_MS = 10_000;

/** Kafka's errors that no retry mends, with the change that does. */
const REFUSAL_ADVICE: Readonly<Record<string, string>> = {
  MESSAGE_TOO_LARGE: "raise the topic's max.message.bytes: a letter is its record and some headers more",
  RECORD_LIST_TOO_LARGE: "raise the topic's segment.bytes and max.message.bytes",
  INVALID_RECORD: 'set cleanup.policy=delete: a compacted topic refuses records without a key',
  TOPIC_AUTHORIZATION_FAILED: 'give the user kafka.sasl.username the right to write to it',
  CLUSTER_AUTHORIZATION_FAILED: 'give the user kafka.sasl.username the right to write to it',
  INVALID_TOPIC_EXCEPTION: 'set deadLetters.topic to a topic that can be written to',
};

/** Dead letters keep their partition's number, modulo the topic's partitions: those of one partition stay in order. */
const samePartition = () => (args: { message: Message; partitionMetadata: readonly unknown[] }) =>
  (args.message.partition ?? 0) % args.partitionMetadata.length;

/**
 * The topic for dead letters, by a producer that waits for all in-sync replicas. Each topic has a separate producer,
 * opened with its first dead letter and given up after a failure: kafkajs keeps asking for every topic that a producer
 * was ever used for, and one that does not exist would fail the others.
 *
 * The producer is not idempotent. kafkajs gives the sequence numbers of a failed request to the next one, which a
 * broker that had stored the first takes for a repetition and drops: a dead letter could be lost. Without idempotence
 * it can only be doubled.
 */
export class KafkaDeadLetterTopic implements DeadLetterTopic {
  readonly #settings: Settings['deadLetters'];
  readonly #kafka: Kafka;
  readonly #clock: Clock;
  readonly #producers = new Map<string, Promise<Producer>>();

  constructor(settings: Settings['deadLetters'], kafka: Kafka, clock: Clock) {
    this.#settings = settings;
    this.#kafka = kafka;
    this.#clock = clock;
  }

  async send(letters: readonly DeadLetter[]): Promise<void> {
    const [first] = letters;
    if (first === undefined) {
      return;
    }
    const topic = deadLetterTopic(this.#settings, first.topic);
    const producer = this.#producers.get(topic) ?? this.#open(topic);
    try {
      await this.#inTime(producer.then((opened) => sendAll(opened, topic, letters)));
    } catch (error) {
      void this.#giveUp(topic, producer);
      throw describe(error, topic, letters.length);
    }
  }

  /** The topics that do not exist, or that this user may not describe. */
  async missing(topics: readonly string[]): Promise<readonly string[]> {
    if (topics.length === 0) {
      return [];
    }
    const admin = this.#kafka.admin();
    try {
      await admin.connect();
      const existing = new Set(await admin.listTopics());
      return [...new Set(topics)].filter((topic) => !existing.has(topic));
    } finally {
      await admin.disconnect();
    }
  }

  /** Never rejects. */
  async close(): Promise<void> {
    await Promise.all([...this.#producers.keys()].map((topic) => this.#giveUp(topic)));
  }

  #open(topic: string): Promise<Producer> {
    const retry = { retries: 2 };
    const producer = this.#kafka.producer({ allowAutoTopicCreation: false, createPartitioner: samePartition, retry });
    const opened = producer.connect().then(() => producer);
    this.#producers.set(topic, opened);
    return opened;
  }

  async #giveUp(topic: string, failed = this.#producers.get(topic)): Promise<void> {
    if (this.#producers.get(topic) === failed) {
      this.#producers.delete(topic);
    }
    await failed?.then((producer) => producer.disconnect()).catch(() => undefined);
  }

  async #inTime(work: Promise<void>): Promise<void> {
    const timer = new AbortController();
    const late = this.#clock.wait(SEND_TIMEOUT_MS, timer.signal).then(() => {
      throw new OutageError(`no answer within ${SEND_TIMEOUT_MS / 1_000} s`, { reason: 'dead_letter_topic' });
    });
    // The one that settles second is no unhandled rejection.
    late.catch(() => undefined);
    work.catch(() => undefined);
    await Promise.race([work, late]).finally(() => timer.abort());
  }
}

async function sendAll(producer: Producer, topic: string, letters: readonly DeadLetter[]): Promise<void> {
  for (const request of inRequests(letters.map(deadLetterMessage))) {
    await producer.send({ topic, acks: -1, messages: request as unknown as Message[] });
  }
}

function describe(error: unknown, topic: string, count: number): OutageError | FatalError {
  const reason = messageOf(error);
  const type = errorTypeOf(error);
  const advice = REFUSAL_ADVICE[type ?? ''];
  if (advice !== undefined) {
    const message = `the topic ${topic} refused ${count} dead letters (${type}): ${reason}; ${advice}, then start again`;
    return new FatalError('DEAD_LETTER_TOPIC_REFUSED', message, { cause: error });
  }
  const missing = type === 'UNKNOWN_TOPIC_OR_PARTITION' ? ': create the topic' : '';
  return new OutageError(`Kafka did not take ${count} dead letters for ${topic}: ${reason}${missing}`, {
    cause: error,
    reason: 'dead_letter_topic',
  });
}

/** A dead letter as a record of its topic. */
interface DeadLetterMessage {
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: readonly RecordHeader[];
  /** The record's own partition. */
  readonly partition: number;
}

/** Half of 1 MiB, the brokers' default limit (message.max.bytes): room for what the record format adds. */
const MAX_REQUEST_BYTES = 524_288;

/** Bytes that the record format adds for a record and for each of its headers, rounded up. */
const OVERHEAD_BYTES = 32;

const header = (key: string, value: string): RecordHeader => ({ key, value: Buffer.from(value, 'utf8') });

/**
 * Key, value and headers as they came; behind the record's own headers follow those of its origin and of the error. The
 * record's timestamp is one of them: the message's own is the time of its sending, by which the topic's retention
 * counts.
 */
export function deadLetterMessage(letter: DeadLetter): DeadLetterMessage {
  const { groupId, topic, partition, record, reason, error, target, targetColumn } = letter;
  const origin = [
    header('dead-letter.topic', topic),
    header('dead-letter.partition', String(partition)),
    header('dead-letter.offset', String(record.offset)),
    header('dead-letter.timestamp', String(record.timestamp)),
    header('dead-letter.group', groupId),
    header('dead-letter.reason', reason),
    header('dead-letter.error', error),
    ...(target === undefined ? [] : [header('dead-letter.target', target)]),
    ...(targetColumn === undefined ? [] : [header('dead-letter.target-column', targetColumn)]),
  ];
  return { key: record.key, value: record.value, headers: [...record.headers, ...origin], partition };
}

function messageBytes({ key, value, headers }: DeadLetterMessage): number {
  const own = OVERHEAD_BYTES + (key?.length ?? 0) + (value?.length ?? 0);
  return headers.reduce((sum, field) => sum + OVERHEAD_BYTES + 3 * field.key.length + (field.value?.length ?? 0), own);
}

/** Splits messages, in their order, into requests below the brokers' limit; a larger message goes alone. */
export function inRequests(messages: readonly DeadLetterMessage[]): readonly (readonly DeadLetterMessage[])[] {
  const requests: DeadLetterMessage[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const message of messages) {
    const size = messageBytes(message);
    const last = requests.at(-1);
    if (last && bytes + size <= MAX_REQUEST_BYTES) {
      last.push(message);
      bytes += size;
    } else {
      requests.push([message]);
      bytes = size;
    }
  }
  return requests;
}
