import type { TopicReport } from './partition/consumer-state.ts';
import type { Clock } from './ports/clock.ts';
import type { PartitionLog } from './ports/record-source.ts';
import { FatalError } from './ports/stream-errors.ts';

/** What becomes of a topic that Kafka does not have any more: the setting `consumer.onTopicGone`. */
export type OnTopicGone = 'continue' | 'stop';

/** Right after a topic was created, or a broker started, an answer may miss a topic that is there. */
const GONE_AFTER_MS = 5_000;

/** Kafka is asked every few seconds; an answer that is older than this tells nothing any more. */
const KNOWN_FOR_MS = 60_000;

/** Tells which of the subscribed topics Kafka does not have; times are steady. */
export class SubscribedTopics {
  readonly #topics: readonly string[];
  readonly #clock: Clock;
  /** When the first answer in a row came that did not have the topic. */
  readonly #unknownSince = new Map<string, number>();
  /** When the brokers last reported of each partition that was asked for whether it has a leader. */
  readonly #leaders = new Map<string, Map<number, { readonly isLeaderless: boolean; readonly toldAt: number }>>();
  #partitions: ReadonlyMap<string, number> = new Map();
  #answeredAt: number | null = null;

  constructor(topics: readonly string[], clock: Clock) {
    this.#topics = topics;
    this.#clock = clock;
  }

  /** Kafka answered, does not have these, and has so many partitions of the others. */
  answered(unknown: readonly string[], partitions: ReadonlyMap<string, number>): void {
    this.#partitions = partitions;
    const now = this.#clock.steady().getTime();
    this.#answeredAt = now;
    for (const topic of this.#topics) {
      if (!unknown.includes(topic)) {
        this.#unknownSince.delete(topic);
      } else if (!this.#unknownSince.has(topic)) {
        this.#unknownSince.set(topic, now);
      }
    }
  }

  /** The brokers reported a partition of a topic, whoever owns it. */
  observeLog(log: PartitionLog): void {
    const partitions = this.#leaders.get(log.topic) ?? new Map();
    this.#leaders.set(log.topic, partitions);
    partitions.set(log.partition, { isLeaderless: log.isLeaderless ?? false, toldAt: this.#clock.steady().getTime() });
  }

  /** Whether the last answer did not have the topic. */
  isUnknown(topic: string): boolean {
    return this.#unknownSince.has(topic);
  }

  /** As Kafka answered last; empty before its first answer, and once that is older than a minute. */
  report(): TopicReport[] {
    const answeredAt = this.#answeredAt;
    if (answeredAt === null || !this.#isKnown(answeredAt)) {
      return [];
    }
    return this.#topics.map((topic) => {
      const since = this.#unknownSince.get(topic);
      const partitions = this.#partitions.get(topic);
      const isGone = since !== undefined && answeredAt - since >= GONE_AFTER_MS;
      const leaders = [...(this.#leaders.get(topic)?.values() ?? [])].filter(({ toldAt }) => this.#isKnown(toldAt));
      return {
        ...{ topic, isGone },
        ...(partitions !== undefined && { partitions }),
        ...(leaders.length > 0 && { leaderless: leaders.filter(({ isLeaderless }) => isLeaderless).length }),
      };
    });
  }

  #isKnown(toldAt: number): boolean {
    return this.#clock.steady().getTime() - toldAt <= KNOWN_FOR_MS;
  }

  /** The error `TOPIC_GONE`; `null` while no topic is gone. */
  error(): FatalError | null {
    const gone = this.report().flatMap(({ topic, isGone }) => (isGone ? [topic] : []));
    if (gone.length === 0) {
      return null;
    }
    return new FatalError(
      'TOPIC_GONE',
      `Kafka does not have ${gone.join(', ')} any more, and consumer.onTopicGone is stop. To go on with the other ` +
        'topics, set it to continue, or take these out of kafka.topics and tables; then start again',
    );
  }
}
