/**
 * The requests that name topics by id, which kafkajs has none of: Metadata 10 to 12, and Fetch 13 (KIP-516). A topic
 * that was deleted and created again has another id, whatever its name, its offsets and its leader epoch are.
 */
import type { Decoder, Encoder, ProtocolRequest } from './kafkajs/classes.ts';
import {
  ID_BYTES,
  KafkajsDecoder,
  KafkajsEncoder,
  NO_EPOCH,
  NO_ID,
  readInt64,
  readTags,
  readTopicId,
  writeArray,
  writeTags,
} from './kafkajs/flexible-versions.ts';
import type { MarkReader } from './kafkajs-record-patches.ts';

export const FETCH_KEY = 1;
export const METADATA_KEY = 3;
/** The first version of Fetch that names topics by id: Kafka 3.1. */
export const FETCH_BY_ID = 13;
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

/** A partition to fetch. */
export interface FetchedPartition {
  readonly partition: number;
  readonly fetchOffset: string;
  readonly maxBytes: number;
  readonly topicId?: string | null;
  /** The leader epoch of the record before the offset; left out where it is not known. */
  readonly leaderEpoch?: number | null;
}

/** What is fetched of a topic. */
export interface FetchedTopic {
  readonly topic: string;
  readonly partitions: readonly FetchedPartition[];
}

/** A fetch, with kafkajs's own defaults filled in. */
export interface FetchRequest {
  readonly replicaId?: number;
  readonly isolationLevel?: number;
  readonly maxWaitTime: number;
  readonly minBytes: number;
  readonly maxBytes: number;
  readonly rackId?: string;
  readonly topics: readonly FetchedTopic[];
}

/** Where a log parts from the records that were read before the offset that was asked for (KIP-320). */
interface Divergence {
  readonly leaderEpoch: number;
  /** The first offset that holds no record of that epoch, or of one before it. */
  readonly endOffset: bigint;
}

interface PartitionAnswer {
  readonly partition: number;
  readonly errorCode: number;
  readonly highWatermark: string;
  readonly lastStableOffset: string;
  readonly abortedTransactions: readonly { readonly producerId: string; readonly firstOffset: string }[];
  readonly preferredReadReplica: number;
  readonly divergence: Divergence | null;
  readonly messages: readonly unknown[];
}

/** What a broker answered to a fetch. */
export interface FetchResponse {
  readonly throttleTime: number;
  readonly clientSideThrottleTime: number;
  readonly errorCode: number;
  readonly responses: readonly { readonly topicName: string; readonly partitions: readonly PartitionAnswer[] }[];
}

function encodePartition(encoder: Encoder, { partition, leaderEpoch, fetchOffset, maxBytes }: FetchedPartition): void {
  encoder.writeInt32(partition).writeInt32(NO_EPOCH).writeInt64(fetchOffset);
  // The leader's log start, which only followers tell, comes between the last fetched epoch and the size.
  writeTags(
    encoder
      .writeInt32(leaderEpoch ?? NO_EPOCH)
      .writeInt64(-1)
      .writeInt32(maxBytes),
  );
}

/** The partitions of a request that are asked for by id, one by one, so that those of a topic may have different ids. */
const byId = (topics: readonly FetchedTopic[]) =>
  topics.flatMap(({ topic, partitions }) =>
    partitions.flatMap((partition) => (partition.topicId ? [{ ...partition, topic, topicId: partition.topicId }] : [])),
  );

function encodeFetch(request: FetchRequest): Encoder {
  const { replicaId = -1, isolationLevel = 1, maxWaitTime, minBytes, maxBytes, rackId = '', topics } = request;
  const encoder = writeTags(new KafkajsEncoder())
    .writeInt32(replicaId)
    .writeInt32(maxWaitTime)
    .writeInt32(minBytes)
    .writeInt32(maxBytes)
    .writeInt8(isolationLevel)
    .writeInt32(0) // no fetch session
    .writeInt32(-1);
  writeArray(encoder, byId(topics), (partition) => {
    encoder.writeBuffer(Buffer.from(partition.topicId, 'base64url'));
    writeTags(writeArray(encoder, [partition], (of) => encodePartition(encoder, of)));
  });
  return writeTags(writeArray(encoder, [], () => undefined).writeUVarIntString(rackId));
}

/** Decodes the records of a partition. */
/** Bytes behind their length, without a copy. */
function readBytes(decoder: Decoder): Buffer {
  const size = Math.max(0, decoder.readUVarInt() - 1);
  const bytes = decoder.buffer.subarray(decoder.offset, decoder.offset + size);
  decoder.forward(size);
  return bytes;
}

const DIVERGING_EPOCH = 0;

async function readPartition(decoder: Decoder, readRecords: MarkReader): Promise<PartitionAnswer> {
  const partition = decoder.readInt32();
  const errorCode = decoder.readInt16();
  const [highWatermark, lastStableOffset] = [String(readInt64(decoder)), String(readInt64(decoder))];
  readInt64(decoder); // the log's start
  const aborted = decoder.readUVarIntArray((of) => {
    const transaction = { producerId: String(readInt64(of)), firstOffset: String(readInt64(of)) };
    readTags(of);
    return transaction;
  });
  const preferredReadReplica = decoder.readInt32();
  const set = readBytes(decoder);
  let divergence: Divergence | null = null;
  readTags(decoder, DIVERGING_EPOCH, () => {
    divergence = { leaderEpoch: decoder.readInt32(), endOffset: readInt64(decoder) };
  });
  return {
    ...{ partition, errorCode, highWatermark, lastStableOffset, preferredReadReplica, divergence },
    abortedTransactions: aborted ?? [],
    messages: await readRecords(set, decoder),
  };
}

async function readFetch(bytes: Buffer, names: ReadonlyMap<string, string>, readRecords: MarkReader) {
  const decoder = new KafkajsDecoder(bytes);
  readTags(decoder);
  const head = { throttleTime: 0, clientSideThrottleTime: decoder.readInt32(), errorCode: decoder.readInt16() };
  decoder.readInt32();
  const responses: { topicName: string; partitions: PartitionAnswer[] }[] = [];
  for (let topics = decoder.readUVarInt() - 1; topics > 0; topics -= 1) {
    const topicName = names.get(readTopicId(decoder)) ?? '';
    const partitions: PartitionAnswer[] = [];
    for (let left = decoder.readUVarInt() - 1; left > 0; left -= 1) {
      partitions.push(await readPartition(decoder, readRecords));
    }
    readTags(decoder);
    responses.push({ topicName, partitions });
  }
  return { ...head, responses };
}

/**
 * A fetch of the partitions that have a topic id, by it: Fetch 13. Records of a topic with another id are never in the
 * answer. Each partition is asked for with the leader epoch of what was read last, so the broker tells where its log
 * has parted from that (KIP-320). Errors of partitions stay in the answer.
 */
export function fetchByIdRequest(request: FetchRequest, readRecords: MarkReader): ProtocolRequest<FetchResponse> {
  const names = new Map(byId(request.topics).map(({ topic, topicId }) => [topicId, topic]));
  return {
    request: {
      ...{ apiKey: FETCH_KEY, apiVersion: FETCH_BY_ID, apiName: 'Fetch' },
      encode: async () => encodeFetch(request),
    },
    response: {
      decode: (bytes) => readFetch(bytes, names, readRecords),
      parse: async (answer) => answer,
    },
  };
}
