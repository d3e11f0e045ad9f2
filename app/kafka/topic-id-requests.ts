/**
 * The request that names topics by id, which kafkajs does not have: Metadata 10 to 12 (KIP-516). A topic that was deleted and created again has another id, whatever its name, its offsets and its leader epoch are.
 */
import type { Decoder, Encoder, ProtocolRequest } from './kafkajs/classes.ts';
import {
  ID_BYTES,
  KafkajsDecoder,
  KafkajsEncoder,
  NO_ID,
  readTags,
  readTopicId,
  writeArray,
  writeTags,
} from './kafkajs/flexible-versions.ts';

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
  return new Map(topics.filter(([, id]) => id !== NO_ID));
}

/**
 * Asks for the ids of topics; those that the broker does not have are left out of the answer.
 *
 * @param offered the latest version of Metadata that the broker offers
 * @returns null when that is below 10, and it tells no ids
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
      writeTags(encoder.writeBuffer(Buffer.alloc(ID_BYTES)).writeUVarIntString(topic));
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
