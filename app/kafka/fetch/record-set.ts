import { EventLoopTurns } from '../../memory/event-loop-turns.ts';
import type { MemoryBudget } from '../../memory/memory-budget.ts';
import type { BatchBase, RecordBatch } from '../../records/record-batch.ts';
import { RecordIndex } from '../../records/record-index.ts';
import { Records } from '../../records/records.ts';
import { codecFor } from '../codecs/codecs.ts';
import { type BatchRoom, batchRoom, hasToBeCounted, LargestRecord } from './batch-memory.ts';
import {
  BATCH_HEAD,
  type BatchFault,
  ChecksumError,
  faultOf,
  formatOf,
  RECORD_FORMAT_V2,
  UnknownFormatError,
} from './broken-batch.ts';
import { decodeMessage, LEAST_MESSAGE_BYTES, MESSAGE_HEAD_BYTES } from './message-set.ts';

const ATTRIBUTE = { logAppendTime: 0x8, transactional: 0x10, control: 0x20 } as const;

/** Of a control record's key, whose version is in front of it (KIP-98). */
const CONTROL_TYPE_AT = 2;
const CONTROL_TYPES = ['abort', 'commit'] as const;

/** No producer numbers its records. */
const NO_PRODUCER = -1n;

/** A batch of a record set, or a message of a format before v2. */
export interface ReadBatch {
  readonly firstOffset: bigint;
  /** The offset behind its last one, whatever was compacted. */
  readonly nextOffset: bigint;
  /** `null` in the formats before v2, which have none. */
  readonly leaderEpoch: number | null;
  /** -1: none. */
  readonly producerId: bigint;
  readonly isTransactional: boolean;
  /** What it says of a transaction; `null` where it holds records for readers. */
  readonly control: (typeof CONTROL_TYPES)[number] | 'other' | null;
  /** None of a control batch. */
  readonly records: Records;
}

/** The batches of a record set. */
export interface ReadSet {
  readonly batches: readonly ReadBatch[];
  /** Why the batch behind them cannot be read; `null` where all are read, or the rest is left for the next fetch. */
  readonly fault: BatchFault | null;
}

/**
 * Reads the record sets of fetches, in all three record formats, each batch by its own checksum. Other work of the
 * event loop has its turn between batches and within large ones.
 *
 * Batches behind the one that fills the memory for an answer are left out, as if it had been shorter: they stay ahead
 * of the position. A set is copied, so what waits for its transaction keeps no other partition's records.
 */
export class RecordSetReader {
  readonly #memory: MemoryBudget;
  readonly #turns: EventLoopTurns;
  readonly #room: BatchRoom;

  /**
   * @param turns @default its own
   * @param room what the largest record of a batch may take. @default that of this process
   */
  constructor(memory: MemoryBudget, turns = new EventLoopTurns(), room = batchRoom()) {
    this.#memory = memory;
    this.#turns = turns;
    this.#room = room;
  }

  /**
   * The first batch that cannot be read ends the set.
   *
   * @param inAnswer the set as it is in the answer, without its length; the last batch may be cut off
   * @param answer any object of the answer that it is in
   */
  async read(inAnswer: Buffer, answer: object): Promise<ReadSet> {
    const batches: ReadBatch[] = [];
    const unpacked = this.#memory.answer(answer);
    if (unpacked.isFull) {
      return { batches, fault: null };
    }
    const set = this.#memory.sets.take(inAnswer.length).subarray(0, inAnswer.length);
    inAnswer.copy(set);
    for (let at = 0; set.length - at >= MESSAGE_HEAD_BYTES; ) {
      const end = at + MESSAGE_HEAD_BYTES + Math.max(0, set.readInt32BE(at + 8));
      if (end > set.length || unpacked.isFull) {
        break;
      }
      const read = await this.#readBatch(set.subarray(at, end));
      if ('code' in read) {
        return { batches, fault: read };
      }
      unpacked.add(end - at, read.records.memory);
      batches.push(read);
      at = end;
    }
    return { batches, fault: null };
  }

  /** A whole batch, or why it cannot be read. Its checksum is compared before anything is unpacked. */
  async #readBatch(batch: Buffer): Promise<ReadBatch | BatchFault> {
    try {
      const format = formatOf(batch);
      requireReadable(batch, format);
      await this.#turns.afterTurn();
      return format < RECORD_FORMAT_V2 ? await this.#readMessage(batch) : await this.#readV2(batch);
    } catch (error) {
      return faultOf(batch, error);
    }
  }

  async #readMessage(message: Buffer): Promise<ReadBatch> {
    const records = Records.of(await decodeMessage(message, { room: this.#room, turns: this.#turns }));
    const offset = message.readBigInt64BE(0);
    return {
      firstOffset: records.offsetAt(0) ?? offset,
      nextOffset: (records.offsetAt(records.length - 1) ?? offset) + 1n,
      leaderEpoch: null,
      producerId: NO_PRODUCER,
      isTransactional: false,
      control: null,
      records,
    };
  }

  /**
   * @throws TooManyObjectsError when its largest record would take more memory than there is
   * @throws Error when the content is no records, or unpacks to more than allowed
   */
  async #readV2(batch: Buffer): Promise<ReadBatch> {
    requireChecksum(batch);
    const attributes = batch.readInt16BE(BATCH_HEAD.attributes);
    const count = batch.readInt32BE(BATCH_HEAD.records);
    const packed = batch.subarray(BATCH_HEAD.bytes);
    const unpack = count === 0 ? null : codecFor(attributes);
    const content = unpack === null ? packed : await unpack(packed);
    const { firstOffset, base, isControl } = headOf(batch, attributes);
    const records = await this.#index(content, count, base);
    const lastOffset = firstOffset + BigInt(batch.readInt32BE(BATCH_HEAD.lastOffsetDelta));
    const lastRead = firstOffset + BigInt(records.sums.lastOffsetDelta);
    return {
      firstOffset,
      nextOffset: (lastRead > lastOffset ? lastRead : lastOffset) + 1n,
      leaderEpoch: batch.readInt32BE(BATCH_HEAD.leaderEpoch),
      producerId: batch.readBigInt64BE(BATCH_HEAD.producerId),
      isTransactional: (attributes & ATTRIBUTE.transactional) !== 0,
      control: isControl ? controlOf(records) : null,
      records: isControl ? Records.NONE : Records.of(records),
    };
  }

  async #index(content: Buffer, count: number, base: BatchBase): Promise<RecordBatch> {
    const room = this.#room;
    const largest = hasToBeCounted(content.length, room) ? new LargestRecord(content) : undefined;
    const index = new RecordIndex(content, count, base);
    for (;;) {
      const batch = index.readOn(largest);
      if (batch !== null) {
        largest?.requireRoom(batch.memory, room);
        return batch;
      }
      await this.#turns.afterTurn();
    }
  }
}

/** @throws Error when no format that is known is so short, or has this number */
function requireReadable(batch: Buffer, format: number): void {
  if (format < 0 || format > RECORD_FORMAT_V2) {
    throw new UnknownFormatError(format);
  }
  if (batch.length < MESSAGE_HEAD_BYTES + LEAST_MESSAGE_BYTES) {
    throw new Error(
      `its size is ${batch.length - MESSAGE_HEAD_BYTES}, and the smallest one has ${LEAST_MESSAGE_BYTES} bytes`,
    );
  }
}

/** @throws ChecksumError when the checksum is another one */
function requireChecksum(batch: Buffer): void {
  const [stored, computed] = [batch.readUInt32BE(BATCH_HEAD.checksum), crc32c(batch.subarray(BATCH_HEAD.attributes))];
  if (stored !== computed) {
    throw new ChecksumError('CRC-32C', computed, stored);
  }
}

function headOf(batch: Buffer, attributes: number) {
  const firstOffset = batch.readBigInt64BE(0);
  const base: BatchBase = {
    firstOffset,
    firstTimestamp: batch.readBigInt64BE(BATCH_HEAD.firstTimestamp),
    appendTime: attributes & ATTRIBUTE.logAppendTime ? batch.readBigInt64BE(BATCH_HEAD.maxTimestamp) : null,
  };
  return { firstOffset, base, isControl: (attributes & ATTRIBUTE.control) !== 0 };
}

function controlOf(records: RecordBatch): ReadBatch['control'] {
  const key = records.length === 0 ? null : records.record(0).key;
  const type = key === null || key.length < CONTROL_TYPE_AT + 2 ? -1 : key.readInt16BE(CONTROL_TYPE_AT);
  return CONTROL_TYPES[type] ?? 'other';
}

/** The polynomial of Castagnoli, bits reversed; `zlib.crc32` has another one. */
const POLYNOMIAL = 0x82f63b78;

/** Bytes that one step takes in. With a table for each of them it is several times as fast as byte by byte. */
const CRC_STEP = 16;

/** Table `n`, 256 entries from `256 * n` on, has what is left of a byte when `n` more of them came in. */
const CRC_TABLES = crcTables();

function crcTables(): Int32Array {
  const entries = new Int32Array(CRC_STEP * 256);
  for (let byte = 0; byte < 256; byte += 1) {
    let rest = byte;
    for (let bit = 0; bit < 8; bit += 1) {
      rest = (rest >>> 1) ^ (rest & 1 ? POLYNOMIAL : 0);
    }
    entries[byte] = rest;
  }
  for (let at = 256; at < entries.length; at += 1) {
    const before = entries[at - 256] ?? 0;
    entries[at] = (before >>> 8) ^ (entries[before & 0xff] ?? 0);
  }
  return entries;
}

/** What is left of a byte when so many more came in. */
const left = (more: number, byte: number): number => CRC_TABLES[(more << 8) | byte] ?? 0;

/** What is left of four bytes, the first one the lowest, when so many more came in behind the last one. */
const leftOfFour = (more: number, four: number): number =>
  left(more + 3, four & 0xff) ^
  left(more + 2, (four >>> 8) & 0xff) ^
  left(more + 1, (four >>> 16) & 0xff) ^
  left(more, four >>> 24);

/** CRC-32C of the bytes, unsigned: the checksum of a batch of record format v2. */
export function crc32c(bytes: Buffer): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const whole = bytes.length - (bytes.length % CRC_STEP);
  let crc = -1;
  let at = 0;
  for (; at < whole; at += CRC_STEP) {
    crc =
      leftOfFour(12, crc ^ view.getInt32(at, true)) ^
      leftOfFour(8, view.getInt32(at + 4, true)) ^
      leftOfFour(4, view.getInt32(at + 8, true)) ^
      leftOfFour(0, view.getInt32(at + 12, true));
  }
  for (; at < bytes.length; at += 1) {
    crc = left(0, (crc ^ (bytes[at] ?? 0)) & 0xff) ^ (crc >>> 8);
  }
  return (crc ^ -1) >>> 0;
}
