import { partitionKey, type TopicPartition } from '../records/record.ts';
import type { OffsetOrigin } from '../stream/record-source.ts';
import { readingTopic, TOPIC_AUTHORIZATION_FAILED } from './authorization.ts';
import type { ReadBatch } from './fetch/record-set.ts';
import type { ProtocolRequest } from './kafkajs/classes.ts';
import { kafkajsEvents } from './kafkajs-consumer-patches.ts';
import type { MarkReader } from './kafkajs-record-patches.ts';
import { LEADER_EPOCH_KEY, LEADER_EPOCH_VERSION, leaderEpochRequest } from './leader-epoch-request.ts';
import {
  FETCH_BY_ID,
  FETCH_KEY,
  type FetchedPartition,
  type FetchedTopic,
  type FetchRequest,
  type FetchResponse,
  fetchByIdRequest,
  METADATA_KEY,
  METADATA_WITH_IDS,
  topicIdsRequest,
} from './topic-id-requests.ts';

/** Kafka's codes of a topic id that the broker does not have: UNKNOWN_TOPIC_ID, INCONSISTENT_TOPIC_ID. */
const UNKNOWN_IDS: readonly number[] = [100, 103];

const UNKNOWN: OffsetOrigin = { topicId: null, leaderEpoch: null };

/** What each partition of a group is fetched by, beside its offset: the topic id that is stored with the offset. */
export class FetchOrigins {
  readonly groupId: string;
  readonly #origins = new Map<string, OffsetOrigin>();

  constructor(groupId: string) {
    this.groupId = groupId;
  }

  get(target: TopicPartition): OffsetOrigin {
    return this.#origins.get(partitionKey(target)) ?? UNKNOWN;
  }

  set(target: TopicPartition, { topicId = null, leaderEpoch = null }: OffsetOrigin): void {
    this.#origins.set(partitionKey(target), { topicId, leaderEpoch });
  }

  /** Whether a record set is of the topic that is fetched now; of one that was fetched by name nothing else is known. */
  isFetched(target: TopicPartition, records: readonly unknown[]): boolean {
    return this.isCurrent(target, fetchedBy.get(records));
  }

  isCurrent(target: TopicPartition, topicId: string | null | undefined): boolean {
    return !topicId || topicId === this.get(target).topicId;
  }
}

const groups = new Map<string, FetchOrigins>();

/** The origins that the fetches of a group go out with. */
export function fetchOriginsOf(groupId: string): FetchOrigins {
  const origins = groups.get(groupId) ?? new FetchOrigins(groupId);
  groups.set(groupId, origins);
  return origins;
}

/** The topic ids that record sets were fetched by, known by the very array. */
const fetchedBy = new WeakMap<readonly unknown[], string>();

/** The leader epoch of a record set's last batch; messages before record format v2 have none. */
export function lastEpochOf(records: readonly unknown[]): number | null {
  const { leaderEpoch } = (records.at(-1) ?? {}) as Partial<ReadBatch>;
  return leaderEpoch ?? null;
}

interface FetchProtocol {
  readonly versions: readonly string[];
  readonly protocol: (choice: {
    readonly version: number;
  }) => (request: FetchRequest) => ProtocolRequest<FetchResponse>;
}

const hasIds = ({ partitions }: FetchedTopic): boolean => partitions.some(({ topicId }) => topicId);

/**
 * kafkajs's fetch with version 13 beside its own, which end at 11. A broker that offers 12 is asked by 11, and so is one
 * for topics whose ids are not known.
 */
export function fetchProtocol(shipped: FetchProtocol, readRecords: MarkReader): FetchProtocol {
  const last = Math.max(...shipped.versions.map(Number));
  return {
    versions: [...shipped.versions, String(FETCH_BY_ID)],
    protocol: ({ version }) => {
      const byName = shipped.protocol({ version: Math.min(version, last) });
      return (request) => {
        const named = byName(request);
        const isById = version >= FETCH_BY_ID && request.topics.some(hasIds);
        return isById ? { ...named, ...fetchByIdRequest(request, readRecords) } : named;
      };
    },
  };
}

/** Requests by their keys, and the versions of each that a broker offers. */
type OfferedVersions = Readonly<Record<number, { readonly maxVersion: number }>>;

interface Broker {
  readonly versions: OfferedVersions | null;
  fetch(request: FetchRequest): Promise<FetchResponse>;
}

const owners = new WeakMap<Broker, FetchOrigins>();

interface Cluster {
  readonly brokerPool: { createBroker: (options: unknown) => Broker };
}

/** Lets the consumers of a group fetch by the origins of {@link fetchOriginsOf}. */
export function consumeByOrigins<Options>(create: (options: Options) => unknown): (options: Options) => unknown {
  return (options) => {
    const { cluster, groupId } = options as { readonly cluster: Cluster; readonly groupId: string };
    const { createBroker } = cluster.brokerPool;
    cluster.brokerPool.createBroker = (brokerOptions) => {
      const broker = createBroker(brokerOptions);
      owners.set(broker, fetchOriginsOf(groupId));
      return broker;
    };
    return create(options);
  };
}

/** What the admin client answers beside kafkajs's own. */
export interface TopicIdAdmin {
  /** The ids of topics; those that the broker does not have, or tells no id of, are left out. */
  fetchTopicIds(topics: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /**
   * Whether the leader's log has the epoch, or a later one; true where the broker does not tell. Of topics that the
   * client has asked for before.
   */
  knowsEpoch(target: TopicPartition, leaderEpoch: number): Promise<boolean>;
}

interface ConnectedBroker {
  readonly versions: OfferedVersions | null;
  readonly connectionPool: { send<Answer>(request: ProtocolRequest<Answer>): Promise<Answer> };
}

interface AdminCluster {
  readonly brokerPool: { findConnectedBroker(): Promise<ConnectedBroker> };
  findLeaderForPartitions(topic: string, partitions: readonly number[]): Readonly<Record<string, unknown>>;
  findBroker(wanted: { readonly nodeId: string }): Promise<ConnectedBroker>;
}

/** Lets the admin client tell the ids of topics and the epochs of logs. */
export function administerTopicIds<Options>(create: (options: Options) => unknown): (options: Options) => TopicIdAdmin {
  return (options) => {
    const { cluster } = options as { readonly cluster: AdminCluster };
    return {
      ...(create(options) as object),
      fetchTopicIds: async (topics) => {
        const { versions, connectionPool } = await cluster.brokerPool.findConnectedBroker();
        const request = topicIdsRequest(versions?.[METADATA_KEY]?.maxVersion ?? 0, topics);
        return request ? connectionPool.send(request) : new Map();
      },
      knowsEpoch: async (target, leaderEpoch) => {
        const { topic, partition } = target;
        const [nodeId = ''] = Object.keys(cluster.findLeaderForPartitions(topic, [partition]));
        const { versions, connectionPool } = await cluster.findBroker({ nodeId });
        const tells = (versions?.[LEADER_EPOCH_KEY]?.maxVersion ?? 0) >= LEADER_EPOCH_VERSION;
        const answer = tells ? await connectionPool.send(leaderEpochRequest(target, leaderEpoch)) : null;
        return answer?.isKnown !== false || answer.errorCode !== 0;
      },
    };
  };
}

/** The partitions of a request with what they are fetched by, those with an id apart from those without one. */
function byOrigins(topics: readonly FetchedTopic[], origins: FetchOrigins): readonly (readonly FetchedTopic[])[] {
  const all = topics.map(({ topic, partitions }) => ({
    topic,
    partitions: partitions.map((of) => ({ ...of, ...origins.get({ topic, partition: of.partition }) })),
  }));
  const withIds = (isKnown: boolean): readonly FetchedTopic[] =>
    all
      .map(({ topic, partitions }) => ({
        topic,
        partitions: partitions.filter(({ topicId }) => Boolean(topicId) === isKnown),
      }))
      .filter(({ partitions }) => partitions.length > 0);
  return [withIds(true), withIds(false)].filter((part) => part.length > 0);
}

type PartitionAnswer = FetchResponse['responses'][number]['partitions'][number];

/**
 * Reports what a reader must not get, and tells whether there is anything for one. Nothing of a partition whose topic or
 * log is another one is handed over: its records stay ahead of the stored offset.
 */
function isForReader(
  origins: FetchOrigins,
  asked: FetchedPartition & TopicPartition,
  answer: PartitionAnswer,
): boolean {
  const { groupId } = origins;
  const { topic, partition, fetchOffset, topicId = null } = asked;
  const { errorCode, divergence } = answer;
  const isCurrent = origins.isCurrent(asked, topicId);
  if (errorCode === TOPIC_AUTHORIZATION_FAILED) {
    const fault = { code: 'TOPIC_FORBIDDEN', reason: `Kafka forbids it: ${readingTopic(topic)}` } as const;
    kafkajsEvents.emit('unreadable', { groupId, topic, partition, offset: BigInt(fetchOffset), ...fault });
    return false;
  }
  if (UNKNOWN_IDS.includes(errorCode)) {
    if (isCurrent) {
      kafkajsEvents.emit('outOfRange', { groupId, topic, partition });
    }
    return false;
  }
  if (!divergence) {
    return true;
  }
  const { leaderEpoch, endOffset } = divergence;
  if (isCurrent && endOffset < BigInt(fetchOffset)) {
    kafkajsEvents.emit('truncated', { groupId, topic, partition, leaderEpoch, endOffset, readTo: BigInt(fetchOffset) });
  } else if (isCurrent) {
    // The log parted from that epoch behind what was read, of which nothing is gone.
    origins.set(asked, { topicId, leaderEpoch });
  }
  return false;
}

/** What an answer holds for a reader; each record set is marked with the topic id that it was fetched by. */
function forReader(origins: FetchOrigins, topics: readonly FetchedTopic[], answer: FetchResponse): FetchResponse {
  const responses = answer.responses.map(({ topicName: topic, partitions }) => ({
    topicName: topic,
    partitions: partitions.filter((answered) => {
      const asked = topics
        .find((of) => of.topic === topic)
        ?.partitions.find((of) => of.partition === answered.partition);
      if (asked?.topicId) {
        fetchedBy.set(answered.messages, asked.topicId);
      }
      return asked === undefined || isForReader(origins, { ...asked, topic }, answered);
    }),
  }));
  return { ...answer, responses };
}

/**
 * Fetches by topic id where the broker offers it. As shipped a topic is fetched by its name: one that was deleted and
 * created again between two fetches is read on at the old one's offset, without an error, and what it holds below is
 * never read.
 *
 * @param parse fails for the errors in an answer, as shipped
 */
export function fetchByTopicId(
  prototype: Broker,
  { parse }: Pick<ProtocolRequest<FetchResponse>['response'], 'parse'>,
): void {
  const { fetch } = prototype;
  prototype.fetch = async function fetchByOrigins(this: Broker, request) {
    const origins = owners.get(this);
    if (origins === undefined) {
      return fetch.call(this, request);
    }
    const latest = (key: number): number => this.versions?.[key]?.maxVersion ?? 0;
    const offered = latest(FETCH_KEY);
    if (offered < FETCH_BY_ID) {
      const knowsIds = latest(METADATA_KEY) >= METADATA_WITH_IDS;
      kafkajsEvents.emit('fetchedByName', { groupId: origins.groupId, offered, knowsIds });
      return fetch.call(this, request);
    }
    const answers = await Promise.all(
      byOrigins(request.topics, origins).map(async (topics) => {
        const answer = await fetch.call(this, { ...request, topics });
        return parse(forReader(origins, topics, answer));
      }),
    );
    const [first] = answers;
    const responses = answers.flatMap((answer) => answer.responses);
    return first ? { ...first, responses } : fetch.call(this, request);
  };
}
