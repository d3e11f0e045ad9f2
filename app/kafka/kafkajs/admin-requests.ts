/**
 * Requests of the admin client that kafkajs does not have: Metadata 10 to 12, which names topics by id (KIP-516) and
 * says what a user may do with them (KIP-430), and OffsetForLeaderEpoch (KIP-320). A topic that was deleted and created
 * again has another id, whatever its name, its offsets and its leader epoch are. A log that was cut off may lack the
 * epoch that records were read under.
 */

import type { TopicPartition } from '../../records/record.ts';
import type { ClientOptions, Decoder, Encoder, ProtocolRequest } from './classes.ts';
import {
  KafkajsDecoder,
  KafkajsEncoder,
  NO_EPOCH,
  NO_TOPIC_ID,
  readInt64,
  readTags,
  readTopicId,
  TOPIC_ID_BYTES,
  writeArray,
  writeTags,
} from './flexible-versions.ts';

export const METADATA_KEY = 3;
/** The first version of Metadata that answers with ids, Kafka 2.8, and the last one that is known here. */
export const METADATA_WITH_IDS = 10;
const LAST_METADATA = 12;

/** What a broker answers about a topic. */
export interface DescribedTopic {
  readonly topic: string;
  /** 0: the broker has the topic, and the user may describe it. */
  readonly topicErrorCode: number;
  readonly id: string;
  readonly partitions: number;
  /** Partitions that no broker leads. */
  readonly leaderless: readonly number[];
  /** Whether the user may read or write records; `null`: the broker does not say. */
  readonly mayRead: boolean | null;
  readonly mayWrite: boolean | null;
}

/** Bits of operations, by their codes in Kafka's protocol (AclOperation). */
const READ = 1 << 3;
const WRITE = 1 << 4;
/** What a broker answers that does not say what a user may do. */
const NOT_SAID = -(2 ** 31);

function readPartitionMetadata(decoder: Decoder): { readonly partition: number; readonly leader: number } {
  decoder.readInt16();
  const [partition, leader] = [decoder.readInt32(), decoder.readInt32()];
  decoder.forward(4); // leader epoch
  for (const _list of ['replicas', 'in sync', 'offline']) {
    decoder.readUVarIntArray((of) => of.readInt32());
  }
  readTags(decoder);
  return { partition, leader };
}

function readTopicMetadata(decoder: Decoder): DescribedTopic {
  const topicErrorCode = decoder.readInt16();
  const topic = decoder.readUVarIntString() ?? '';
  const id = readTopicId(decoder);
  decoder.readInt8();
  const partitions = decoder.readUVarIntArray(readPartitionMetadata) ?? [];
  const operations = decoder.readInt32();
  readTags(decoder);
  const may = (bit: number): boolean | null => (operations === NOT_SAID ? null : (operations & bit) !== 0);
  const leaderless = partitions.filter(({ leader }) => leader < 0).map(({ partition }) => partition);
  const rights = { mayRead: may(READ), mayWrite: may(WRITE) };
  return { topic, topicErrorCode, id, partitions: partitions.length, leaderless, ...rights };
}

function readMetadata(decoder: Decoder): readonly DescribedTopic[] {
  readTags(decoder);
  decoder.readInt32();
  decoder.readUVarIntArray((broker) => {
    broker.readInt32();
    broker.readUVarIntString();
    broker.readInt32();
    broker.readUVarIntString();
    readTags(broker);
  });
  decoder.readUVarIntString();
  decoder.readInt32();
  return decoder.readUVarIntArray(readTopicMetadata) ?? [];
}

/** The ids of topics by their names; those that the broker does not have are left out. */
const idsOf = (topics: readonly DescribedTopic[]): ReadonlyMap<string, string> =>
  new Map(topics.filter(({ id }) => id !== NO_TOPIC_ID).map(({ topic, id }) => [topic, id]));

/**
 * Asks about topics.
 *
 * @param offered the latest version of Metadata that the broker offers
 * @param withRights whether the answer has what the user may do. @default false: the broker need not find out
 * @returns null when the version is below 10, and its answers have no ids
 */
export function topicsRequest(
  offered: number,
  topics: readonly string[],
  withRights = false,
): ProtocolRequest<readonly DescribedTopic[]> | null {
  if (offered < METADATA_WITH_IDS) {
    return null;
  }
  const apiVersion = Math.min(offered, LAST_METADATA);
  const encode = async (): Promise<Encoder> => {
    const encoder = writeTags(new KafkajsEncoder());
    writeArray(encoder, topics, (topic) => {
      writeTags(encoder.writeBuffer(Buffer.alloc(TOPIC_ID_BYTES)).writeUVarIntString(topic));
    });
    encoder.writeBoolean(false); // allow_auto_topic_creation
    if (apiVersion === METADATA_WITH_IDS) {
      encoder.writeBoolean(false); // include_cluster_authorized_operations
    }
    return writeTags(encoder.writeBoolean(withRights)); // include_topic_authorized_operations
  };
  return {
    request: { apiKey: METADATA_KEY, apiVersion, apiName: 'Metadata', encode },
    response: {
      decode: async (bytes) => readMetadata(new KafkajsDecoder(bytes)),
      parse: async (described) => described,
    },
  };
}

const LEADER_EPOCH_KEY = 23;
/** The last version without flexible fields: Kafka 2.3. */
const LEADER_EPOCH_VERSION = 3;

interface EpochAnswer {
  readonly errorCode: number;
  readonly isKnown: boolean;
}

function readAnswer(bytes: Buffer): EpochAnswer {
  const decoder = new KafkajsDecoder(bytes);
  decoder.forward(8); // throttle time, one topic
  decoder.readString();
  decoder.forward(4); // one partition
  const errorCode = decoder.readInt16();
  decoder.forward(4);
  // A leader that has neither the epoch nor a later one answers with no epoch and no offset.
  return { errorCode, isKnown: decoder.readInt32() !== NO_EPOCH && readInt64(decoder) >= 0n };
}

/** Asks the leader of a partition whether its log has the epoch, or a later one. */
function leaderEpochRequest({ topic, partition }: TopicPartition, leaderEpoch: number): ProtocolRequest<EpochAnswer> {
  const encode = async () => {
    const encoder = new KafkajsEncoder().writeInt32(-1).writeInt32(1).writeString(topic).writeInt32(1);
    return encoder.writeInt32(partition).writeInt32(NO_EPOCH).writeInt32(leaderEpoch);
  };
  return {
    request: { apiKey: LEADER_EPOCH_KEY, apiVersion: LEADER_EPOCH_VERSION, apiName: 'OffsetForLeaderEpoch', encode },
    response: { decode: async (bytes) => readAnswer(bytes), parse: async (answer) => answer },
  };
}

/** What the admin client answers beside kafkajs's own. */
export interface TopicIdAdmin {
  /** The ids of topics; those that the broker does not have, or has no id of, are left out. */
  fetchTopicIds(topics: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** What a broker answers about topics, with what the user may do; `null`: it is too old to say so. */
  describeTopics(topics: readonly string[]): Promise<readonly DescribedTopic[] | null>;
  /**
   * Whether the leader's log has the epoch, or a later one; true where the broker does not know. Of topics that the
   * client has asked for before.
   */
  knowsEpoch(target: TopicPartition, leaderEpoch: number): Promise<boolean>;
  /** Asks about these topics no more until they are asked for again: one that is forbidden would fail each request. */
  forgetTopics(topics: readonly string[]): void;
}

/** Lets the admin client answer the ids of topics and the epochs of logs. */
export function administerTopicIds(
  create: (options: ClientOptions) => object,
): (options: ClientOptions) => TopicIdAdmin {
  return (options) => {
    const { cluster } = options;
    const ask = async (topics: readonly string[], withRights: boolean) => {
      const { versions, connectionPool } = await cluster.brokerPool.findConnectedBroker();
      const request = topicsRequest(versions?.[METADATA_KEY]?.maxVersion ?? 0, topics, withRights);
      return request && connectionPool.send(request);
    };
    return {
      ...create(options),
      fetchTopicIds: async (topics) => idsOf((await ask(topics, false)) ?? []),
      describeTopics: (topics) => ask(topics, true),
      forgetTopics: (topics) => {
        for (const topic of topics) {
          cluster.targetTopics.delete(topic);
        }
      },
      knowsEpoch: async (target, leaderEpoch) => {
        const { topic, partition } = target;
        const [nodeId = ''] = Object.keys(cluster.findLeaderForPartitions(topic, [partition]));
        const { versions, connectionPool } = await cluster.findBroker({ nodeId });
        const hasEpochs = (versions?.[LEADER_EPOCH_KEY]?.maxVersion ?? 0) >= LEADER_EPOCH_VERSION;
        const answer = hasEpochs ? await connectionPool.send(leaderEpochRequest(target, leaderEpoch)) : null;
        return answer?.isKnown !== false || answer.errorCode !== 0;
      },
    };
  };
}
