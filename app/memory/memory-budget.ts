import { totalmem } from 'node:os';
import { memoryLimit } from './memory-limit.ts';
import { MemoryPool } from './memory-pool.ts';

const MIB = 1_048_576;

/** The limit of a default Pod: what a process keeps to that has none. */
const DEFAULT_LIMIT = 512 * MIB;

/**
 * Share of the memory limit that fetched records may take. V8 collects late: for each byte in use about another one is
 * garbage, on its heap and in Buffers, and the process itself takes 100 MB.
 */
const SHARE_OF_LIMIT = 1 / 8;

/**
 * Of the budget, what the answers of all brokers that are under way may take; the rest is for queues and transactions.
 */
const SHARE_UNDER_WAY = 1 / 4;

/**
 * Of the budget, what queues and transactions hold at most of what came in the last second. A backlog would fill any
 * queue, and more of it in memory is written no sooner.
 */
const SHARE_IN_FLOW = 1 / 4;

/** What is held for longer waits for something, such as the lock of a table, and others need room beside it. */
const IN_FLOW_MS = 1_000;

/** How exactly that is known. */
const STEP_MS = 250;

/** Bounds of a fetch. Brokers answer with the first batch however large it is. */
const MOST_BYTES_PER_FETCH = 4 * MIB;
const MOST_BYTES_PER_PARTITION = MIB;
const LEAST_BYTES_PER_FETCH = 65_536;

/** The ratio of bytes in memory to bytes on the wire is that of about so many of the latter. */
const RATIO_OVER_BYTES = 4 * MIB;

/** The memory limit that the budget is a share of: without one that of a default Pod, however much the machine has. */
export const limitOfBudget = (limit: number | null = memoryLimit(), machine: number = totalmem()): number =>
  limit ?? Math.min(DEFAULT_LIMIT, machine);

/** How many bytes in memory a byte on the wire has become lately. */
class UnpackRatio {
  #packed = 0;
  #unpacked = 0;

  get value(): number {
    return Math.max(1, this.#unpacked / Math.max(1, this.#packed));
  }

  add(packed: number, unpacked: number): void {
    this.#packed += packed;
    this.#unpacked += unpacked;
    if (this.#packed > RATIO_OVER_BYTES) {
      this.#packed /= 2;
      this.#unpacked /= 2;
    }
  }
}

/** An answer of a broker, whose batches are decoded one after the other. */
class UnpackedAnswer {
  readonly #most: number;
  readonly #ratio: UnpackRatio;
  #bytes = 0;

  constructor(most: number, ratio: UnpackRatio) {
    this.#most = most;
    this.#ratio = ratio;
  }

  /** Bytes behind which its further batches are left out. */
  get room(): number {
    return Math.max(0, this.#most - this.#bytes);
  }

  /** Whether its further batches are left out. */
  get isFull(): boolean {
    return this.room === 0;
  }

  /** A batch was decoded. @param packed its bytes on the wire @param memory what it takes now */
  add(packed: number, memory: number): void {
    this.#bytes += memory;
    this.#ratio.add(packed, memory);
  }
}

/** What was taken in within {@link STEP_MS}, and is held. */
interface Step {
  readonly since: number;
  bytes: number;
}

/** Bytes that count from {@link MemoryBudget.hold} until {@link MemoryBudget.release}. */
export interface Held {
  readonly bytes: number;
  readonly step: Step;
}

/**
 * One budget for all fetched records in memory: those that are under way in the answers of the brokers, that are
 * queued, and that are being written.
 *
 * Why they stay within it, whatever comes, with N bytes in it and B brokers:
 *
 * 1. No fetch is sent while queues and transactions hold 3/4 N or more, nor while they hold N / 4 or more that came in
 *    about the last second ({@link hasRoom}). Each counts what it holds, and until when ({@link hold},
 *    {@link release}): RecordQueue is the only place where records stay.
 * 2. Each broker has one fetch under way, whose answer may become N / 4B in memory. It asks for as many bytes as have
 *    lately become that much ({@link fetchBytes}); where they become more, decoding ends behind the batch that passes
 *    the bound ({@link answer}). All answers together are N / 4.
 * 3. What was not decoded is still ahead of the partition's position, as if the answer had been shorter, and is fetched
 *    again. Nothing is refused: the first batch of an answer is always decoded, and brokers send it whole. So the
 *    excess over N is at most one unpacked batch for each broker.
 * 4. Record sets are in pieces of memory that are used again ({@link sets}), and a piece counts as a whole as long as
 *    any record of it is queued. What lies ready between two uses is N / 4 at most, and none of it for longer than 4 s.
 * 5. A partition is not fetched while it queues its share ({@link share}) or more, and has no more than one such queue
 *    in its transaction. So a few that cannot be written leave room for the others. Every write ends, by COMMIT or a
 *    time-out, and gives back what it held.
 */
export class MemoryBudget {
  /** Memory of record sets: RecordSetReader takes it, and RecordQueue gives it back. */
  readonly sets: MemoryPool;
  readonly #bytes: number;
  readonly #onRoom = new Set<() => void>();
  #held = 0;
  /** Of the last second, the oldest first. */
  readonly #steps: Step[] = [];
  /** Runs from when there is no room until there is. */
  #full: NodeJS.Timeout | null = null;
  #brokers = 1;
  readonly #ratio = new UnpackRatio();
  readonly #answers = new WeakMap<object, UnpackedAnswer>();

  /** @param limit of the process. @default that of its control group, else 512 MiB */
  constructor(limit: number = limitOfBudget()) {
    this.#bytes = limit * SHARE_OF_LIMIT;
    this.sets = new MemoryPool(this.bytesUnderWay);
  }

  /** Bytes in queues and transactions. */
  get held(): number {
    return this.#held;
  }

  /** Bytes that all answers under way together may take. */
  get bytesUnderWay(): number {
    return this.#bytes * SHARE_UNDER_WAY;
  }

  /** Whether anything may be fetched. */
  get hasRoom(): boolean {
    return this.#held < this.#bytesHeldAtMost && this.#inFlow() < this.#bytes * SHARE_IN_FLOW;
  }

  hold(bytes: number): Held {
    const step = this.#step(performance.now());
    step.bytes += bytes;
    this.#held += bytes;
    if (!this.hasRoom) {
      this.#full ??= setInterval(() => this.#wakeWhenRoomy(), STEP_MS).unref();
    }
    return { bytes, step };
  }

  /** Each is given back once. */
  release(held: readonly Held[]): void {
    for (const { bytes, step } of held) {
      this.#held -= bytes;
      step.bytes -= bytes;
    }
    this.#wakeWhenRoomy();
  }

  /** Only {@link hold} takes room, and time and {@link release} bring it: so nobody waits who is not woken. */
  #wakeWhenRoomy(): void {
    if (this.#full === null || !this.hasRoom) {
      return;
    }
    clearInterval(this.#full);
    this.#full = null;
    for (const wake of [...this.#onRoom]) {
      wake();
    }
  }

  #step(now: number): Step {
    const last = this.#steps.at(-1);
    if (last !== undefined && now - last.since < STEP_MS) {
      return last;
    }
    const step = { since: now, bytes: 0 };
    this.#steps.push(step);
    return step;
  }

  /** Bytes held that came in the last second. */
  #inFlow(): number {
    const begin = performance.now() - IN_FLOW_MS;
    while ((this.#steps[0]?.since ?? Number.POSITIVE_INFINITY) <= begin) {
      this.#steps.shift();
    }
    return this.#steps.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** Calls back whenever there is room again. @returns a function that ends it */
  onRoom(wake: () => void): () => void {
    this.#onRoom.add(wake);
    return () => this.#onRoom.delete(wake);
  }

  /** Bytes that one of so many partitions may queue; what one answer brings may exceed them. */
  share(partitions: number): number {
    return this.#bytesHeldAtMost / 2 / Math.max(1, partitions);
  }

  /** Bytes that the next fetch of a broker asks for, as they are on the wire. */
  fetchBytes(brokers: number): { readonly maxBytes: number; readonly maxBytesPerPartition: number } {
    this.#brokers = Math.max(1, brokers);
    const wanted = Math.min(MOST_BYTES_PER_FETCH, this.#answerBytes / this.#ratio.value);
    const maxBytes = Math.ceil(Math.max(LEAST_BYTES_PER_FETCH, wanted));
    return { maxBytes, maxBytesPerPartition: Math.min(maxBytes, MOST_BYTES_PER_PARTITION) };
  }

  /** What a broker's answer has become in memory so far. @param answer any object that identifies it */
  answer(answer: object): UnpackedAnswer {
    const known = this.#answers.get(answer) ?? new UnpackedAnswer(this.#answerBytes, this.#ratio);
    this.#answers.set(answer, known);
    return known;
  }

  get #bytesHeldAtMost(): number {
    return this.#bytes * (1 - SHARE_UNDER_WAY);
  }

  get #answerBytes(): number {
    return this.bytesUnderWay / this.#brokers;
  }
}

/** The process has one memory, and so one budget. */
export const processMemory = new MemoryBudget();
