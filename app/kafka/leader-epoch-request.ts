/** OffsetForLeaderEpoch (KIP-320), which kafkajs does not have: whether a log knows the epoch that records were read under. */
import type { TopicPartition } from '../records/record.ts';
import type { ProtocolRequest } from './kafkajs/classes.ts';
import { KafkajsDecoder, KafkajsEncoder, NO_EPOCH, readInt64 } from './kafkajs/flexible-versions.ts';

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
