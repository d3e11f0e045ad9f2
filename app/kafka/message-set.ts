import { createRequire } from 'node:module';
import { crc32 } from 'node:zlib';
import type { StreamRecord } from '../stream/record.ts';
import { ChecksumError } from './broken-batch.ts';

const require = createRequire(import.meta.url);

interface Codec {
  decompress(bytes: Buffer): Promise<Buffer>;
}

const { lookupCodecByAttributes } = require('kafkajs/src/protocol/message/compression') as {
  lookupCodecByAttributes(attributes: number): Codec | null;
};

/** Offset and size, which stand in front of each message. */
export const MESSAGE_HEAD_BYTES = 12;

const CRC_END = MESSAGE_HEAD_BYTES + 4;

/** Messages of these formats know no producer, no transaction and no control record. */
const NO_CONTEXT = { producerId: '-1', inTransaction: false };

/** A message of format v0 or v1, as the filter of aborted transactions wants a record. */
export interface OldRecord extends StreamRecord {
  readonly isControlRecord: false;
  readonly batchContext: typeof NO_CONTEXT;
}

/** A message as it is stored. The value of a compressed one is a set of messages. */
interface Message {
  readonly offset: bigint;
  readonly magic: number;
  readonly attributes: number;
  /** -1 in format v0, which has none. */
  readonly timestamp: bigint;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
}

const LOG_APPEND_TIME = 0x8;

/** Bytes behind their length; -1 is null. */
function bytesAt(message: Buffer, at: number): Buffer | null {
  const length = message.readInt32BE(at);
  return length < 0 ? null : message.subarray(at + 4, at + 4 + length);
}

/** @throws ChecksumError when its checksum is another one */
function readMessage(message: Buffer): Message {
  const [stored, computed] = [message.readUInt32BE(MESSAGE_HEAD_BYTES), crc32(message.subarray(CRC_END))];
  if (stored !== computed) {
    throw new ChecksumError('CRC-32', computed, stored);
  }
  const magic = message.readInt8(CRC_END);
  const keyAt = CRC_END + (magic === 0 ? 2 : 10);
  const key = bytesAt(message, keyAt);
  return {
    offset: message.readBigInt64BE(0),
    magic,
    attributes: message.readInt8(CRC_END + 1),
    timestamp: magic === 0 ? -1n : message.readBigInt64BE(CRC_END + 2),
    key,
    value: bytesAt(message, keyAt + 4 + (key?.length ?? 0)),
  };
}

function readMessages(set: Buffer): Message[] {
  const messages: Message[] = [];
  for (let at = 0; at < set.length; ) {
    const end = at + MESSAGE_HEAD_BYTES + set.readInt32BE(at + 8);
    messages.push(readMessage(set.subarray(at, end)));
    at = end;
  }
  return messages;
}

const recordOf = ({ key, value }: Message, offset: bigint, timestamp: bigint): OldRecord => ({
  offset,
  timestamp,
  key,
  value,
  headers: [],
  isControlRecord: false,
  batchContext: NO_CONTEXT,
});

/**
 * The records of a message of format v0 or v1: one, or those that a compressed one holds. Theirs are offsets in v0; in
 * v1 they count within the set, and the offset outside is that of the last one (0 from some old producers, whose
 * offsets count from 0). A broker's own time outside is that of all of them.
 *
 * @param bytes the message, its offset and size in front
 * @throws Error when a checksum is wrong, the codec is not known, or the content is no message or larger than allowed
 */
export async function decodeMessage(bytes: Buffer): Promise<readonly OldRecord[]> {
  const outer = readMessage(bytes);
  const codec = lookupCodecByAttributes(outer.attributes);
  if (codec === null) {
    return [recordOf(outer, outer.offset, outer.timestamp)];
  }
  const messages = readMessages(await codec.decompress(outer.value ?? Buffer.alloc(0)));
  const last = messages.at(-1);
  if (last === undefined || messages.some(({ magic }) => magic !== outer.magic)) {
    throw new Error('it is compressed, and holds no messages of its own format');
  }
  const base = outer.magic === 0 || outer.offset === 0n ? 0n : outer.offset - last.offset;
  const appendTime = outer.magic > 0 && outer.attributes & LOG_APPEND_TIME ? outer.timestamp : null;
  return messages.map((message) => recordOf(message, base + message.offset, appendTime ?? message.timestamp));
}
