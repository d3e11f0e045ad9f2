/**
 * Requests of the admin client that kafkajs does not have: Metadata 10 to 12, which names topics by id (KIP-516), and
 * OffsetForLeaderEpoch (KIP-320). A topic that was deleted and created again has another id, whatever its name, its
 * offsets and its leader epoch are; and a log that was cut off may not know the epoch that records were read under.
 */

import type { TopicPartition } from '../../records/record.ts';
import type { Decoder, Encoder, ProtocolRequest } from './classes.ts';
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

function readPartitionMetadata(decoder: Decoder): void {
  decoder.readInt16();
  decoder.forward(12); // partition, leader, leader epoch
  for (const _list of ['replicas', 'in sync', 'offline']) {
    decoder.readUVarIntArray((of) => of.readInt32());
  }
  readTags(decoder);
}

function readTopicMetadata(decoder: Decoder): readonly [string, string] {
  decoder.readInt16();
  const topic = decoder.readUVarIntString() ?? '';
  const id = readTopicId(decoder);
  decoder.readInt8();
  decoder.readUVarIntArray(readPartitionMetadata);
  decoder.readInt32();
  readTags(decoder);
  return [topic, id];
}

function readMetadata(decoder: Decoder): ReadonlyMap<string, string> {
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
  const topics = decoder.readUVarIntArray(readTopicMetadata) ?? [];
  return new Map(topics.filter(([, id]) => id !== NO_TOPIC_ID));
}

/**
 * Asks for the ids of topics; those that the broker does not have are left out of the answer.
 *
 * @param offered the latest version of Metadata that the broker offers
 * @returns null when that is below 10, and its answers have no ids
 */
export function topicIdsRequest(
  offered: number,
  topics: readonly string[],
): ProtocolRequest<ReadonlyMap<string, string>> | null {
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
    return writeTags(encoder.writeBoolean(false));
  };
  return {
    request: { apiKey: METADATA_KEY, apiVersion, apiName: 'Metadata', encode },
    response: { decode: async (bytes) => readMetadata(new KafkajsDecoder(bytes)), parse: async (ids) => ids },
  };
}

export const LEADER_EPOCH_KEY = 23;
/** The last version without flexible fields: Kafka 2.3. */
export const LEADER_EPOCH_VERSION = 3;

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
export function leaderEpochRequest(
  { topic, partition }: TopicPartition,
  leaderEpoch: number,
): ProtocolRequest<EpochAnswer> {
  const encode = async () => {
    const encoder = new KafkajsEncoder().writeInt32(-1).writeInt32(1).writeString(topic).writeInt32(1);
    return encoder.writeInt32(partition).writeInt32(NO_EPOCH).writeInt32(leaderEpoch);
  };
  return {
    request: { apiKey: LEADER_EPOCH_KEY, apiVersion: LEADER_EPOCH_VERSION, apiName: 'OffsetForLeaderEpoch', encode },
    response: { decode: async (bytes) => readAnswer(bytes), parse: async (answer) => answer },
  };
}
