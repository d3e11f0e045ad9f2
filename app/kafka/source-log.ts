import type { Logger } from '../logging/logger.ts';
import { partitionKey, type TopicPartition } from '../records/record.ts';
import type { LogRange, PartitionLog, UnreadableBatch } from '../stream/ports/record-source.ts';
import { messageOf } from './client/kafka-errors.ts';
import type { FetchByName } from './fetch/fetch-loop.ts';

const GIVE_UP = 'give its records up: consumer.onBrokenBatch: skip';
const DAMAGED = `. Let a replica that has it whole lead the partition, or ${GIVE_UP}`;
const DAMAGED_HEAD =
  '. Let a replica that has it whole lead the partition, or delete the records up to its end, with consumer.onGap: skip';

/** What to do about a batch that cannot be read, where its reason does not say that. */
const BATCH_ADVICE: Readonly<Record<UnreadableBatch['code'], string>> = {
  CORRUPT_BATCH: DAMAGED,
  OVERSIZED_BATCH: `. Raise the setting in brackets, or ${GIVE_UP}`,
  UNKNOWN_CODEC: `. Upgrade the consumer, or ${GIVE_UP}`,
  UNKNOWN_RECORD_FORMAT: DAMAGED_HEAD,
  TOPIC_FORBIDDEN: '',
};

/** The log's lines about what the brokers answer again and again: one when it begins or changes, one when it ends. */
export class SourceLog {
  readonly #logger: Logger;
  /** The batches that cannot be read, by partition; each but those of topics that wait has an error line. */
  readonly #unreadable = new Map<string, UnreadableBatch>();
  #unknownTopics = '';
  #hasToldOfNames = false;
  /** The topics that the log has a warning for. */
  readonly #unknownLogEnds = new Set<string>();
  #owned: ReadonlyMap<string, TopicPartition> = new Map();
  /** When the owned partitions that the log has a warning for were first without a leader. */
  readonly #leaderlessSince = new Map<string, number>();
  readonly #mayWait: (topic: string) => boolean;
  readonly #now: () => number;

  /**
   * @param mayWait whether a topic waits for the right to read it, which another line reports
   * @param now milliseconds of a clock that never goes back. @default performance.now()
   */
  constructor(logger: Logger, mayWait: (topic: string) => boolean, now: () => number = () => performance.now()) {
    this.#logger = logger;
    this.#mayWait = mayWait;
    this.#now = now;
  }

  /** The group gave these partitions: their leaders are logged, and those of all others by their owners. */
  assigned(owned: ReadonlyMap<string, TopicPartition>): void {
    this.#owned = owned;
    for (const key of [...this.#leaderlessSince.keys()].filter((logged) => !owned.has(logged))) {
      this.#leaderlessSince.delete(key);
    }
  }

  /** A batch cannot be read. */
  unreadable(batch: UnreadableBatch): void {
    const { topic, partition, offset, code, codec, reason } = batch;
    const logged = this.#unreadable.get(partitionKey(batch));
    if (logged?.offset === offset && logged.reason === reason) {
      return;
    }
    this.#unreadable.set(partitionKey(batch), batch);
    if (this.#waits(batch)) {
      return;
    }
    this.#logger.error(
      { code, topic, partition, offset: offset.toString(), codec },
      `the batch at offset ${offset} of ${topic}/${partition} cannot be read: ${reason}. This partition stops in front of ` +
        `it and reads it again every 10 s, the others go on${BATCH_ADVICE[code]}`,
    );
  }

  /** The topic was forbidden until now, and a fetch of the partition was answered. */
  wasForbidden(target: TopicPartition): boolean {
    const isOver = this.#unreadable.get(partitionKey(target))?.code === 'TOPIC_FORBIDDEN';
    if (isOver) {
      this.wasRead(target);
    }
    return isOver;
  }

  /** A batch of the partition was read. */
  wasRead(target: TopicPartition): void {
    const batch = this.#unreadable.get(partitionKey(target));
    this.#unreadable.delete(partitionKey(target));
    if (batch !== undefined && !this.#waits(batch)) {
      const { topic, partition } = target;
      this.#logger.info({ topic, partition }, 'the batch that could not be read was read');
    }
  }

  #waits({ topic, code }: UnreadableBatch): boolean {
    return code === 'TOPIC_FORBIDDEN' && this.#mayWait(topic);
  }

  /** A broker offers no fetch by topic id; logged once. */
  fetchedByName({ offered, knowsIds }: FetchByName): void {
    if (this.#hasToldOfNames) {
      return;
    }
    this.#hasToldOfNames = true;
    const remains = knowsIds
      ? 'that is noticed when partitions are assigned and when a fetch fails; one that is as long as the old one was, and ' +
        'was made between two fetches, is read on at the old offset'
      : 'that is noticed only when the new one is shorter; else it is read on at the old offset';
    this.#logger.warn(
      { fetchVersion: offered },
      `the broker fetches topics by name (Fetch ${offered}, and by id from 13 on, Kafka 3.1). When a topic is deleted and ` +
        `created again, ${remains}`,
    );
  }

  /** Returns what the brokers report of a topic's logs, and logs changes of the owned ones' leaders. */
  async logEnds(topic: string, asked: Promise<PartitionLog[]>): Promise<PartitionLog[]> {
    try {
      const ends = await asked;
      if (this.#unknownLogEnds.delete(topic)) {
        this.#logger.info({ topic }, 'the brokers report the end of the log again');
      }
      this.#leaders(topic, ends);
      return ends;
    } catch (error) {
      if (!this.#unknownLogEnds.has(topic)) {
        this.#unknownLogEnds.add(topic);
        const consequence = 'the lag gets old where no fetch shows it';
        this.#logger.warn(
          { topic, reason: messageOf(error) },
          `the brokers do not report the end of the log: ${consequence}`,
        );
      }
      throw error;
    }
  }

  /** A fetch showed the log of a partition, so a broker leads it. */
  wasFetched(log: LogRange): void {
    if (this.#leaderlessSince.size > 0) {
      this.#leaders(log.topic, [log]);
    }
  }

  /** Logs which owned partitions of a topic have no leader, and for how long those had none that have one again. */
  #leaders(topic: string, logs: readonly PartitionLog[]): void {
    const now = this.#now();
    const isTold = (log: PartitionLog): boolean => this.#leaderlessSince.has(partitionKey(log));
    const lost = logs.filter((log) => log.isLeaderless && !isTold(log) && this.#owned.has(partitionKey(log)));
    const back = logs.filter((log) => !log.isLeaderless && isTold(log));
    for (const log of lost) {
      this.#leaderlessSince.set(partitionKey(log), now);
    }
    if (lost.length > 0) {
      const consequence = 'they are read on as soon as they have one, and the others go on';
      this.#logger.warn({ topic, partitions: numbersOf(lost) }, `these partitions have no leader: ${consequence}`);
    }
    if (back.length > 0) {
      const since = Math.min(...back.map((log) => this.#leaderlessSince.get(partitionKey(log)) ?? now));
      const seconds = Math.round((now - since) / 1_000);
      for (const log of back) this.#leaderlessSince.delete(partitionKey(log));
      const message = `these partitions have a leader again after ${seconds} s`;
      this.#logger.info({ topic, partitions: numbersOf(back), seconds }, message);
    }
  }

  /** A metadata response: the subscribed topics that the broker does not have, sorted. */
  unknownTopics(topics: readonly string[]): void {
    if (topics.join() === this.#unknownTopics) {
      return;
    }
    this.#unknownTopics = topics.join();
    const message = topics.length === 0 ? 'Kafka has all topics' : 'Kafka does not have these topics';
    this.#logger[topics.length === 0 ? 'info' : 'error']({ topics }, message);
  }
}

const numbersOf = (logs: readonly PartitionLog[]): number[] => logs.map(({ partition }) => partition);
