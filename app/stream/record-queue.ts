import { type MemoryBudget, memoryOf } from './memory-budget.ts';
import { bytesOfAll, recordBytes, type StreamRecord } from './record.ts';
import type { WriteRequest } from './record-sink.ts';

/** A record's place and times, without its content. */
export interface FetchedRecord extends Pick<StreamRecord, 'offset' | 'timestamp'> {
  readonly fetchedAt: Date;
}

/** Bounds of what is taken at once; a single record may exceed the bytes. */
interface TakeLimit {
  readonly records: number;
  readonly bytes: number;
}

/** Records of one partition and the range of offsets that they stand for, which may hold offsets without a record. */
export interface QueuedRecords extends Pick<WriteRequest, 'records' | 'nextOffset'> {
  /**
   * The range begins here, and ends before `nextOffset`: a transaction of these records expects this offset to be
   * stored.
   */
  readonly firstOffset: bigint;
  /** Of the last record below `nextOffset`; null or absent: not known. */
  readonly leaderEpoch?: number | null;
  /** When the oldest of them was fetched. */
  readonly fetchedAt: Date;
}

/**
 * Fetched records of one partition that wait for their transaction, in order and counted in bytes.
 *
 * Each batch keeps the offset that it begins at, and only batches that follow each other without a hole are taken
 * together. So what is taken says by itself which stored offset it continues, and PostgreSQL refuses it where that is
 * another one.
 */
export class RecordQueue {
  readonly #memory: MemoryBudget;
  #batches: QueuedRecords[] = [];
  #bytes = 0;

  /** @param memory what the records count for, from {@link push} until they are written or dropped */
  constructor(memory: MemoryBudget) {
    this.#memory = memory;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get isEmpty(): boolean {
    return this.#batches.length === 0;
  }

  /** The oldest record, and when it was fetched. */
  get oldest(): FetchedRecord | undefined {
    const batch = this.#batches.find(({ records }) => records.length > 0);
    const record = batch?.records[0];
    return batch && record && { offset: record.offset, timestamp: record.timestamp, fetchedAt: batch.fetchedAt };
  }

  /** Appends a batch; one without records still moves the offset on. */
  push(batch: QueuedRecords): void {
    const bytes = bytesOfAll(batch.records);
    this.#batches.push(...inPieces(batch));
    this.#bytes += bytes;
    this.#memory.hold(memoryOf(batch.records.length, bytes));
  }

  /**
   * Takes records in order while they fit into the limit, but at least one, and the range of offsets they stand for.
   * They count for the memory until the work with them is over.
   *
   * @throws RangeError when the queue is empty
   */
  async use(limit: TakeLimit, work: (taken: QueuedRecords) => Promise<void>): Promise<void> {
    const before = this.#bytes;
    const taken = this.#take(limit);
    const memory = memoryOf(taken.records.length, before - this.#bytes);
    try {
      await work(taken);
    } finally {
      this.#memory.release(memory);
    }
  }

  clear(): void {
    const records = this.#batches.reduce((sum, batch) => sum + batch.records.length, 0);
    this.#memory.release(memoryOf(records, this.#bytes));
    this.#batches = [];
    this.#bytes = 0;
  }

  #take(limit: TakeLimit): QueuedRecords {
    const [first] = this.#batches;
    if (first === undefined) {
      throw new RangeError('nothing is queued');
    }
    const { firstOffset, fetchedAt } = first;
    const parts: (readonly StreamRecord[])[] = [];
    const room = { records: limit.records, bytes: limit.bytes };
    let nextOffset = firstOffset;
    let leaderEpoch: number | null = null;
    for (let batch: QueuedRecords | undefined = first; batch?.firstOffset === nextOffset; batch = this.#batches[0]) {
      const fitting = countFitting(batch.records, room, nextOffset === firstOffset);
      const rest = batch.records.slice(fitting);
      parts.push(batch.records.slice(0, fitting));
      leaderEpoch = batch.leaderEpoch ?? null;
      if (rest[0] !== undefined) {
        nextOffset = rest[0].offset;
        this.#batches[0] = { ...batch, records: rest, firstOffset: nextOffset };
        break;
      }
      nextOffset = batch.nextOffset;
      this.#batches.shift();
    }
    this.#bytes -= limit.bytes - room.bytes;
    return { records: parts.flat(), firstOffset, nextOffset, leaderEpoch, fetchedAt };
  }
}

/** Records of a batch that are kept together: what is left of a piece is copied when some are taken from its front. */
const PIECE_RECORDS = 10_000;

/** A batch as pieces that follow each other without a hole, so that what was taken of a large one is free. */
function inPieces(batch: QueuedRecords): readonly QueuedRecords[] {
  const { records, nextOffset } = batch;
  const pieces: QueuedRecords[] = [];
  let { firstOffset } = batch;
  for (let from = 0; from < records.length || from === 0; from += PIECE_RECORDS) {
    const end = records[from + PIECE_RECORDS]?.offset ?? nextOffset;
    const piece = from === 0 && end === nextOffset ? records : records.slice(from, from + PIECE_RECORDS);
    pieces.push({ ...batch, records: piece, firstOffset, nextOffset: end });
    firstOffset = end;
  }
  return pieces;
}

/**
 * How many of the records fit into the room, which shrinks by them.
 * @param needsOne whether the first one always fits
 */
function countFitting(
  records: readonly StreamRecord[],
  room: { records: number; bytes: number },
  needsOne: boolean,
): number {
  let count = 0;
  for (const record of records) {
    const bytes = recordBytes(record);
    const mustFit = needsOne && count === 0;
    if (!mustFit && (room.records < 1 || room.bytes < bytes)) {
      break;
    }
    room.records -= 1;
    room.bytes -= bytes;
    count += 1;
  }
  return count;
}

/**
 * How many records a transaction takes: the setting, less after a failure, until it goes well again. A batch that never
 * fits into a time-out or into the server's memory so becomes smaller with each attempt, down to one record.
 */
export class BatchLimit {
  readonly #most: number;
  #records: number;

  constructor(most: number) {
    this.#most = most;
    this.#records = most;
  }

  get records(): number {
    return this.#records;
  }

  /** A transaction of so many records failed. */
  failed(records: number): void {
    this.#records = Math.max(1, Math.floor(records / 2));
  }

  /** A transaction was committed. */
  committed(): void {
    this.#records = Math.min(this.#most, this.#records * 2);
  }
}
