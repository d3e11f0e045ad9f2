import { backoffMs } from '../../stream/partition/retries.ts';
import type { Clock } from '../../stream/ports/clock.ts';
import { asError, ForbiddenTopics, isForbiddenTopic, isUnknownTopic } from '../client/kafka-errors.ts';
import type { BrokerConnections } from '../fetch/broker-connections.ts';

const isKnown = ({ topicErrorCode = 0 }: { readonly topicErrorCode?: number }): boolean => topicErrorCode === 0;

/** What the brokers answer about topics. Of a topic that is in neither they know nothing now. */
export interface TopicsAnswer {
  /** Topics that the brokers do not have. */
  readonly unknown: readonly string[];
  /** How many partitions the others have. */
  readonly partitions: ReadonlyMap<string, number>;
}

/** Asks the brokers about topics. */
export interface TopicsPort {
  /**
   * @param own those that the member is subscribed to; the leader asks about those of others, too
   * @throws ForbiddenTopics when an ACL forbids one of the member's own
   * @throws Error when no broker answers
   */
  ask(topics: readonly string[], own: ReadonlySet<string>): Promise<TopicsAnswer>;
}

const NONE: ReadonlySet<number> = new Set();

/** Topics that are deleted, created (again) or given partitions are noticed after this time at the latest. */
export const TOPICS_POLL_MS = 5_000;

/** What {@link watchTopics} works with. */
interface TopicsWatch {
  readonly topics: TopicsPort;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** The topics of a member, as they are now; with templates, those that the settings name may not be forbidden. */
interface WatchedTopics {
  readonly topics: () => readonly string[];
  readonly templates?: { readonly names: readonly string[] };
}

/** Reports what the brokers answer about topics, or why they do not, until the signal is aborted. */
export async function watchTopics(
  own: WatchedTopics,
  { topics, clock, signal }: TopicsWatch,
  report: (answer: TopicsAnswer | Error) => void,
): Promise<void> {
  for (let failures = 0; !signal.aborted; ) {
    const asked = own.topics();
    const answer = await topics.ask(asked, new Set(own.templates?.names ?? asked)).catch(asError);
    if (!signal.aborted) {
      failures = answer instanceof Error ? failures + 1 : 0;
      report(answer);
      await clock.wait(failures === 0 ? TOPICS_POLL_MS : backoffMs(failures), signal);
    }
  }
}

/** Asks by the names of the topics alone: an answer about all of a cluster may be long. */
export const topicsOf = (connections: Pick<BrokerConnections, 'metadata'>): TopicsPort => ({
  ask: async (topics, own) => {
    const { topicMetadata } = topics.length === 0 ? { topicMetadata: [] } : await connections.metadata(topics, NONE);
    const forbidden = topicMetadata.filter((of) => isForbiddenTopic(of) && own.has(of.topic)).map(({ topic }) => topic);
    if (forbidden.length > 0) {
      throw new ForbiddenTopics(forbidden);
    }
    return {
      unknown: topicMetadata
        .filter(isUnknownTopic)
        .map(({ topic }) => topic)
        .toSorted(),
      partitions: new Map(
        topicMetadata.filter(isKnown).map(({ topic, partitionMetadata }) => [topic, partitionMetadata.length]),
      ),
    };
  },
});

/**
 * A broker may not have heard of all partitions yet, or may answer by what it heard long ago; none does for this long.
 */
const CONFIRMED_MS = 5_000;

/** What the brokers last answered about a topic, and since when they answer that. */
interface Learned {
  /** 0: they do not have the topic. */
  readonly count: number;
  readonly since: number;
  readonly at: number;
}

/** What the brokers answered about topics, for a leader that has to assign before they answer again. */
export class LearnedTopics implements TopicsPort {
  readonly #topics: TopicsPort;
  readonly #clock: Clock;
  readonly #learned = new Map<string, Learned>();

  constructor(topics: TopicsPort, clock: Clock) {
    this.#topics = topics;
    this.#clock = clock;
  }

  async ask(topics: readonly string[], own: ReadonlySet<string>): Promise<TopicsAnswer> {
    const at = this.#clock.steady().getTime();
    const answer = await this.#topics.ask(topics, own);
    const counts = [...answer.partitions, ...answer.unknown.map((topic) => [topic, 0] as const)];
    for (const [topic, count] of counts) {
      const before = this.#learned.get(topic);
      if (before === undefined || before.at <= at) {
        this.#learned.set(topic, { count, since: before?.count === count ? before.since : at, at });
      }
    }
    return answer;
  }

  /**
   * How many partitions a topic has; `null`: not known now.
   *
   * @param atLeast how many it had; fewer are believed only once two answers say so, the second one some seconds later
   */
  count(topic: string, atLeast: number): number | null {
    const { count, since, at } = this.#learned.get(topic) ?? { count: -1, since: 0, at: 0 };
    const isCertain = count >= atLeast || at - since >= CONFIRMED_MS;
    return count >= 0 && isCertain ? count : null;
  }
}
