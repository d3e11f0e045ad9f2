import { createRequire } from 'node:module';
import type { RecordHeader } from '../records/record.ts';
import type { MemoryBudget } from '../stream/memory-budget.ts';
import { type AbortedTransaction, withoutAborted } from './fetch/aborted-transactions.ts';
import type { BatchFault } from './fetch/broken-batch.ts';
import { type ReadBatch, RecordSetReader } from './fetch/record-set.ts';

const require = createRequire(import.meta.url);

/** The part of kafkajs's decoder that the patches read a fetch response with. */
interface Decoder {
  readonly buffer: Buffer;
  offset: number;
  canReadBytes(length: number): boolean;
  readInt32(): number;
}

type Decode<Decoded> = (decoder: Decoder) => Promise<Decoded>;

/** A batch in the place of its last record, which is all that kafkajs looks at on its way. */
export interface BatchMark extends ReadBatch {
  readonly offset: bigint;
  readonly isControlRecord: boolean;
}

const faults = new WeakMap<readonly unknown[], BatchFault>();

/** What keeps the batch behind these from being read, when it is one that the fetch brought whole. */
export const faultBehind = (marks: readonly unknown[]): BatchFault | undefined => faults.get(marks);

/**
 * Reads the record set of a partition in a fetch response, in the place of kafkajs's own: a mark for each batch, whose
 * records stay bytes. The first batch that cannot be read ends the set, and {@link faultBehind} tells it for the marks in
 * front of it; the rest of the response is decoded as ever. As shipped content that cannot be decoded fails the whole
 * response, over and over.
 */
export function recordSetDecoder(memory: MemoryBudget): Decode<readonly BatchMark[]> {
  const read = markReader(memory);
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
export type MarkReader = (set: Buffer, response: object) => Promise<readonly BatchMark[]>;

/** {@link recordSetDecoder} for a record set without its length. */
export function markReader(memory: MemoryBudget, sets = new RecordSetReader(memory)): MarkReader {
  return async (set, response) => {
    const { batches, fault } = await sets.read(set, response);
    const marks = batches.map((batch) => ({
      ...batch,
      offset: batch.nextOffset - 1n,
      isControlRecord: batch.control !== null,
    }));
    if (fault !== null) {
      faults.set(marks, fault);
    }
    return marks;
  };
}

/** What kafkajs's batch hands over. */
interface FetchedMarks {
  readonly messages: readonly BatchMark[];
  /** `null` or absent: there are none. */
  readonly abortedTransactions?: readonly { readonly producerId: string; readonly firstOffset: string }[] | null;
}

/** {@link withoutAborted}, of marks. */
export function marksWithoutAborted({ messages, abortedTransactions }: FetchedMarks): readonly ReadBatch[] {
  const transactions = (abortedTransactions ?? []).map(
    ({ producerId, firstOffset }): AbortedTransaction => ({
      producerId: BigInt(producerId),
      firstOffset: BigInt(firstOffset),
    }),
  );
  return withoutAborted(messages, transactions);
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
