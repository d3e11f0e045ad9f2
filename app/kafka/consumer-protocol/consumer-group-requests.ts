/**
 * The other requests of a member of KIP-848, in versions that kafkajs does not have. Their layouts are those of Kafka's
 * own ConsumerGroupDescribeRequest.json and OffsetCommitRequest.json, in the encoding of the heartbeat.
 */
import type { Position } from '../../stream/ports/record-source.ts';
import type { Decoder, Encoder, ProtocolRequest } from '../kafkajs/classes.ts';
import {
  KafkajsDecoder,
  NO_EPOCH,
  readTags,
  readTopicId,
  writeArray,
  writeTags,
} from '../kafkajs/flexible-versions.ts';
import { beginRequest, type PartitionsById, writeText } from './consumer-group-heartbeat.ts';

const DESCRIBE_KEY = 69;
const DESCRIBE_VERSION = 0;

/** A member as the coordinator describes it. */
export interface ListedMember {
  readonly memberId: string;
  readonly instanceId: string | null;
  /** What it was assigned; the target that it is on its way to is not in it. */
  readonly assigned: PartitionsById;
}

/** Those of the partitions that no member was assigned. */
export function unowned(partitions: PartitionsById, members: readonly ListedMember[]): PartitionsById {
  const isOwned = (topicId: string, partition: number): boolean =>
    members.some(({ assigned }) => assigned.get(topicId)?.includes(partition));
  const left = Array.from(partitions, ([topicId, numbers]): [string, readonly number[]] => [
    topicId,
    numbers.filter((partition) => !isOwned(topicId, partition)),
  ]);
  return new Map(left.filter(([, numbers]) => numbers.length > 0));
}

/**
 * The request ConsumerGroupDescribe, version 0, for one group: an array of group_id, include_authorized_operations
 * boolean. Its answer is throttle_time_ms int32 and an array of one group:
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
    const encoder = beginRequest();
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
 *       committed_leader_epoch int32  -1, not sent
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
    const encoder = writeText(beginRequest(), groupId).writeInt32(memberEpoch);
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
