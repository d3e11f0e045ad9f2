import type { Logger } from '../logging/logger.ts';
import type { TopicPartition } from '../records/record.ts';
import { type StartFrom, startPositions } from '../stream/partition/positions.ts';
import type { Clock } from '../stream/ports/clock.ts';
import type { Position } from '../stream/ports/record-source.ts';
import { FatalError, OutageError } from '../stream/ports/stream-errors.ts';
import { GONE_AFTER_MS } from '../stream/subscribed-topics.ts';
import type { ReadTopics } from '../topics/read-topics.ts';
import { isForbiddenTopic, isUnknownTopic, messageOf, readingTopic } from './client/kafka-errors.ts';
import type { KafkaAdmin } from './kafka-admin.ts';
import type { DescribedTopic } from './kafkajs/admin-requests.ts';
import type { TemplateStart } from './subscription.ts';

/** Topics that are asked for at the same time. */
const AT_ONCE = 8;

/** What a template that begins takes: the first positions of a topic, chosen by the partitions that have one. */
interface FirstPositions {
  readonly topic: string;
  readonly takenBy: readonly string[];
  readonly choose: (stored: ReadonlySet<number>) => readonly Position[];
}

/** The templates that the group has begun with, and the topics that it has offsets of, as they are stored. */
export interface BegunTemplates {
  begunTemplates(): Promise<ReadonlySet<string>>;
  storedTopics(): Promise<readonly string[]>;
  beginTemplates(templates: readonly string[], found: readonly FirstPositions[]): Promise<void>;
}

const forbidden = (topic: string): FatalError =>
  new FatalError(
    'TOPIC_FORBIDDEN',
    `Kafka forbids ${topic} to this consumer, which could see it before. Nothing of it was skipped. To go on, ` +
      `${readingTopic(topic)}; or leave it out by tables[].except. Kafka answers the same where it was deleted with its ACL`,
    { topic },
  );

/** What the topics of templates are found by. */
interface TemplateTopicsPorts {
  readonly topics: ReadTopics;
  readonly admin: Pick<KafkaAdmin, 'listTopics' | 'describeTopics' | 'topicIds' | 'logRanges' | 'committedOffsets'>;
  readonly store: BegunTemplates;
  readonly groupId: string;
  readonly startFrom: StartFrom;
  /** How often the cluster is listed. */
  readonly refreshMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called after each list with the topics that Kafka forbids and does not have, of those that were seen before. */
  readonly onUnlisted: (forbidden: ReadonlyMap<string, FatalError>, gone: ReadonlySet<string>) => void;
}

/**
 * The topics that templates take. Listing the cluster finds them, and they are in use from the moment on that the group
 * assigns them here. They are gone once brokers that are asked for them by name have not had them for 5 s. A list alone
 * is no proof of that, since it lacks what the login may not see.
 */
export class TemplateTopics implements TemplateStart {
  readonly #ports: TemplateTopicsPorts;
  /** When the first answer in a row came that did not have the topic. */
  readonly #unknownSince = new Map<string, number>();
  #owned: ReadonlySet<string> = new Set();
  readonly #leaving = new Set<ReadonlySet<string>>();
  /** Topics that a list had. */
  readonly #seen = new Set<string>();
  /** Topics that the brokers did not have when they were asked, and that no list has had since. */
  readonly #gone = new Set<string>();
  /** Of topics that are not owned, when the first answer in a row came that did not have them; a steady time. */
  #missedSince: ReadonlyMap<string, number> = new Map();
  /** Topics that Kafka forbids, and those of them that it did not have then, until these are gone. */
  #forbidden: ReadonlySet<string> = new Set();
  /** How many lists were asked for, and which of them was taken last. */
  #lists = 0;
  #taken = 0;
  #reported = '';

  constructor(ports: TemplateTopicsPorts) {
    this.#ports = ports;
  }

  async list(): Promise<readonly string[]> {
    await this.#list();
    // Where the answer does not come, the next list asks again.
    await this.#askForUnlisted().catch(() => undefined);
    return this.#ports.topics.listed;
  }

  /**
   * Lists the cluster where the last list lacks one of these topics, which are about to be read: the leader, which
   * assigned it, knows more.
   *
   * Proof that two topics that one `table` with braces maps to one table are not both written, whichever processes own
   * them. Who writes a topic has a list with it, and without the other one: with both in the list, both wait. Brokers
   * learn of topics in the order in which these are created. So a list that has the younger one has the older one, too,
   * and nobody has a list with the younger one alone. This takes for granted that each of them is created once, that
   * the login may describe both, and that brokers report ids of topics (Kafka 2.8). One that was seen or read before,
   * and that Kafka forbids now, counts as if it was listed, from the first answer about it on.
   *
   * @param topics those that Kafka has, as it has just been asked for them by name
   * @throws OutageError while no broker answers, or the list comes from one that knows less: then none of them is read
   */
  async requireListed(topics: Iterable<string>): Promise<void> {
    const { topics: read } = this.#ports;
    const templated = [...topics].filter((topic) => read.isTemplated(topic));
    const unlisted = (): readonly string[] => {
      const listed = new Set(read.listed);
      return templated.filter((topic) => !listed.has(topic));
    };
    if (unlisted().length > 0) {
      await this.#list();
    }
    const lacking = unlisted();
    if (lacking.length > 0) {
      const message = `a broker has no topic ${lacking.join(', ')} in its list yet, and another one has`;
      throw new OutageError(message, { reason: 'kafka_away' });
    }
  }

  /**
   * Where a template begins, `startFrom` is about what the cluster has now, and never again. With `earliest` all that
   * is read begins at its beginning anyway.
   *
   * @throws OutageError while the position of a topic is not known: nothing is stored then
   */
  async begin(): Promise<void> {
    const { store, topics, startFrom } = this.#ports;
    const begun = await store.begunTemplates();
    const templates = topics.templates.filter((template) => !begun.has(template));
    if (templates.length > 0) {
      const isNew = (topic: string): boolean => topics.takenBy(topic).every((template) => templates.includes(template));
      const found = startFrom === 'earliest' ? [] : topics.listed.filter(isNew);
      await store.beginTemplates(templates, await this.#firstPositions(found));
    }
  }

  /** Lists the cluster again and again, until the signal is aborted. */
  async watch(signal: AbortSignal): Promise<void> {
    const { clock, logger, refreshMs, topics } = this.#ports;
    while (!signal.aborted && topics.templates.length > 0) {
      await clock.wait(refreshMs, signal);
      const reason = signal.aborted ? '' : await this.list().then(() => '', messageOf);
      if (reason !== '' && reason !== this.#reported && !signal.aborted) {
        logger.warn({ reason }, 'the topics of the cluster are not known: new ones are not read yet, all others are');
      }
      this.#reported = reason;
    }
  }

  /** An answer that was asked for before one that is taken already may lack a topic that this one has. */
  async #list(): Promise<void> {
    this.#lists += 1;
    const nth = this.#lists;
    const found = await this.#ports.admin.listTopics();
    if (nth > this.#taken) {
      this.#taken = nth;
      this.#ports.topics.list(found);
      for (const topic of this.#ports.topics.listed) {
        this.#seen.add(topic);
        this.#gone.delete(topic);
      }
      this.#reportLacking();
    }
  }

  /** A topic that no list has may be one that Kafka forbids, until the brokers answer that they do not have it. */
  #reportLacking(): void {
    const { topics } = this.#ports;
    const listed = new Set(topics.listed);
    topics.lack([...this.#seen].filter((topic) => !listed.has(topic)));
  }

  /**
   * A topic that the login may not describe is in no list, so at the next start of the group nobody owns it. What the
   * group has read before, or a list had, is asked for by its name, unless it is owned here.
   */
  async #askForUnlisted(): Promise<void> {
    const { admin, store, topics, onUnlisted } = this.#ports;
    for (const topic of await store.storedTopics()) {
      if (topics.isTemplated(topic) && !this.#gone.has(topic)) {
        this.#seen.add(topic);
      }
    }
    const listed = new Set(topics.listed);
    const unlisted = [...this.#seen].filter((topic) => !listed.has(topic) && !this.#owned.has(topic));
    const answer = unlisted.length === 0 ? [] : await admin.describeTopics(unlisted);
    // Of brokers that do not answer, the list alone shows what is deleted.
    this.#forget(answer === null ? unlisted : this.#goneOf(answer));
    onUnlisted(new Map([...this.#forbidden].map((topic) => [topic, forbidden(topic)])), this.#gone);
  }

  /** Kafka does not have these topics any more. */
  #forget(gone: readonly string[]): void {
    for (const topic of gone) {
      this.#seen.delete(topic);
      this.#gone.add(topic);
    }
    this.#reportLacking();
  }

  /** Topics that brokers have not had for 5 s: one that just started may miss any. A forbidden one is so until then. */
  #goneOf(answer: readonly DescribedTopic[]): readonly string[] {
    const now = this.#ports.clock.steady().getTime();
    const unknown = answer.filter(isUnknownTopic).map(({ topic }) => topic);
    this.#missedSince = new Map(unknown.map((topic) => [topic, this.#missedSince.get(topic) ?? now]));
    const gone = unknown.filter((topic) => now - (this.#missedSince.get(topic) ?? now) >= GONE_AFTER_MS);
    const before = this.#forbidden;
    this.#forbidden = new Set([
      ...answer.filter(isForbiddenTopic).map(({ topic }) => topic),
      ...unknown.filter((topic) => before.has(topic) && !gone.includes(topic)),
    ]);
    this.#reportGone(gone.filter((topic) => before.has(topic) && !this.#ports.topics.all.includes(topic)));
    return gone;
  }

  /**
   * Topics that can hold the claim of the group: those that the settings name, and a few of the others, which may be
   * many. A leader that owns nothing takes any that the cluster has.
   */
  ofClaim(): readonly string[] {
    const { names, listed } = this.#ports.topics;
    const owned = [...this.#owned].filter((topic) => !names.includes(topic));
    return [...names, ...(owned.length > 0 ? owned : listed).slice(0, AT_ONCE)];
  }

  /** The group assigned these partitions, and no others. */
  assigned(owned: readonly TopicPartition[]): void {
    this.#owned = new Set(owned.map(({ topic }) => topic));
    this.#ports.topics.use([...this.#owned]);
  }

  /** What is still written of these partitions needs their tables. */
  revoked(revoked: readonly TopicPartition[], released: Promise<void>): void {
    const leaving = new Set(revoked.map(({ topic }) => topic));
    this.#leaving.add(leaving);
    void released.finally(() => this.#leaving.delete(leaving));
  }

  /** The brokers answered, and do not have these topics. One that is owned is gone once the group has taken it away. */
  answered(unknown: readonly string[]): void {
    const { clock, topics } = this.#ports;
    const now = clock.steady().getTime();
    for (const topic of this.#unknownSince.keys()) {
      if (!unknown.includes(topic)) {
        this.#unknownSince.delete(topic);
      }
    }
    for (const topic of unknown.filter((each) => topics.isTemplated(each))) {
      this.#unknownSince.set(topic, this.#unknownSince.get(topic) ?? now);
    }
    const isHeld = (topic: string): boolean => [this.#owned, ...this.#leaving].some((held) => held.has(topic));
    const gone = [...this.#unknownSince].flatMap(([topic, since]) =>
      now - since >= GONE_AFTER_MS && topics.all.includes(topic) && !isHeld(topic) ? [topic] : [],
    );
    topics.drop(gone);
    gone.length > 0 && this.#forget(gone);
    this.#reportGone(gone);
  }

  #reportGone(topics: readonly string[]): void {
    if (topics.length > 0) {
      this.#ports.logger.info({ topics }, 'these topics were deleted: what was read of them stays in the tables');
    }
  }

  async #firstPositions(topics: readonly string[]): Promise<readonly FirstPositions[]> {
    // Before any log range: an offset of one topic is so never stored under the id of a later one.
    const ids = topics.length > 0 ? await this.#ports.admin.topicIds(topics) : new Map<string, string>();
    const found: FirstPositions[] = [];
    for (let from = 0; from < topics.length; from += AT_ONCE) {
      const some = topics.slice(from, from + AT_ONCE);
      found.push(...(await Promise.all(some.map((topic) => this.#firstOf(topic, ids.get(topic) ?? null)))));
    }
    return found;
  }

  async #firstOf(topic: string, topicId: string | null): Promise<FirstPositions> {
    const { admin, groupId, startFrom, topics } = this.#ports;
    const logs = await admin.logRanges(topic);
    const committed = startFrom === 'committed' ? await admin.committedOffsets(groupId, topic) : [];
    return {
      topic,
      takenBy: topics.takenBy(topic),
      choose: (stored) =>
        startPositions({ startFrom, logs, committed }, stored).map((first) => ({ ...first, topicId })),
    };
  }
}
