import type { Held, MemoryBudget } from '../../memory/memory-budget.ts';
import type { StreamRecord } from '../../records/record.ts';
import { type BatchPart, Records, type Room } from '../../records/records.ts';
import type { WriteRequest } from '../ports/record-sink.ts';

/** A record's place and times, without its content. */
export interface FetchedRecord extends Pick<StreamRecord, 'offset' | 'timestamp'> {
  readonly fetchedAt: Date;
}

/** Bounds of what is taken at once; a single record may exceed the bytes. */
type TakeLimit = Readonly<Room>;

/**
 * Records of one partition and the range of offsets that they were fetched for, which may hold offsets without a
 * record.
 */
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

/** What an entry takes beside its batches. */
const ENTRY_BYTES = 400;

/** What is left of fetched records, and the memory of all of them, which stays in use until the last one is written. */
interface QueueEntry {
  readonly queued: QueuedRecords;
  readonly held: Held;
}

/** What is taken out of the queue at once. */
interface TakenRecords {
  readonly taken: QueuedRecords;
  /** Of the entries whose last record is taken, and the batches that are left of them. */
  readonly held: readonly Held[];
  readonly ended: readonly BatchPart[];
}

/**
 * Fetched records of one partition that wait for their transaction, in order and counted in bytes.
 *
 * Each entry keeps the offset that it begins at, and only entries that follow each other without a hole are taken
 * together. So what is taken contains the stored offset that it continues, and PostgreSQL refuses it where that is
 * another one.
 */
export class RecordQueue {
  readonly #memory: MemoryBudget;
  #entries: QueueEntry[] = [];
  #bytes = 0;

  /** @param memory what the records count for, from {@link push} until they are written or dropped */
  constructor(memory: MemoryBudget) {
    this.#memory = memory;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get isEmpty(): boolean {
    return this.#entries.length === 0;
  }

  /** The oldest record, and when it was fetched. */
  get oldest(): FetchedRecord | undefined {
    const entry = this.#entries.find(({ queued }) => queued.records.length > 0);
    const mark = entry?.queued.records.markAt(0);
    return entry && mark ? { fetchedAt: entry.queued.fetchedAt, ...mark } : undefined;
  }

  /** Appends records; a range without any still moves the offset on. */
  push(queued: QueuedRecords): void {
    const memory = ENTRY_BYTES + queued.records.memory + this.#bytesBeside(queued.records);
    this.#entries.push({ queued, held: this.#memory.hold(memory) });
    this.#bytes += queued.records.bytes;
  }

  /**
   * Takes records in order while they fit into the limit, but at least one, and the range of offsets they were fetched
   * for. Batches count for the memory until the work with their last record is over.
   *
   * Why nobody reads a set whose memory is given back: a set is one entry, and entries are taken from front to back,
   * one work after the other. So with its last record the work with all others is over, too. Work that calls `end` has
   * committed the records, and keeps none. Without that call, and of what is dropped, nothing is given back: it is
   * garbage when nobody has it any more.
   *
   * @param work calls `end` when it will not read the records again, and they were committed
   * @throws RangeError when the queue is empty
   */
  async use(limit: TakeLimit, work: (taken: QueuedRecords, end: () => void) => Promise<void>): Promise<void> {
    const { taken, held, ended } = this.#take(limit);
    const giveBack = (): void => {
      for (const { batch } of ended) {
        this.#memory.sets.giveBack(batch.bytes);
      }
    };
    try {
      await work(taken, giveBack);
    } finally {
      this.#memory.release(held);
    }
  }

  /**
   * What the records keep in memory that is no batch of theirs: of a set whose other batches are aborted, or cut off.
   */
  #bytesBeside({ parts }: Records): number {
    const [first, second] = parts;
    if (first !== undefined && second === undefined) {
      const { bytes } = first.batch;
      return Math.max(0, this.#memory.sets.bytesOf(bytes) - bytes.length);
    }
    const beside = new Map<ArrayBufferLike, number>();
    for (const { bytes } of parts.map(({ batch }) => batch)) {
      const piece = beside.get(bytes.buffer) ?? this.#memory.sets.bytesOf(bytes);
      beside.set(bytes.buffer, Math.max(0, piece - bytes.length));
    }
    return [...beside.values()].reduce((sum, bytes) => sum + bytes, 0);
  }

  clear(): void {
    this.#memory.release(this.#entries.map(({ held }) => held));
    this.#entries = [];
    this.#bytes = 0;
  }

  #take(limit: TakeLimit): TakenRecords {
    const [first] = this.#entries;
    if (first === undefined) {
      throw new RangeError('nothing is queued');
    }
    const { firstOffset, fetchedAt } = first.queued;
    const room = { ...limit };
    const pieces: Records[] = [];
    const ended: BatchPart[] = [];
    const held: Held[] = [];
    let nextOffset = firstOffset;
    let leaderEpoch: number | null = null;
    for (
      let entry: QueueEntry | undefined = first;
      entry?.queued.firstOffset === nextOffset;
      entry = this.#entries[0]
    ) {
      const { queued } = entry;
      const fitting = queued.records.countFitting(room, nextOffset === firstOffset);
      pieces.push(queued.records.slice(0, fitting));
      leaderEpoch = queued.leaderEpoch ?? null;
      const restAt = queued.records.offsetAt(fitting);
      if (restAt !== null) {
        const rest = { ...queued, records: queued.records.slice(fitting), firstOffset: restAt };
        this.#entries[0] = { ...entry, queued: rest };
        nextOffset = restAt;
        break;
      }
      nextOffset = queued.nextOffset;
      held.push(entry.held);
      ended.push(...queued.records.parts);
      this.#entries.shift();
    }
    const records = Records.joined(pieces);
    this.#bytes -= records.bytes;
    return { taken: { records, firstOffset, nextOffset, leaderEpoch, fetchedAt }, held, ended };
  }
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
