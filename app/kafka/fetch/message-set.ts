import { crc32 } from 'node:zlib';
import type { EventLoopTurns } from '../../memory/event-loop-turns.ts';
import { packRecords } from '../../records/pack-records.ts';
import type { StreamRecord } from '../../records/record.ts';
import type { RecordBatch } from '../../records/record-batch.ts';
import { codecFor } from '../codecs/codecs.ts';
import { type BatchRoom, requireRoomForMessages } from './batch-memory.ts';
import { ChecksumError } from './broken-batch.ts';

/** Offset and size, which each message begins with. */
export const MESSAGE_HEAD_BYTES = 12;

const CRC_END = MESSAGE_HEAD_BYTES + 4;

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

/** Bytes behind offset and size that the smallest message has: checksum, format, attributes, two lengths. */
export const LEAST_MESSAGE_BYTES = 14;

/** Messages that are read before the time is looked at. */
const MESSAGES_A_LOOK = 256;

const NOT_ITS_OWN = 'it is compressed, and contains no messages of its format';

/** What decoding may take, and when other work has its turn. */
export interface DecodingBounds {
  readonly room: BatchRoom;
  readonly turns: EventLoopTurns;
}

/** Bytes behind their length; -1 is null. @throws Error when there are not as many */
function bytesAt(message: Buffer, at: number): Buffer | null {
  const length = message.readInt32BE(at);
  if (length > message.length - at - 4) {
    throw new Error(`a field has the length ${length}, and ${message.length - at - 4} bytes are left`);
  }
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

/** Where the messages of a set end. @throws Error when the set does not end with one of them, or is too large */
async function endsOf(set: Buffer, { room, turns }: DecodingBounds): Promise<readonly number[]> {
  const ends: number[] = [];
  for (let at = 0; at < set.length; ) {
    const size = set.length - at < MESSAGE_HEAD_BYTES ? -1 : set.readInt32BE(at + 8);
    const end = at + MESSAGE_HEAD_BYTES + size;
    if (size < LEAST_MESSAGE_BYTES || end > set.length) {
      throw new Error(`it is compressed, and a message within it has the size ${size} at byte ${at} of ${set.length}`);
    }
    ends.push(end);
    at = end;
    if (ends.length % MESSAGES_A_LOOK === 0) {
      await turns.afterTurn();
    }
  }
  requireRoomForMessages(ends.length, set.length, room);
  return ends;
}

const recordOf = ({ key, value }: Message, offset: bigint, timestamp: bigint): StreamRecord => ({
  offset,
  timestamp,
  key,
  value,
  headers: [],
});

/**
 * The records of a message of format v0 or v1: one, or those that a compressed one holds. Theirs are offsets in v0; in
 * v1 they count within the set, and the offset outside is that of the last one (0 from some old producers, whose
 * offsets count from 0). A broker's own time outside is that of all of them.
 *
 * @param bytes the message, its offset and size in front
 * @throws TooManyObjectsError when they would take more memory than there is; none is made
 * @throws Error when a checksum is wrong, the codec is not known, or the content is no message or larger than allowed
 */
export async function decodeMessage(bytes: Buffer, bounds: DecodingBounds): Promise<RecordBatch> {
  const outer = readMessage(bytes);
  const unpack = codecFor(outer.attributes);
  if (unpack === null) {
    return packRecords([recordOf(outer, outer.offset, outer.timestamp)]);
  }
  const set = await unpack(outer.value ?? Buffer.alloc(0));
  const ends = await endsOf(set, bounds);
  const messageAt = (nth: number): Message => readMessage(set.subarray(ends[nth - 1] ?? 0, ends[nth]));
  if (ends.length === 0) {
    throw new Error(NOT_ITS_OWN);
  }
  const last = messageAt(ends.length - 1);
  const base = outer.magic === 0 || outer.offset === 0n ? 0n : outer.offset - last.offset;
  const appendTime = outer.magic > 0 && outer.attributes & LOG_APPEND_TIME ? outer.timestamp : null;
  const records = new Array<StreamRecord>(ends.length);
  for (let nth = 0; nth < ends.length; nth += 1) {
    const message = messageAt(nth);
    if (message.magic !== outer.magic) {
      throw new Error(NOT_ITS_OWN);
    }
    records[nth] = recordOf(message, base + message.offset, appendTime ?? message.timestamp);
    if (nth % MESSAGES_A_LOOK === MESSAGES_A_LOOK - 1) {
      await bounds.turns.afterTurn();
    }
  }
  return packRecords(records);
}
