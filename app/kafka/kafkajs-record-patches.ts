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
import { decodeMessage, LEAST_MESSAGE_BYTES, MESSAGE_HEAD_BYTES } from './message-set.ts';
import { BatchDecoder } from './record-batch.ts';

const require = createRequire(import.meta.url);

/** The part of kafkajs's decoder that the patches read a fetch response with. */
interface Decoder {
  readonly buffer: Buffer;
  offset: number;
  canReadBytes(length: number): boolean;
  readInt32(): number;
}

type Decode<Decoded> = (decoder: Decoder) => Promise<Decoded>;

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

/** The records of a whole batch, or why there are none. Its checksum is compared before anything is unpacked. */
async function readBatch(batch: Buffer, decoder: BatchDecoder): Promise<readonly StreamRecord[] | BatchFault> {
  try {
    const format = formatOf(batch);
    if (format < 0 || format > RECORD_FORMAT_V2) {
      throw new UnknownFormatError(format);
    }
    if (batch.length < MESSAGE_HEAD_BYTES + LEAST_MESSAGE_BYTES) {
      throw new Error(
        `its size is ${batch.length - MESSAGE_HEAD_BYTES}, and the smallest one has ${LEAST_MESSAGE_BYTES} bytes`,
      );
    }
    if (format < RECORD_FORMAT_V2) {
      return await decodeMessage(batch, { room: decoder.room(), turns: decoder.turns });
    }
    requireChecksum(batch);
    return await decoder.decode(batch);
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
 */
export function recordSetDecoder(memory: MemoryBudget, batches = new BatchDecoder()): Decode<readonly StreamRecord[]> {
  const read = recordSetReader(memory, batches);
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
export function recordSetReader(memory: MemoryBudget, batches = new BatchDecoder()): RecordSetReader {
  return async (set, response) => {
    const records: StreamRecord[] = [];
    const answer = memory.answer(response);
    for (let at = 0; set.length - at >= MESSAGE_HEAD_BYTES; ) {
      const end = at + MESSAGE_HEAD_BYTES + Math.max(0, set.readInt32BE(at + 8));
      if (end > set.length || answer.isFull) {
        break;
      }
      const read = await readBatch(Buffer.from(set.subarray(at, end)), batches);
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
