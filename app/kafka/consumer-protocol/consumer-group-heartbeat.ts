/**
 * The heartbeat of a member whose group the brokers hold (KIP-848), which kafkajs does not have. Its layout is that of
 * Kafka's own ConsumerGroupHeartbeatRequest.json. It is flexible (KIP-482): lengths are unsigned varints and one more
 * than they are, 0 is null, and each structure ends with a count of tagged fields. An error stays in the answer.
 */
import type { Decoder, Encoder, ProtocolRequest } from '../kafkajs/classes.ts';
import {
  KafkajsDecoder,
  KafkajsEncoder,
  readTags,
  readTopicId,
  writeArray,
  writeTags,
} from '../kafkajs/flexible-versions.ts';

export const HEARTBEAT_KEY = 68;
/**
 * The first version in which the member makes its id (KIP-1082): Kafka 4.0. Version 0 was an early access, off by
 * default.
 */
export const HEARTBEAT_VERSION = 1;

/** Epochs of a heartbeat that mean something else. */
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
  /** Everything that the member may own now; null: as in the answer before. */
  readonly assignment: PartitionsById | null;
}

/** Kafka's encoder writes null, which its type does not have. */
export const writeText = (encoder: Encoder, text: string | null): Encoder =>
  text === null ? encoder.writeUVarInt(0) : encoder.writeUVarIntString(text);

/** kafkajs writes a head without tagged fields in front of the request. */
export const beginRequest = (): Encoder => writeTags(new KafkajsEncoder());

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
    const encoder = writeText(writeText(beginRequest(), groupId), memberId).writeInt32(memberEpoch);
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
