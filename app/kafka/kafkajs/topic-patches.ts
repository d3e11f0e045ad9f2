import {
  errorTypeOf,
  ForbiddenTopics,
  isForbiddenTopic,
  isUnknownTopic,
  UNKNOWN_TOPIC_OR_PARTITION,
} from '../client/kafka-errors.ts';
import type { AskedTopic, Broker, ClientOptions, Cluster, Metadata, TopicMetadata, TopicOffsets } from './classes.ts';
import { type Internals, internals } from './internals.ts';

/**
 * Kafka's codes of a partition that has no leader for now: LEADER_NOT_AVAILABLE, LISTENER_NOT_FOUND. It comes with the
 * leader -1, which no broker is.
 */
const LEADERLESS: readonly number[] = [5, 72];

/** What kafkajs answers for a partition without a committed offset, and this patch for one without a leader. */
export const NO_OFFSET = '-1';

type MetadataResponse = Internals['metadataResponse'];

/** What is left of an answer about a topic for kafkajs to find errors in. */
const withLeaders = (topic: TopicMetadata): TopicMetadata => ({
  ...topic,
  partitionMetadata: topic.partitionMetadata.filter(({ partitionErrorCode: code }) => !LEADERLESS.includes(code)),
});

/**
 * Reads a metadata response in which topics are unknown or forbidden: they stay in it, without partitions. So do
 * partitions without a leader, which are fetched by no broker until they have one. Every other error is thrown as
 * shipped.
 *
 * @param shipped kafkajs's own, from which that of every later version takes `parse`
 */
export function metadataResponse(shipped: MetadataResponse): MetadataResponse {
  return {
    ...shipped,
    parse: async (data) => {
      const topicMetadata = data.topicMetadata.filter((topic) => !isUnknownTopic(topic) && !isForbiddenTopic(topic));
      await shipped.parse({ ...data, topicMetadata: topicMetadata.map(withLeaders) });
      return data;
    },
  };
}

/** The brokers of clients that go on without a topic that is unknown. */
const tolerant = new WeakSet<Broker>();

/**
 * Lets an unknown topic fail the request as shipped, but for the clients that go on without it, and a forbidden one by
 * an error that names it.
 */
export function failOverUnknownTopics(prototype: Broker): void {
  const { metadata } = prototype;
  prototype.metadata = async function metadataOrFail(this: Broker, topics) {
    const answer = await metadata.call(this, topics);
    const forbidden = answer.topicMetadata.filter(isForbiddenTopic).map(({ topic }) => topic);
    if (forbidden.length > 0) {
      throw new ForbiddenTopics(forbidden);
    }
    const unknown = answer.topicMetadata.filter(isUnknownTopic);
    if (unknown.length > 0 && !tolerant.has(this)) {
      throw internals.createErrorFromCode(UNKNOWN_TOPIC_OR_PARTITION);
    }
    return answer;
  };
}

/** Lets the brokers of a client go on without a topic that is unknown. */
function goOnWithoutUnknown({ brokerPool }: Cluster): void {
  const { createBroker } = brokerPool;
  brokerPool.createBroker = (options) => {
    const broker = createBroker(options);
    tolerant.add(broker);
    return broker;
  };
}

type FetchOffsets = Cluster['fetchTopicsOffset'];

/** Fails for topics that are unknown, for which the shipped method has no entry at all. */
const failingForUnknown =
  (fetch: FetchOffsets): FetchOffsets =>
  async (topics) => {
    const known = await fetch(topics);
    if (topics.some(({ topic }) => !known.some((answered) => answered.topic === topic))) {
      throw internals.createErrorFromCode(UNKNOWN_TOPIC_OR_PARTITION);
    }
    return known;
  };

const withoutOffsets = (unknown: readonly AskedTopic[]): readonly TopicOffsets[] =>
  unknown.map(({ topic, partitions }) => ({
    topic,
    partitions: partitions.map(({ partition }) => ({ partition, offset: NO_OFFSET })),
  }));

/** Asks for the offsets of the partitions that have a leader, and answers for the others that they are not known. */
const ofLeadersAlone =
  (cluster: Cluster, fetch: FetchOffsets): FetchOffsets =>
  async (topics) => {
    const split = topics.map((asked) => {
      const found = cluster.findTopicPartitionMetadata(asked.topic);
      const leaderless = new Set(found.filter(({ leader }) => leader < 0).map(({ partitionId }) => partitionId));
      return { asked, leaderless };
    });
    const led = split.map(({ asked, leaderless }) => ({
      ...asked,
      partitions: asked.partitions.filter(({ partition }) => !leaderless.has(partition)),
    }));
    const isAsked = ({ partitions }: AskedTopic, nth: number) =>
      partitions.length > 0 || split[nth]?.leaderless.size === 0;
    const answers = await fetch(led.filter(isAsked));
    return withoutOffsets(topics).map((unknown) => {
      const known = answers.find(({ topic }) => topic === unknown.topic)?.partitions ?? [];
      const numbers = new Set(known.map(({ partition }) => partition));
      const others = unknown.partitions.filter(({ partition }) => !numbers.has(partition));
      return { ...unknown, partitions: [...known, ...others] };
    });
  };

const leadersOf = (cluster: Cluster, topics: Iterable<string>): readonly number[] =>
  [...topics].flatMap((topic) => cluster.findTopicPartitionMetadata(topic).map(({ leader }) => leader));

/** Asks for the metadata anew where a leader of before failed, and then the leaders of now. */
const followingLeaders =
  (cluster: Cluster, fetch: FetchOffsets): FetchOffsets =>
  async (topics) => {
    const leaders = () => leadersOf(cluster, new Set(topics.map(({ topic }) => topic))).join();
    const before = leaders();
    try {
      return await fetch(topics);
    } catch (error) {
      await cluster.refreshMetadata().catch(() => undefined);
      if (leaders() === before) {
        throw error;
      }
      return fetch(topics);
    }
  };

/**
 * Asks for the metadata anew while a partition has no leader. kafkajs asks for each topic whether that is necessary,
 * and to look through all of them takes time. So each metadata is looked through once.
 */
function lookForLeaders(cluster: Cluster): void {
  const refreshMetadataIfNecessary = cluster.refreshMetadataIfNecessary.bind(cluster);
  const known = new WeakMap<Metadata, boolean>();
  const lacksLeader = (metadata: Metadata): boolean => {
    const lacks = known.get(metadata) ?? leadersOf(cluster, cluster.targetTopics).some((leader) => leader < 0);
    known.set(metadata, lacks);
    return lacks;
  };
  cluster.refreshMetadataIfNecessary = () => {
    const { metadata } = cluster.brokerPool;
    return metadata !== null && lacksLeader(metadata) ? cluster.refreshMetadata() : refreshMetadataIfNecessary();
  };
}

/**
 * As shipped each partition is looked for among all, and what was found is copied for each: a million steps for a
 * thousand partitions. By numbers alone: a producer asks by texts, and has no such cluster.
 */
function findLeadersAtOnce(cluster: Cluster): void {
  cluster.findLeaderForPartitions = (topic, partitions) => {
    const found = cluster.findTopicPartitionMetadata(topic);
    const leaders = new Map(found.map(({ partitionId, leader }) => [partitionId, leader]));
    const byLeader = new Map<number, number[]>();
    for (const partition of partitions) {
      const leader = leaders.get(partition);
      if (leader !== undefined) {
        const others = byLeader.get(leader);
        others === undefined ? byLeader.set(leader, [partition]) : others.push(partition);
      }
    }
    return Object.fromEntries(byLeader);
  };
}

/** A call that waits for the others of its turn. */
interface OffsetsCall {
  readonly topics: readonly AskedTopic[];
  readonly resolve: (answers: Promise<readonly TopicOffsets[]>) => void;
}

/** After this time each topic is asked for alone: brokers answer for all of them within milliseconds. */
const LATE_MS = 3_000;

/**
 * The same as one request. Where it fails or is late each call asks alone, so no topic fails or waits for another one.
 */
function fetchTogether(fetch: FetchOffsets, calls: readonly OffsetsCall[]): void {
  const answered = fetch(calls.flatMap(({ topics }) => topics));
  if (calls.length === 1) {
    calls[0]?.resolve(answered);
    return;
  }
  const inTime = new Promise<readonly TopicOffsets[]>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('late')), LATE_MS).unref();
    answered.then(resolve, reject).finally(() => clearTimeout(timer));
  });
  for (const { topics, resolve } of calls) {
    const names = new Set(topics.map(({ topic }) => topic));
    const own = (answers: readonly TopicOffsets[]) => answers.filter(({ topic }) => names.has(topic));
    resolve(inTime.then(own, () => fetch(topics)));
  }
}

/**
 * Asks for the offsets of all topics that are asked for in one turn of the event loop by one request: the admin client
 * makes two of each topic, which for 200 topics every 2 s is more than reading their records costs.
 */
function inOneRequest(fetch: FetchOffsets): FetchOffsets {
  const gathering = new Map<boolean, OffsetsCall[]>();
  return (topics) =>
    new Promise((resolve) => {
      const isBeginning = topics.some(({ fromBeginning }) => fromBeginning === true);
      const calls = gathering.get(isBeginning) ?? [];
      const names = new Set(calls.flatMap((call) => call.topics.map(({ topic }) => topic)));
      if (calls.length === 0 || topics.some(({ topic }) => names.has(topic))) {
        const first = [{ topics, resolve }];
        gathering.set(isBeginning, first);
        setImmediate(() => {
          gathering.get(isBeginning) === first && gathering.delete(isBeginning);
          fetchTogether(fetch, first);
        });
      } else {
        calls.push({ topics, resolve });
      }
    });
}

/**
 * Lets the admin client answer for one topic when another one, which was asked for before, is unknown by now, and for
 * the partitions that have a leader when others have none. As shipped it keeps its metadata for five minutes, and an
 * error of one leader fails a topic as a whole for as long.
 */
export function administerKnownTopics({ cluster }: Pick<ClientOptions, 'cluster'>): void {
  goOnWithoutUnknown(cluster);
  lookForLeaders(cluster);
  findLeadersAtOnce(cluster);
  const fetch = cluster.fetchTopicsOffset.bind(cluster);
  const ofLeaders = ofLeadersAlone(cluster, failingForUnknown(fetch));
  cluster.fetchTopicsOffset = inOneRequest(followingLeaders(cluster, ofLeaders));
  findForbiddenGroups(cluster);
}

/**
 * Fails by the broker's own answer where an ACL forbids the group whose coordinator is looked up. As shipped the error
 * is that no broker knows it, as while the brokers start.
 */
function findForbiddenGroups(cluster: Cluster): void {
  const find = cluster.findGroupCoordinatorMetadata.bind(cluster);
  cluster.findGroupCoordinatorMetadata = async (asked) =>
    find(asked).catch(async (error: unknown) => {
      const ask = async () => (await cluster.brokerPool.findConnectedBroker()).findGroupCoordinator(asked);
      return ask().catch((answer: unknown) => {
        throw errorTypeOf(answer) === 'GROUP_AUTHORIZATION_FAILED' ? answer : error;
      });
    });
}
