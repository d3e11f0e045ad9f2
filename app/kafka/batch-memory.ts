import { getHeapStatistics } from 'node:v8';

const MEBIBYTE = 1_048_576;

/**
 * Bytes on V8's heap of what a record becomes, measured with Node.js 20 on 64 bits: the object with its numbers and its
 * places in the arrays on its way to PostgreSQL; a key or a value as a Buffer, whose content is outside; a list of
 * headers; a header with its place; a header's key, beside its characters.
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
 * @param memoryLimit that of the control group. @default none, where there is none
 */
export function batchRoom(
  heapLimit: number = getHeapStatistics().heap_size_limit,
  memoryLimit: number = process.constrainedMemory(),
): BatchRoom {
  const isLimited = memoryLimit > 0 && memoryLimit < Number.MAX_SAFE_INTEGER;
  const heapBytes = Math.max(LEAST_ROOM, heapLimit - HEAP_BESIDE - (isLimited ? 0 : YOUNG_GENERATION));
  return { heapBytes, bytes: isLimited ? Math.max(LEAST_ROOM, memoryLimit - PROCESS_BYTES) : Number.POSITIVE_INFINITY };
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

/** Counts what a batch becomes, before any of it is made. */
export class BatchObjects {
  #records = 0;
  #headers = 0;
  #heapBytes = 0;
  /** The JSON of the most headers that one record has. */
  #jsonBytes = 0;

  get records(): number {
    return this.#records;
  }

  get headers(): number {
    return this.#headers;
  }

  /** A record with a key and a value of these lengths, -1 for null, and so many headers. */
  addRecord(keyLength: number, valueLength: number, headers: number): void {
    this.#records += 1;
    this.#heapBytes += HEAP.record + (headers === 0 ? 0 : HEAP.headers);
    this.#heapBytes += (keyLength < 0 ? 0 : HEAP.buffer) + (valueLength < 0 ? 0 : HEAP.buffer);
    this.#jsonBytes = Math.max(this.#jsonBytes, headers * JSON_BYTES_PER_HEADER);
  }

  /** A header; a key that is not ASCII may become text of two bytes a character, or a Buffer. */
  addHeader(keyLength: number, isAscii: boolean, valueLength: number): void {
    this.#headers += 1;
    this.#heapBytes += HEAP.header + keyBytes(keyLength, isAscii) + (valueLength < 0 ? 0 : HEAP.buffer);
  }

  /**
   * @param bytes of the batch, unpacked
   * @throws TooManyObjectsError when they take more memory than there is
   */
  requireRoom(bytes: number, room: BatchRoom): void {
    const heapBytes = this.#heapBytes + this.#jsonBytes;
    const all = heapBytes + this.#jsonBytes + bytes;
    if (heapBytes <= room.heapBytes && all <= room.bytes) {
      return;
    }
    const [needed, free] = heapBytes > room.heapBytes ? [heapBytes, room.heapBytes] : [all, room.bytes];
    throw new TooManyObjectsError(
      `it holds ${this.#records.toLocaleString('en')} records and ${this.#headers.toLocaleString('en')} headers, which take ` +
        `${mebibytes(needed)} of memory, and the process has ${mebibytes(free)} for them ` +
        '(resources.limits.memory in consumer.yaml; without it, --max-old-space-size in NODE_OPTIONS)',
    );
  }
}

/** Whether a batch of so many bytes may take more memory than there is, so that it has to be counted. */
export const hasToBeCounted = (bytes: number, room: BatchRoom): boolean =>
  bytes * MOST_PER_BYTE > Math.min(room.heapBytes, room.bytes);
