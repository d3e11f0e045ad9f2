import { getHeapStatistics } from 'node:v8';
import { memoryLimit } from '../../memory/memory-limit.ts';
import type { BatchObserver } from '../../records/record-index.ts';

const MEBIBYTE = 1_048_576;

/**
 * Bytes on V8's heap of a record as an object, measured with Node.js 20 on 64 bits. `record` is the object with its
 * numbers and its places in arrays; `buffer` a key or a value, whose content is outside. `headers` is a list, `header`
 * a header with its place, `text` its key, beside the characters. A dead letter's record becomes one.
 */
const HEAP = { record: 160, buffer: 96, headers: 48, header: 48, text: 24 } as const;

/** What each header of the largest record takes while its row is made: JSON on the heap, and in the row outside. */
const JSON_BYTES_PER_HEADER = 64;

/** The most memory that one byte of a batch can become: a header of two bytes, with an empty key and an empty value. */
const MOST_PER_BYTE = (HEAP.header + HEAP.buffer + 2 * JSON_BYTES_PER_HEADER) / 2 + 1;

/** What the heap holds beside a batch: the objects of the process, and those of other records. */
const HEAP_BESIDE = 72 * MEBIBYTE;

/** V8's young generation, which is in its limit; in a small control group it is 3 MiB. */
const YOUNG_GENERATION = 45 * MEBIBYTE;

/** What a process takes beside its heap and its records. */
const PROCESS_BYTES = 64 * MEBIBYTE;

/** A process with little memory reads batches of the usual sizes all the same. */
const LEAST_ROOM = 16 * MEBIBYTE;

/** The memory that a process has for the records of one batch. */
export interface BatchRoom {
  /** For the objects on V8's heap. */
  readonly heapBytes: number;
  /** For the objects and the bytes together. */
  readonly bytes: number;
}

/**
 * The room of this process.
 *
 * @param heapLimit what V8 lets the heap become. @default that of this process, which `--max-old-space-size` sets
 * @param limit of the memory; `null` for none. @default that of this process
 */
export function batchRoom(
  heapLimit: number = getHeapStatistics().heap_size_limit,
  limit: number | null = memoryLimit(),
): BatchRoom {
  const heapBytes = Math.max(LEAST_ROOM, heapLimit - HEAP_BESIDE - (limit === null ? YOUNG_GENERATION : 0));
  return { heapBytes, bytes: limit === null ? Number.POSITIVE_INFINITY : Math.max(LEAST_ROOM, limit - PROCESS_BYTES) };
}

/** A batch would take more memory than the process has for it. */
export class TooManyObjectsError extends Error {
  override readonly name = 'TooManyObjectsError';
}

function keyBytes(length: number, isAscii: boolean): number {
  if (!isAscii) {
    return Math.max(HEAP.buffer, HEAP.text + 2 * length);
  }
  return length > 1 ? HEAP.text + length : 0;
}

const mebibytes = (bytes: number): string => `${Math.ceil(bytes / MEBIBYTE).toLocaleString('en')} MiB`;

/**
 * Counts what the largest record of a batch becomes as an object, before any is made. Others are not objects at the
 * same time, but for those of one transaction, whose bytes are bounded.
 */
export class LargestRecord implements BatchObserver {
  readonly #bytes: Buffer;
  /** Of the record under way: its headers, and what its objects take. */
  #headers = 0;
  #heapBytes = 0;
  #mostHeaders = 0;
  #mostHeapBytes = 0;

  /** @param bytes of the batch, unpacked */
  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  record(): void {
    this.#headers = 0;
    this.#heapBytes = HEAP.record + HEAP.headers + 2 * HEAP.buffer;
  }

  /** A header; a key that is not ASCII may become text of two bytes a character, or a Buffer. */
  header(keyAt: number, keyLength: number, valueLength: number): void {
    this.#headers += 1;
    this.#heapBytes += HEAP.header + JSON_BYTES_PER_HEADER + (valueLength < 0 ? 0 : HEAP.buffer);
    this.#heapBytes += keyBytes(keyLength, isAscii(this.#bytes, keyAt, keyLength));
    this.#mostHeaders = Math.max(this.#mostHeaders, this.#headers);
    this.#mostHeapBytes = Math.max(this.#mostHeapBytes, this.#heapBytes);
  }

  /**
   * @param bytes of the batch, unpacked, and of its index
   * @throws TooManyObjectsError when they take more memory than there is
   */
  requireRoom(bytes: number, room: BatchRoom): void {
    const inRow = this.#mostHeaders * JSON_BYTES_PER_HEADER;
    const headers = `a record of it has ${this.#mostHeaders.toLocaleString('en')} headers`;
    requireRoom(this.#mostHeaders === 0 ? 'it has its bytes and an index of its records' : headers, room, {
      heapBytes: this.#mostHeapBytes,
      bytes: this.#mostHeapBytes + inRow + bytes,
    });
  }
}

function isAscii(bytes: Buffer, from: number, length: number): boolean {
  for (let at = from; at < from + length; at += 1) {
    if ((bytes[at] ?? 0) >= 0x80) {
      return false;
    }
  }
  return true;
}

/**
 * Asked before the messages of a compressed one become objects, all at once.
 *
 * @throws TooManyObjectsError when they would take more memory than there is
 */
export function requireRoomForMessages(messages: number, bytes: number, room: BatchRoom): void {
  const heapBytes = messages * (HEAP.record + 2 * HEAP.buffer);
  const needed = { heapBytes, bytes: heapBytes + 2 * bytes };
  requireRoom(`it holds ${messages.toLocaleString('en')} records`, room, needed);
}

function requireRoom(what: string, room: BatchRoom, needed: BatchRoom): void {
  if (needed.heapBytes <= room.heapBytes && needed.bytes <= room.bytes) {
    return;
  }
  const isHeap = needed.heapBytes > room.heapBytes;
  const [most, free] = isHeap ? [needed.heapBytes, room.heapBytes] : [needed.bytes, room.bytes];
  throw new TooManyObjectsError(
    `${what}, which take ${mebibytes(most)} of memory, and the process has ${mebibytes(free)} for them ` +
      '(resources.limits.memory in consumer.yaml; without it, --max-old-space-size in NODE_OPTIONS)',
  );
}

/** Whether a batch of so many bytes may take more memory than there is, so that it has to be counted. */
export const hasToBeCounted = (bytes: number, room: BatchRoom): boolean =>
  bytes * MOST_PER_BYTE > Math.min(room.heapBytes, room.bytes);
