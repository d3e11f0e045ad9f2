import { isUtf8 } from 'node:buffer';
import { createRequire } from 'node:module';
import type { MemoryBudget } from '../stream/memory-budget.ts';
import type { RecordHeader, StreamRecord } from '../stream/record.ts';
import {
  type BatchFault,
  ChecksumError,
  faultOf,
  formatOf,
  RECORD_FORMAT_V2,
  UnknownFormatError,
} from './broken-batch.ts';
import { crc32c } from './crc32c.ts';
import { EventLoopTurns } from './event-loop-turns.ts';
import { decodeMessage, MESSAGE_HEAD_BYTES } from './message-set.ts';

const require = createRequire(import.meta.url);

/** The part of kafkajs's decoder that the patches read a fetch response with. */
interface Decoder {
  readonly buffer: Buffer;
  offset: number;
  canReadBytes(length: number): boolean;
  readInt8(): number;
  readInt32(): number;
  readVarInt(): number;
  readVarIntBytes(): Buffer | null;
  readVarIntArray(decode: (decoder: Decoder) => RecordHeader): RecordHeader[];
}

type Decode<Decoded> = (decoder: Decoder) => Promise<Decoded>;

interface BatchContext {
  readonly firstOffset: string;
  readonly firstTimestamp: string;
  readonly maxTimestamp?: string;
  readonly timestampType?: number;
  readonly isControlBatch?: boolean;
}

/** What the records of a batch are counted from, parsed once for all of them. */
interface BatchStart {
  readonly offset: bigint;
  readonly timestamp: bigint;
  /**
   * The broker's own time for the whole batch, where the topic says so; the deltas of its records mean nothing then.
   */
  readonly appendTime: bigint | null;
}

const LOG_APPEND_TIME = 1;

const starts = new WeakMap<BatchContext, BatchStart>();

function startOf(context: BatchContext): BatchStart {
  const known = starts.get(context);
  if (known) {
    return known;
  }
  const { firstOffset, firstTimestamp, maxTimestamp, timestampType } = context;
  const appendTime = timestampType === LOG_APPEND_TIME && maxTimestamp !== undefined ? BigInt(maxTimestamp) : null;
  const start = { offset: BigInt(firstOffset), timestamp: BigInt(firstTimestamp), appendTime };
  starts.set(context, start);
  return start;
}

/** A zigzag varlong (Kafka's record format): plain numbers while they are exact, which five bytes always are. */
function readVarLong(decoder: Decoder): bigint {
  const { buffer } = decoder;
  let end = decoder.offset;
  while ((buffer[end] ?? 0) >= 0x80) {
    end += 1;
  }
  let raw = 0n;
  let small = 0;
  if (end - decoder.offset < 5) {
    for (let at = end; at >= decoder.offset; at -= 1) {
      small = small * 0x80 + ((buffer[at] ?? 0) & 0x7f);
    }
    raw = BigInt(small);
  } else {
    for (let at = end; at >= decoder.offset; at -= 1) {
      raw = (raw << 7n) | BigInt((buffer[at] ?? 0) & 0x7f);
    }
  }
  decoder.offset = end + 1;
  return (raw >> 1n) ^ -(raw & 1n);
}

const REPLACEMENT_CHARACTER = '\ufffd';

/**
 * A header of record format v2. A key that is not UTF-8 stays bytes: as text it would be another key.
 *
 * @throws Error when it has no key, which the format does not allow
 */
export function decodeHeader(decoder: Decoder): RecordHeader {
  const bytes = decoder.readVarIntBytes();
  if (bytes === null) {
    throw new Error('a header has no key');
  }
  const key = bytes.toString('utf8');
  const isText = !key.includes(REPLACEMENT_CHARACTER) || isUtf8(bytes);
  return { key: isText ? key : bytes, value: decoder.readVarIntBytes() };
}

/** The record decoder of record format v2; its fields are read in the order of the wire format. */
export function decodeRecord(decoder: Decoder, context: BatchContext) {
  const start = startOf(context);
  const attributes = decoder.readInt8();
  const timestampDelta = readVarLong(decoder);
  const offset = start.offset + BigInt(decoder.readVarInt());
  const key = decoder.readVarIntBytes();
  const value = decoder.readVarIntBytes();
  return {
    attributes,
    timestamp: start.appendTime ?? start.timestamp + timestampDelta,
    offset,
    key,
    value,
    headers: decoder.readVarIntArray(decodeHeader),
    isControlRecord: context.isControlBatch ?? false,
    batchContext: context,
  };
}

interface RecordBatch extends BatchContext {
  readonly lastOffsetDelta: number;
  readonly records: { offset: bigint }[];
}

/**
 * Decodes a batch, once other work of the event loop has had its turn. A batch whose last records were compacted away
 * ends with a control record at its real last offset.
 *
 * @param shipped kafkajs's own, which decodes the records by {@link decodeRecord}
 */
export function batchDecoder(shipped: Decode<RecordBatch>): Decode<RecordBatch> {
  const turns = new EventLoopTurns();
  return async (decoder) => {
    await turns.afterTurn();
    const batch = await shipped(decoder);
    const { firstOffset, lastOffsetDelta, firstTimestamp, records } = batch;
    const offset = BigInt(firstOffset) + BigInt(lastOffsetDelta);
    if ((records.at(-1)?.offset ?? -1n) < offset) {
      const end = { attributes: 0, timestamp: BigInt(firstTimestamp), offset, key: null, value: null, headers: [] };
      records.push(Object.assign(end, { isControlRecord: true, batchContext: batch }));
    }
    return batch;
  };
}

/** Bytes behind offset and size that the smallest message has: checksum, format, attributes, two lengths. */
const LEAST_BYTES = 14;

/** In a batch of record format v2: where its checksum is, and where that begins what it is the checksum of. */
const CRC_OFFSET = 17;
const CRC_START = 21;

const faults = new WeakMap<readonly unknown[], BatchFault>();

/** What keeps the batch behind these records from being read, when it is one that the fetch brought whole. */
export const faultBehind = (records: readonly unknown[]): BatchFault | undefined => faults.get(records);

/** @throws ChecksumError when the checksum is another one */
function requireChecksum(batch: Buffer): void {
  const [stored, computed] = [batch.readUInt32BE(CRC_OFFSET), crc32c(batch.subarray(CRC_START))];
  if (stored !== computed) {
    throw new ChecksumError('CRC-32C', computed, stored);
  }
}

const KafkajsDecoder = require('kafkajs/src/protocol/decoder.js') as new (buffer: Buffer) => Decoder;

type DecodeBatch = Decode<{ readonly records: readonly StreamRecord[] }>;

/** The records of a whole batch, or why there are none. Its checksum is compared before anything is unpacked. */
async function readBatch(batch: Buffer, decode: DecodeBatch): Promise<readonly StreamRecord[] | BatchFault> {
  try {
    const format = formatOf(batch);
    if (format < 0 || format > RECORD_FORMAT_V2) {
      throw new UnknownFormatError(format);
    }
    if (batch.length < MESSAGE_HEAD_BYTES + LEAST_BYTES) {
      throw new Error(
        `its size is ${batch.length - MESSAGE_HEAD_BYTES}, and the smallest one has ${LEAST_BYTES} bytes`,
      );
    }
    if (format < RECORD_FORMAT_V2) {
      return await decodeMessage(batch);
    }
    requireChecksum(batch);
    return (await decode(new KafkajsDecoder(batch))).records;
  } catch (error) {
    return faultOf(batch, error);
  }
}

/**
 * Decodes the record set of a partition in a fetch response, in the place of kafkajs's own: however many records a
 * batch holds, in all three record formats, each batch by its own checksum. The first one that cannot be read ends the
 * set, and {@link faultBehind} tells it for the records in front of it; the rest of the response is decoded as ever. As
 * shipped a batch's records are all arguments of one call, and the stack has room for some 125,000; checksums are not
 * compared, and content that cannot be decoded fails the whole response, over and over.
 *
 * Batches behind the one that fills the memory for a response are left out, as if it had been shorter: they stay ahead
 * of the position. Each batch is copied, so what waits for its transaction keeps no other partition's records.
 *
 * @param decodeBatch decodes one batch of record format v2
 */
export function recordSetDecoder(decodeBatch: DecodeBatch, memory: MemoryBudget): Decode<readonly StreamRecord[]> {
  const read = recordSetReader(decodeBatch, memory);
  return async (decoder) => {
    const size = decoder.readInt32();
    if (size <= 0 || !decoder.canReadBytes(size)) {
      return [];
    }
    const set = decoder.buffer.subarray(decoder.offset, decoder.offset + size);
    decoder.offset += size;
    return read(set, decoder);
  };
}

/** Reads a record set without its length. `response` is any object that stands for the response that it is in. */
export type RecordSetReader = (set: Buffer, response: object) => Promise<readonly StreamRecord[]>;

/** {@link recordSetDecoder} for a record set without its length. */
export function recordSetReader(decodeBatch: DecodeBatch, memory: MemoryBudget): RecordSetReader {
  return async (set, response) => {
    const records: StreamRecord[] = [];
    const answer = memory.answer(response);
    for (let at = 0; set.length - at >= MESSAGE_HEAD_BYTES; ) {
      const end = at + MESSAGE_HEAD_BYTES + Math.max(0, set.readInt32BE(at + 8));
      if (end > set.length || answer.isFull) {
        break;
      }
      const read = await readBatch(Buffer.from(set.subarray(at, end)), decodeBatch);
      if ('code' in read) {
        faults.set(records, read);
        break;
      }
      answer.add(end - at, read);
      for (const record of read) {
        records.push(record);
      }
      at = end;
    }
    return records;
  };
}

interface Encoder {
  writeInt8(value: number): Encoder;
  writeVarInt(value: number): Encoder;
  writeVarLong(value: number): Encoder;
  writeVarIntBytes(value: Buffer | null): Encoder;
  writeEncoder(value: Encoder): Encoder;
  size(): number;
}

interface ProducedRecord {
  readonly offsetDelta: number;
  readonly timestampDelta: number;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: readonly RecordHeader[];
}

const KafkajsEncoder = require('kafkajs/src/protocol/encoder') as new () => Encoder;

const NO_ATTRIBUTES = 0;

/** A record of record format v2, with its headers in the order in which they are given. */
export function encodeRecord({ offsetDelta, timestampDelta, key, value, headers }: ProducedRecord): Encoder {
  const body = new KafkajsEncoder()
    .writeInt8(NO_ATTRIBUTES)
    .writeVarLong(timestampDelta)
    .writeVarInt(offsetDelta)
    .writeVarIntBytes(key)
    .writeVarIntBytes(value)
    .writeVarInt(headers.length);
  for (const header of headers) {
    const key = typeof header.key === 'string' ? Buffer.from(header.key, 'utf8') : header.key;
    body.writeVarIntBytes(key).writeVarIntBytes(header.value);
  }
  return new KafkajsEncoder().writeVarInt(body.size()).writeEncoder(body);
}
