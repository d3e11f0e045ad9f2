import type { Admin, ConfigResourceTypes, Kafka } from 'kafkajs';
import { systemClock } from '../stream/ports/clock.ts';
import type { PartitionLog, Position } from '../stream/ports/record-source.ts';
import { OutageError } from '../stream/ports/stream-errors.ts';
import { forbiddenTopics, messageOf, refusal } from './client/kafka-errors.ts';
import { BrokerConnections } from './fetch/broker-connections.ts';
import { clusterApart } from './fetch/cluster-apart.ts';
import type { DescribedTopic, TopicIdAdmin } from './kafkajs/admin-requests.ts';
import type { Cluster } from './kafkajs/classes.ts';
import { NO_OFFSET } from './kafkajs/topic-patches.ts';

/** A topic, among what has a configuration in Kafka. */
const TOPIC: ConfigResourceTypes.TOPIC = 2;

const RETENTION_MS = 'retention.ms';
const CLEANUP_POLICY = 'cleanup.policy';

/** A setting of a topic as a broker answers it: its default where the topic has none. */
interface ConfigEntry {
  readonly configName: string;
  readonly configValue: string | null;
}

/**
 * For how many milliseconds a topic keeps its records, by its settings. `null`: it deletes none by time, or they do not
 * say.
 */
export function retentionIn(entries: readonly ConfigEntry[]): number | null {
  const settingOf = (name: string): string => entries.find(({ configName }) => configName === name)?.configValue ?? '';
  const isDeleting = settingOf(CLEANUP_POLICY)
    .split(/\s*,\s*/)
    .includes('delete');
  const milliseconds = settingOf(RETENTION_MS);
  return isDeleting && /^\d+$/.test(milliseconds) ? Number(milliseconds) : null;
}

const asOutage = (what: string, asked: Parameters<typeof refusal>[1]) => (error: unknown) => {
  const reason = messageOf(error);
  const outage = () =>
    new OutageError(`Kafka could not report ${what}: ${reason}`, { cause: error, reason: 'kafka_away' });
  throw refusal(error, asked) ?? outage();
};

/** An offset that a group committed. */
export interface GroupOffset extends Omit<Position, 'offset'> {
  /** Left out where there is metadata alone. */
  readonly offset?: bigint;
  readonly metadata: string | null;
}

/**
 * Requests about logs, topics and groups, on separate connections, so that no long poll delays them. What an ACL
 * forbids is a FatalError, `TOPIC_FORBIDDEN` or `GROUP_FORBIDDEN`.
 */
export class KafkaAdmin {
  readonly #admin: Admin & TopicIdAdmin;
  #connected: Promise<void> | null = null;

  constructor(kafka: Kafka) {
    // admin-requests.ts adds what kafkajs's own types do not have.
    this.#admin = kafka.admin() as Admin & TopicIdAdmin;
  }

  /**
   * The log ranges of a topic's partitions, or that one has no leader. The end is the last stable offset: what a
   * read-committed consumer can reach.
   *
   * @throws OutageError while the brokers are away or the topic is unknown to them
   */
  async logRanges(topic: string): Promise<PartitionLog[]> {
    const ask = () => this.#connect().then(() => this.#admin.fetchTopicOffsets(topic));
    const offsets = await ask()
      .catch((error: unknown) => this.#unlessOthers(error, topic, ask))
      .catch(asOutage(`the offsets of ${topic}`, { topics: [topic] }));
    return offsets.map(({ partition, low, high }) =>
      [low, high].includes(NO_OFFSET)
        ? { topic, partition, isLeaderless: true }
        : { topic, partition, start: BigInt(low), end: BigInt(high) },
    );
  }

  /**
   * For how many milliseconds a topic keeps its records; `null` where it deletes none by time.
   *
   * @throws OutageError while the brokers are away
   * @throws FatalError `TOPIC_FORBIDDEN` without the right DescribeConfigs on the topic
   */
  async retentionMs(topic: string): Promise<number | null> {
    const resources = [{ type: TOPIC, name: topic, configNames: [RETENTION_MS, CLEANUP_POLICY] }];
    const ask = () => this.#connect().then(() => this.#admin.describeConfigs({ includeSynonyms: false, resources }));
    const answer = await ask()
      .catch((error: unknown) => this.#unlessOthers(error, topic, ask))
      .catch(asOutage(`the settings of ${topic}`, { topics: [topic] }));
    return retentionIn(answer.resources.flatMap(({ configEntries }) => configEntries));
  }

  /**
   * Kafka's ids of topics; a topic that the brokers do not have, or have no id of, is left out.
   *
   * @throws OutageError while the brokers are away
   */
  topicIds(topics: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return this.#connect()
      .then(() => this.#admin.fetchTopicIds(topics))
      .catch(asOutage(`the ids of ${topics.join(', ')}`, { topics }));
  }

  /**
   * What a broker answers about topics, with what the user may do; `null`: it is older than Kafka 2.8 and does not say.
   *
   * @throws OutageError while the brokers are away
   */
  describeTopics(topics: readonly string[]): Promise<readonly DescribedTopic[] | null> {
    return this.#connect()
      .then(() => this.#admin.describeTopics(topics))
      .catch(asOutage('its topics', { topics }));
  }

  /**
   * Whether the log of a partition's leader knows the epoch that the record before the position was read under; true
   * where there is none, or that is not known. Of a topic whose log ranges were asked for.
   *
   * @throws OutageError while the leader is away
   */
  async knowsEpoch({ leaderEpoch, ...target }: Position): Promise<boolean> {
    const asked = typeof leaderEpoch === 'number' ? this.#admin.knowsEpoch(target, leaderEpoch) : true;
    return Promise.resolve(asked).catch(asOutage(`the epochs of ${target.topic}`, { topics: [target.topic] }));
  }

  /**
   * All topics that the login may describe.
   *
   * @throws OutageError while the brokers are away
   */
  listTopics(): Promise<readonly string[]> {
    return this.#connect()
      .then(() => this.#admin.listTopics())
      .catch(asOutage('its topics', {}));
  }

  /**
   * The topics that the brokers do not have.
   *
   * @throws OutageError while the brokers are away
   */
  async missingTopics(topics: readonly string[]): Promise<string[]> {
    const missing = async (): Promise<string[]> => {
      const known = await this.#admin.listTopics();
      const unlisted = topics.filter((topic) => !known.includes(topic));
      // The list leaves out what may not be described, and asking for it by its name fails.
      await (unlisted.length > 0 && this.#admin.fetchTopicMetadata({ topics: unlisted }));
      return unlisted;
    };
    return this.#connect().then(missing).catch(asOutage('its topics', { topics }));
  }

  /**
   * Offsets that a group committed for a topic.
   *
   * @throws OutageError while the brokers are away
   */
  async committedOffsets(groupId: string, topic: string): Promise<Position[]> {
    const topics = await this.#connect()
      .then(() => this.#admin.fetchOffsets({ groupId, topics: [topic] }))
      .catch(asOutage(`the committed offsets of ${groupId}`, { groupId, topics: [topic] }));
    return topics
      .flatMap(({ partitions }) => partitions)
      .filter(({ offset }) => offset !== NO_OFFSET)
      .map(({ partition, offset }) => ({ topic, partition, offset: BigInt(offset) }));
  }

  /**
   * All that a group committed, for whatever topics.
   *
   * @throws OutageError while the brokers are away
   */
  async groupOffsets(groupId: string): Promise<GroupOffset[]> {
    const topics = await this.#connect()
      .then(() => this.#admin.fetchOffsets({ groupId }))
      .catch(asOutage(`the committed offsets of ${groupId}`, { groupId }));
    return topics.flatMap(({ topic, partitions }) =>
      partitions.map(({ partition, offset, metadata }) => ({
        ...{ topic, partition, metadata },
        ...(offset === NO_OFFSET ? {} : { offset: BigInt(offset) }),
      })),
    );
  }

  async disconnect(): Promise<void> {
    await this.#admin.disconnect().catch(() => undefined);
  }

  /**
   * Asks once more where the answer is that other topics are forbidden, which were asked about before: kafkajs asks
   * about all of them each time.
   */
  #unlessOthers<T>(error: unknown, topic: string, again: () => Promise<T>): Promise<T> {
    const forbidden = forbiddenTopics(error);
    this.#admin.forgetTopics(forbidden);
    return forbidden.length === 0 || forbidden.includes(topic) ? Promise.reject(error) : again();
  }

  #connect(): Promise<void> {
    this.#connected ??= this.#admin.connect().catch((error: unknown) => {
      this.#connected = null;
      throw error;
    });
    return this.#connected;
  }
}

/** The cluster as its brokers describe it. */
interface KafkaCheck extends Readonly<Record<string, string | number>> {
  readonly clusterId: string;
  readonly brokers: number;
}

/**
 * The health check of Kafka: one of the advertised brokers describes the cluster, on separate connections that are
 * opened anew after a failure. That a bootstrap address answers is not enough: no record is read there.
 *
 * @param createClient makes a client that gives up fast, since retries delay the check's answer; called at the first
 * check
 */
export function createKafkaCheck(createClient: () => Kafka): { check(): Promise<KafkaCheck>; close(): Promise<void> } {
  // Kept after a failure: it goes on with the bootstrap address after those that failed.
  let cluster: Cluster | null = null;
  let connections: BrokerConnections | null = null;
  return {
    async check() {
      cluster ??= clusterApart(createClient());
      connections ??= new BrokerConnections(cluster, systemClock);
      const asked = connections;
      try {
        const { clusterId, brokers } = await asked.describe();
        return { clusterId, brokers: brokers.length };
      } catch (error) {
        asked.close();
        connections = connections === asked ? null : connections;
        throw error;
      }
    },
    close: async () => connections?.close(),
  };
}
