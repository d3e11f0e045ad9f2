import type { ConsumerReport, TopicReport } from './partition/consumer-state.ts';
import { type Clock, timeOfDay } from './ports/clock.ts';
import type { PartitionLog } from './ports/record-source.ts';
import { FatalError } from './ports/stream-errors.ts';

/** What becomes of a topic that Kafka does not have any more: the setting `consumer.onTopicGone`. */
export type OnTopicGone = 'continue' | 'stop';

/**
 * A topic is gone once brokers have not had it for so long. Right after a topic was created, or a broker started, an
 * answer may miss a topic that is there.
 */
export const GONE_AFTER_MS = 5_000;

/** Kafka is asked every 20 s at the latest; an answer that is older than this is worth nothing. */
const KNOWN_FOR_MS = 60_000;

/** Keeps which of the subscribed topics Kafka does not have; times are steady. */
export class SubscribedTopics {
  readonly #topics: () => readonly string[];
  readonly #mayGo: (topic: string) => boolean;
  readonly #clock: Clock;
  /** When the first answer in a row came that did not have the topic. */
  readonly #unknownSince = new Map<string, number>();
  /** When the brokers last reported of each partition that was asked for whether it has a leader. */
  readonly #leaders = new Map<string, Map<number, { readonly isLeaderless: boolean; readonly reportedAt: number }>>();
  #partitions: ReadonlyMap<string, number> = new Map();
  #answeredAt: number | null = null;

  /**
   * @param topics those that are read now
   * @param mayGo whether a topic may be deleted, and is then none that is gone. @default none may
   */
  constructor(topics: () => readonly string[], clock: Clock, mayGo: (topic: string) => boolean = () => false) {
    this.#mayGo = mayGo;
    this.#topics = topics;
    this.#clock = clock;
  }

  /** Kafka answered, does not have these, and has so many partitions of the others. */
  answered(unknown: readonly string[], partitions: ReadonlyMap<string, number>): void {
    this.#partitions = partitions;
    const now = this.#clock.steady().getTime();
    this.#answeredAt = now;
    for (const topic of this.#topics()) {
      if (!unknown.includes(topic)) {
        this.#unknownSince.delete(topic);
      } else if (!this.#unknownSince.has(topic)) {
        this.#unknownSince.set(topic, now);
      }
    }
  }

  /** The brokers reported a partition of a topic, whoever owns it, as it was at that time or later. */
  observeLog({ topic, partition, isLeaderless }: PartitionLog, askedAt: number): void {
    const partitions = this.#leaders.get(topic) ?? new Map();
    this.#leaders.set(topic, partitions);
    if (askedAt >= (partitions.get(partition)?.reportedAt ?? askedAt)) {
      partitions.set(partition, { isLeaderless: isLeaderless === true, reportedAt: this.#clock.steady().getTime() });
    }
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
    return this.#topics().map((topic) => {
      const since = this.#unknownSince.get(topic);
      const partitions = this.#partitions.get(topic);
      const isGone = since !== undefined && answeredAt - since >= GONE_AFTER_MS && !this.#mayGo(topic);
      const leaders = [...(this.#leaders.get(topic)?.values() ?? [])].filter(({ reportedAt }) =>
        this.#isKnown(reportedAt),
      );
      return {
        ...{ topic, isGone },
        ...(partitions !== undefined && { partitions }),
        ...(leaders.length > 0 && { leaderless: leaders.filter(({ isLeaderless }) => isLeaderless).length }),
      };
    });
  }

  #isKnown(reportedAt: number): boolean {
    return this.#clock.steady().getTime() - reportedAt <= KNOWN_FOR_MS;
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

/** Whether the process is a member of its group, as the group's coordinator confirmed it last. Times are steady. */
export class Membership {
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  /** When each topic was first asked for; of one that Kafka has, when it last reported so. */
  readonly #askedAt = new Map<string, Date>();
  #confirmedAt: Date | null = null;

  /** @param timeoutMs time without a sign of the coordinator after which the process counts as out of the group */
  constructor(clock: Clock, timeoutMs: number) {
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
  }

  /**
   * Kafka is asked about these topics from now on: for the first time, or after it reported that it has them. In the
   * second case something else than Kafka's silence kept the process from joining the group.
   */
  asked(topics: readonly string[]): void {
    for (const topic of topics) {
      this.#askedAt.set(topic, this.#clock.steady());
    }
  }

  /** The coordinator gave an assignment, or answered a heartbeat. */
  confirmed(): void {
    this.#confirmedAt = this.#clock.steady();
  }

  report(now: Date): Pick<ConsumerReport, 'unjoined' | 'outOfGroupSince'> {
    const steadyNow = this.#clock.steady();
    if (this.#confirmedAt === null) {
      const ages = [...this.#askedAt].map(([topic, at]) => [topic, steadyNow.getTime() - at.getTime()] as const);
      return { unjoined: new Map(ages) };
    }
    const isMember = steadyNow.getTime() - this.#confirmedAt.getTime() <= this.#timeoutMs;
    return isMember ? {} : { outOfGroupSince: timeOfDay(this.#confirmedAt, steadyNow, now) };
  }
}
