import { EventLoopTurns } from '../../memory/event-loop-turns.ts';
import type { MemoryBudget } from '../../memory/memory-budget.ts';
import type { BatchBase, RecordBatch } from '../../records/record-batch.ts';
import { RecordIndex } from '../../records/record-index.ts';
import { Records } from '../../records/records.ts';
import { codecFor } from '../codecs/codecs.ts';
import { BATCH_ATTRIBUTE, BATCH_HEAD, baseOf, checksumsOf, formatOf, RECORD_FORMAT_V2 } from './batch-head.ts';
import { type BatchRoom, batchRoom, hasToBeCounted, LargestRecord } from './batch-memory.ts';
import { type BatchFault, ChecksumError, faultOf, UnknownFormatError } from './broken-batch.ts';
import { type JoinedBatches, joinBatches } from './joined-batches.ts';
import { decodeMessage, LEAST_MESSAGE_BYTES, MESSAGE_HEAD_BYTES } from './message-set.ts';

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
    let mayJoin = true;
    for (let at = 0; set.length - at >= MESSAGE_HEAD_BYTES; ) {
      const end = at + MESSAGE_HEAD_BYTES + Math.max(0, set.readInt32BE(at + BATCH_HEAD.size));
      if (end > set.length || unpacked.isFull) {
        break;
      }
      const turn = this.#turns.afterTurn();
      if (turn !== null) {
        await turn;
      }
      const joined: JoinedBatches | null = mayJoin ? joinBatches(set, at, unpacked.room, this.#room) : null;
      const read = joined ? batchOf(set, at, joined) : await this.#readBatch(set.subarray(at, end));
      if ('code' in read) {
        return { batches, fault: read };
      }
      // Else each batch of a set that cannot be joined would be tried with all that follow it.
      mayJoin &&= joined?.isWhole !== false;
      const behind = joined?.end ?? end;
      unpacked.add(behind - at, read.records.memory);
      batches.push(read);
      at = behind;
    }
    return { batches, fault: null };
  }

  /** A whole batch, or why it cannot be read. Its checksum is compared before anything is unpacked. */
  async #readBatch(batch: Buffer): Promise<ReadBatch | BatchFault> {
    try {
      const format = formatOf(batch);
      requireReadable(batch, format);
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
    return batchOf(batch, 0, { records: await this.#index(content, count, baseOf(batch, 0)), lastAt: 0 });
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
  const { stored, computed } = checksumsOf(new DataView(batch.buffer, batch.byteOffset), 0, batch.length);
  if (stored !== computed) {
    throw new ChecksumError('CRC-32C', computed, stored);
  }
}

/** A batch of a set, or several joined ones. @param at where it begins, or the first of them */
function batchOf(set: Buffer, at: number, { records, lastAt }: Pick<JoinedBatches, 'records' | 'lastAt'>): ReadBatch {
  const attributes = set.readInt16BE(at + BATCH_HEAD.attributes);
  const isControl = (attributes & BATCH_ATTRIBUTE.control) !== 0;
  const { firstOffset } = records.base;
  const lastOffset = set.readBigInt64BE(lastAt) + BigInt(set.readInt32BE(lastAt + BATCH_HEAD.lastOffsetDelta));
  const lastRead = firstOffset + BigInt(records.sums.lastOffsetDelta);
  return {
    firstOffset,
    nextOffset: (lastRead > lastOffset ? lastRead : lastOffset) + 1n,
    leaderEpoch: set.readInt32BE(lastAt + BATCH_HEAD.leaderEpoch),
    producerId: set.readBigInt64BE(at + BATCH_HEAD.producerId),
    isTransactional: (attributes & BATCH_ATTRIBUTE.transactional) !== 0,
    control: isControl ? controlOf(records) : null,
    records: isControl ? Records.NONE : Records.of(records),
  };
}

function controlOf(records: RecordBatch): ReadBatch['control'] {
  const key = records.length === 0 ? null : records.record(0).key;
  const type = key === null || key.length < CONTROL_TYPE_AT + 2 ? -1 : key.readInt16BE(CONTROL_TYPE_AT);
  return CONTROL_TYPES[type] ?? 'other';
}
