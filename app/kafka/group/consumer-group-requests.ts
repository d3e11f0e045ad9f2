/**
 * The requests of a member whose group is held by the brokers (KIP-848), none of which kafkajs has. Their layouts are those
 * of Kafka's own ConsumerGroupHeartbeatRequest.json, ConsumerGroupDescribeRequest.json and OffsetCommitRequest.json. All are
 * flexible (KIP-482): lengths are unsigned varints and one more than they are, 0 is null, and each structure ends with a
 * count of tagged fields. Errors of a group stay in the answer: what they mean depends on who asked.
 */
import type { Position } from '../../stream/record-source.ts';
import type { Decoder, Encoder, ProtocolRequest } from '../kafkajs/classes.ts';
import {
  KafkajsDecoder,
  KafkajsEncoder,
  NO_EPOCH,
  readTags,
  readTopicId,
  writeArray,
  writeTags,
} from '../kafkajs/flexible-versions.ts';

export const HEARTBEAT_KEY = 68;
/** The first version in which the member makes its id (KIP-1082): Kafka 4.0. Version 0 was an early access, off by default. */
export const HEARTBEAT_VERSION = 1;

/** Epochs of a heartbeat that stand for something else. */
export const JOIN_EPOCH = 0;
export const LEAVE_EPOCH = -1;
/** The member will be back: until its session is over, the next one with its instance id gets what it owned. */
export const RELEASE_EPOCH = -2;

const UNCHANGED_MS = -1;

/** Partitions by the ids of their topics. */
export type PartitionsById = ReadonlyMap<string, readonly number[]>;

/** A heartbeat. What is left out, or null, is as in the one before. */
export interface Heartbeat {
  readonly groupId: string;
  readonly memberId: string;
  readonly memberEpoch: number;
  readonly instanceId?: string | null;
  /** How long the member may take to give partitions up, in milliseconds. */
  readonly rebalanceTimeoutMs?: number;
  readonly topics?: readonly string[] | null;
  /** What the member has not given up. */
  readonly owned?: PartitionsById | null;
}

/** The coordinator's answer to a heartbeat. */
export interface HeartbeatAnswer {
  readonly errorCode: number;
  readonly errorMessage: string | null;
  readonly memberId: string | null;
  readonly memberEpoch: number;
  /** The longest pause between two heartbeats that the broker asks for, in milliseconds. */
  readonly intervalMs: number;
  /** Everything that the member may own now; null: as told before. */
  readonly assignment: PartitionsById | null;
}

/** Kafka's encoder writes null, which its type does not have. */
const writeText = (encoder: Encoder, text: string | null): Encoder =>
  text === null ? encoder.writeUVarInt(0) : encoder.writeUVarIntString(text);

/** kafkajs writes a head without tagged fields in front of the request. */
const begin = (): Encoder => writeTags(new KafkajsEncoder());

function writePartitions(encoder: Encoder, partitions: PartitionsById): void {
  writeArray(encoder, [...partitions], ([topicId, numbers]) => {
    encoder.writeBuffer(Buffer.from(topicId, 'base64url'));
    writeArray(encoder, numbers, (partition) => encoder.writeInt32(partition));
    writeTags(encoder);
  });
}

function readPartitions(decoder: Decoder): PartitionsById {
  const topics = decoder.readUVarIntArray((of) => {
    const topicId = readTopicId(of);
    const numbers = of.readUVarIntArray((partition) => partition.readInt32()) ?? [];
    readTags(of);
    return [topicId, numbers] as const;
  });
  return new Map(topics);
}

/**
 * The request ConsumerGroupHeartbeat, version 1:
 *
 *   group_id                string
 *   member_id               string   made by the member
 *   member_epoch            int32    0 joins, -1 leaves, -2 leaves for a while
 *   instance_id             string?  null, as before
 *   rack_id                 string?  null, as before; not sent
 *   rebalance_timeout_ms    int32    -1, as before
 *   subscribed_topic_names  array?   null, as before
 *   subscribed_topic_regex  string?  null, none
 *   server_assignor         string?  null, the broker's own
 *   topic_partitions        array?   null, as before
 *     topic_id              uuid
 *     partitions            array of int32
 *
 * and its answer:
 *
 *   throttle_time_ms        int32
 *   error_code              int16
 *   error_message           string?
 *   member_id               string?
 *   member_epoch            int32
 *   heartbeat_interval_ms   int32
 *   assignment              int8     -1, as before; 1, and then:
 *     topic_partitions      array    as above
 */
export function consumerGroupHeartbeat(beat: Heartbeat): ProtocolRequest<HeartbeatAnswer> {
  const { groupId, memberId, memberEpoch, instanceId = null, topics = null, owned = null } = beat;
  const encode = async (): Promise<Encoder> => {
    const encoder = writeText(writeText(begin(), groupId), memberId).writeInt32(memberEpoch);
    writeText(writeText(encoder, instanceId), null);
    encoder.writeInt32(beat.rebalanceTimeoutMs ?? UNCHANGED_MS);
    if (topics === null) {
      encoder.writeUVarInt(0);
    } else {
      writeArray(encoder, topics, (topic) => writeText(encoder, topic));
    }
    writeText(writeText(encoder, null), null);
    if (owned === null) {
      encoder.writeUVarInt(0);
    } else {
      writePartitions(encoder, owned);
    }
    return writeTags(encoder);
  };
  return {
    request: {
      ...{ apiKey: HEARTBEAT_KEY, apiVersion: HEARTBEAT_VERSION, apiName: 'ConsumerGroupHeartbeat' },
      encode,
    },
    response: { decode: async (bytes) => readHeartbeatAnswer(bytes), parse: async (answer) => answer },
  };
}

function readHeartbeatAnswer(bytes: Buffer): HeartbeatAnswer {
  const decoder = new KafkajsDecoder(bytes);
  readTags(decoder);
  decoder.readInt32();
  return {
    errorCode: decoder.readInt16(),
    errorMessage: decoder.readUVarIntString(),
    memberId: decoder.readUVarIntString(),
    memberEpoch: decoder.readInt32(),
    intervalMs: decoder.readInt32(),
    assignment: decoder.readInt8() < 0 ? null : readPartitions(decoder),
  };
}

const DESCRIBE_KEY = 69;
const DESCRIBE_VERSION = 0;

/** A member as the coordinator describes it. */
export interface ListedMember {
  readonly memberId: string;
  readonly instanceId: string | null;
  /** What it was told to own; the target that it is on its way to is not in it. */
  readonly assigned: PartitionsById;
}

/**
 * The request ConsumerGroupDescribe, version 0, for one group: an array of group_id, include_authorized_operations boolean.
 * Its answer is throttle_time_ms int32 and an array of one group:
 *
 *   error_code              int16
 *   error_message           string?
 *   group_id, group_state   string
 *   group_epoch, assignment_epoch int32
 *   assignor_name           string
 *   members                 array
 *     member_id             string
 *     instance_id, rack_id  string?
 *     member_epoch          int32
 *     client_id, client_host string
 *     subscribed_topic_names array of string
 *     subscribed_topic_regex string?
 *     assignment, target_assignment  an array each of topic_id uuid, topic_name string, partitions array of int32
 *   authorized_operations   int32
 *
 * @returns no member where the group cannot be described
 */
export function consumerGroupDescribe(groupId: string): ProtocolRequest<readonly ListedMember[]> {
  const encode = async (): Promise<Encoder> => {
    const encoder = begin();
    return writeTags(writeArray(encoder, [groupId], (group) => writeText(encoder, group)).writeBoolean(false));
  };
  const decode = async (bytes: Buffer): Promise<readonly ListedMember[]> => {
    const decoder = new KafkajsDecoder(bytes);
    readTags(decoder);
    decoder.readInt32();
    return (decoder.readUVarIntArray(readGroup) ?? []).flat();
  };
  return {
    request: { apiKey: DESCRIBE_KEY, apiVersion: DESCRIBE_VERSION, apiName: 'ConsumerGroupDescribe', encode },
    response: { decode, parse: async (members) => members },
  };
}

function readGroup(decoder: Decoder): readonly ListedMember[] {
  decoder.readInt16();
  for (const _text of ['error_message', 'group_id', 'group_state']) {
    decoder.readUVarIntString();
  }
  decoder.forward(8); // both epochs
  decoder.readUVarIntString();
  const members = decoder.readUVarIntArray(readMember) ?? [];
  decoder.readInt32();
  readTags(decoder);
  return members;
}

function readMember(decoder: Decoder): ListedMember {
  const memberId = decoder.readUVarIntString() ?? '';
  const instanceId = decoder.readUVarIntString();
  decoder.readUVarIntString();
  decoder.readInt32();
  decoder.readUVarIntString();
  decoder.readUVarIntString();
  decoder.readUVarIntArray((topic) => topic.readUVarIntString());
  decoder.readUVarIntString();
  const assigned = readNamedPartitions(decoder);
  readNamedPartitions(decoder);
  readTags(decoder);
  return { memberId, instanceId, assigned };
}

function readNamedPartitions(decoder: Decoder): PartitionsById {
  const topics = decoder.readUVarIntArray((of) => {
    const topicId = readTopicId(of);
    of.readUVarIntString();
    const numbers = of.readUVarIntArray((partition) => partition.readInt32()) ?? [];
    readTags(of);
    return [topicId, numbers] as const;
  });
  readTags(decoder);
  return new Map(topics);
}

const COMMIT_KEY = 8;
/** The first version that a group of this protocol takes; it names topics by their names, as the next one does not. */
const COMMIT_VERSION = 9;

/** A commit at an epoch of a member. */
export interface EpochCommit {
  readonly groupId: string;
  readonly memberId: string;
  readonly memberEpoch: number;
  readonly positions: readonly Position[];
  readonly metadata: string | null;
}

/**
 * The request OffsetCommit, version 9:
 *
 *   group_id                string
 *   generation_id_or_member_epoch int32
 *   member_id               string
 *   group_instance_id       string?  null: the member's id is enough
 *   topics                  array
 *     name                  string
 *     partitions            array
 *       partition_index     int32
 *       committed_offset    int64
 *       committed_leader_epoch int32  -1, not told
 *       committed_metadata  string?
 *
 * Its answer is throttle_time_ms int32, and the topics with partition_index int32, error_code int16 for each partition.
 *
 * @returns the first code of an error; 0 where every offset was taken
 */
export function offsetCommit({
  groupId,
  memberId,
  memberEpoch,
  positions,
  metadata,
}: EpochCommit): ProtocolRequest<number> {
  const encode = async (): Promise<Encoder> => {
    const encoder = writeText(begin(), groupId).writeInt32(memberEpoch);
    writeText(writeText(encoder, memberId), null);
    const topics = [...new Set(positions.map(({ topic }) => topic))];
    writeArray(encoder, topics, (topic) => {
      writeText(encoder, topic);
      const ofTopic = positions.filter((position) => position.topic === topic);
      writeArray(encoder, ofTopic, ({ partition, offset }) => {
        const bytes = Buffer.alloc(8);
        bytes.writeBigInt64BE(offset);
        writeTags(writeText(encoder.writeInt32(partition).writeBuffer(bytes).writeInt32(NO_EPOCH), metadata));
      });
      writeTags(encoder);
    });
    return writeTags(encoder);
  };
  return {
    request: { apiKey: COMMIT_KEY, apiVersion: COMMIT_VERSION, apiName: 'OffsetCommit', encode },
    response: { decode: async (bytes) => readCommitAnswer(bytes), parse: async (errorCode) => errorCode },
  };
}

function readCommitAnswer(bytes: Buffer): number {
  const decoder = new KafkajsDecoder(bytes);
  readTags(decoder);
  decoder.readInt32();
  const topics = decoder.readUVarIntArray((topic) => {
    topic.readUVarIntString();
    const errors = topic.readUVarIntArray((partition) => {
      partition.readInt32();
      const errorCode = partition.readInt16();
      readTags(partition);
      return errorCode;
    });
    readTags(topic);
    return errors ?? [];
  });
  return topics?.flat().find((errorCode) => errorCode !== 0) ?? 0;
}
