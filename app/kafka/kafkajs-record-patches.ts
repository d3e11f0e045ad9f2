import { createRequire } from 'node:module';
import type { RecordHeader } from '../stream/record.ts';
import { EventLoopTurns } from './event-loop-turns.ts';

const require = createRequire(import.meta.url);

/** The part of kafkajs's decoder that the patches read a fetch response with. */
interface Decoder {
  readonly buffer: Buffer;
  offset: number;
  canReadBytes(length: number): boolean;
  readBytes(length?: number): Buffer;
  readInt8(): number;
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

const decodeHeader = require('kafkajs/src/protocol/recordBatch/header/v0/decoder.js') as (
  decoder: Decoder,
) => RecordHeader;

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

const SIZE_BYTES = 4;
const MAGIC_OFFSET = 16;
const RECORD_FORMAT_V2 = 2;

/** Fewer bytes than these, as kafkajs counts them, are the rest of a batch that the fetch cut off. */
const BATCH_OVERHEAD_BYTES = 49;

function isPartial(error: unknown): boolean {
  return error instanceof Error && error.name === 'KafkaJSPartialMessageError';
}

/** Whether whole batches of record format v2 may follow; the size in front of them is not read yet. */
function holdsBatches({ buffer, offset }: Decoder): boolean {
  const size = buffer.readInt32BE(offset);
  const isWhole = buffer.length - offset - SIZE_BYTES >= size;
  return size > MAGIC_OFFSET && isWhole && buffer[offset + SIZE_BYTES + MAGIC_OFFSET] === RECORD_FORMAT_V2;
}

/**
 * Decodes the record set of a partition in a fetch response, however many records a batch holds. As shipped all records
 * of a batch are arguments of one call, and the stack has room for some 125,000: the consumer stops for good at a
 * larger batch.
 *
 * @param shipped kafkajs's own, for older record formats
 * @param decodeBatch decodes one batch
 */
export function recordSetDecoder(
  shipped: Decode<unknown[]>,
  decodeBatch: Decode<{ readonly records: readonly unknown[] }>,
): Decode<unknown[]> {
  const KafkajsDecoder = require('kafkajs/src/protocol/decoder.js') as new (buffer: Buffer) => Decoder;
  return async (decoder) => {
    if (!holdsBatches(decoder)) {
      return shipped(decoder);
    }
    const batches = new KafkajsDecoder(decoder.readBytes());
    const records: unknown[] = [];
    while (batches.canReadBytes(BATCH_OVERHEAD_BYTES)) {
      try {
        for (const record of (await decodeBatch(batches)).records) {
          records.push(record);
        }
      } catch (error) {
        if (isPartial(error)) {
          break;
        }
        throw error;
      }
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
    body.writeVarIntBytes(Buffer.from(header.key, 'utf8')).writeVarIntBytes(header.value);
  }
  return new KafkajsEncoder().writeVarInt(body.size()).writeEncoder(body);
}
