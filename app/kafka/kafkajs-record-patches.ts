import { createRequire } from 'node:module';
import type { RecordHeader } from '../stream/record.ts';

const require = createRequire(import.meta.url);

/** The part of kafkajs's decoder that reads a fetch response. */
interface Decoder {
  readonly buffer: Buffer;
  readonly offset: number;
  canReadBytes(length: number): boolean;
  readBytes(length?: number): Buffer;
}

type Decode<Decoded> = (decoder: Decoder) => Promise<Decoded>;

const SIZE_BYTES = 4;
const MAGIC_OFFSET = 16;
const RECORD_FORMAT_V2 = 2;

/** Fewer bytes than these, as kafkajs counts them, are the rest of a batch that the fetch cut off. */
const BATCH_OVERHEAD_BYTES = 49;

function isPartial(error: unknown): boolean {
  return error instanceof Error && error.name === 'KafkaJSPartialMessageError';
}

/** Whether whole batches of record format v2 may follow; the size that comes first is not read yet. */
function holdsBatches({ buffer, offset }: Decoder): boolean {
  const size = buffer.readInt32BE(offset);
  const isWhole = buffer.length - offset - SIZE_BYTES >= size;
  return size > MAGIC_OFFSET && isWhole && buffer[offset + SIZE_BYTES + MAGIC_OFFSET] === RECORD_FORMAT_V2;
}

/**
 * Decodes the records that a fetch brings of a partition, however many a batch holds. As shipped all records of a batch are
 * arguments of one call, and the stack has room for some 125,000: the consumer stops for good at a larger batch.
 *
 * @param shipped kafkajs's own, for what is no record format v2
 * @param decodeBatch decodes one batch
 */
export function recordSetDecoder(
  shipped: Decode<unknown[]>,
  decodeBatch: Decode<{ readonly records: readonly unknown[] }>,
): Decode<unknown[]> {
  const BatchDecoder = require('kafkajs/src/protocol/decoder.js') as new (buffer: Buffer) => Decoder;
  return async (decoder) => {
    if (!holdsBatches(decoder)) {
      return shipped(decoder);
    }
    const batches = new BatchDecoder(decoder.readBytes());
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

const requireEncoder = createRequire(import.meta.url);

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

const KafkajsEncoder = requireEncoder('kafkajs/src/protocol/encoder') as new () => Encoder;

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
