import type { Heartbeat, PartitionsById } from '../../../../app/kafka/consumer-protocol/consumer-group-heartbeat.ts';
import type { ListedMember } from '../../../../app/kafka/consumer-protocol/consumer-group-requests.ts';
import type { Encoder } from '../../../../app/kafka/kafkajs/classes.ts';
import {
  KafkajsDecoder,
  KafkajsEncoder,
  readTags,
  readTopicId,
  writeArray,
  writeTags,
} from '../../../../app/kafka/kafkajs/flexible-versions.ts';
import type { SimulatedBrokerGroup } from './simulated-broker-group.ts';

const text = (encoder: Encoder, value: string | null): Encoder =>
  value === null ? encoder.writeUVarInt(0) : encoder.writeUVarIntString(value);

export function readHeartbeat(bytes: Buffer): Heartbeat {
  const decoder = new KafkajsDecoder(bytes);
  readTags(decoder);
  const [groupId, memberId] = [decoder.readUVarIntString() ?? '', decoder.readUVarIntString() ?? ''];
  const memberEpoch = decoder.readInt32();
  const instanceId = decoder.readUVarIntString();
  decoder.readUVarIntString();
  const rebalanceTimeoutMs = decoder.readInt32();
  const topics = decoder.readUVarIntArray((topic) => topic.readUVarIntString() ?? '');
  decoder.readUVarIntString();
  decoder.readUVarIntString();
  const owned = decoder.readUVarIntArray((of) => {
    const id = readTopicId(of);
    const numbers = of.readUVarIntArray((number) => number.readInt32()) ?? [];
    readTags(of);
    return [id, numbers] as const;
  });
  const lists = { topics, owned: owned && new Map(owned) };
  return { groupId, memberId, memberEpoch, instanceId, rebalanceTimeoutMs, ...lists };
}

function writePartitions(encoder: Encoder, partitions: PartitionsById, isNamed = false): void {
  writeArray(encoder, [...partitions], ([id, numbers]) => {
    encoder.writeBuffer(Buffer.from(id, 'base64url'));
    if (isNamed) text(encoder, 'name');
    writeArray(encoder, numbers, (number) => encoder.writeInt32(number));
    writeTags(encoder);
  });
}

export const bytesOf = (encoder: Encoder): Buffer => (encoder as Encoder & { readonly buffer: Buffer }).buffer;

export function beatAnswer(answer: ReturnType<SimulatedBrokerGroup['beat']>): Buffer {
  const encoder = writeTags(new KafkajsEncoder()).writeInt32(0);
  encoder.writeBuffer(Buffer.of(0, answer.errorCode));
  text(text(encoder, null), 'id').writeInt32(answer.memberEpoch).writeInt32(5_000);
  encoder.writeInt8(answer.assignment === null ? -1 : 1);
  if (answer.assignment !== null) {
    writePartitions(encoder, answer.assignment);
    writeTags(encoder);
  }
  return bytesOf(writeTags(encoder));
}

export function describeAnswer(members: readonly ListedMember[]): Buffer {
  const encoder = writeTags(new KafkajsEncoder()).writeInt32(0).writeUVarInt(2).writeBuffer(Buffer.of(0, 0));
  text(text(text(encoder, null), 'group'), 'Stable')
    .writeInt32(1)
    .writeInt32(1);
  writeArray(text(encoder, 'uniform'), members, ({ memberId, instanceId, assigned }) => {
    text(text(text(encoder, memberId), instanceId), null).writeInt32(1);
    writeArray(text(text(encoder, 'client'), '/127.0.0.1'), [], () => undefined);
    text(encoder, null);
    writePartitions(encoder, assigned, true);
    writeTags(encoder);
    writePartitions(encoder, new Map(), true);
    writeTags(writeTags(encoder));
  });
  return bytesOf(writeTags(writeTags(encoder.writeInt32(0))));
}

export function commitCode(group: SimulatedBrokerGroup, bytes: Buffer): Buffer {
  const decoder = new KafkajsDecoder(bytes);
  readTags(decoder);
  decoder.readUVarIntString();
  const epoch = decoder.readInt32();
  const code = group.commit(decoder.readUVarIntString() ?? '', epoch);
  const encoder = text(writeTags(new KafkajsEncoder()).writeInt32(0).writeUVarInt(2), 'a')
    .writeUVarInt(2)
    .writeInt32(0);
  return bytesOf(writeTags(writeTags(writeTags(encoder.writeBuffer(Buffer.of(0, code))))));
}
