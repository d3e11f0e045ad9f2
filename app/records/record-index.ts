import { type BatchBase, type BatchPlace, NO_PLACE, onlyPlaces, RecordBatch } from './record-batch.ts';
import { RecordReader, requireCount } from './record-reader.ts';

/** Length, attributes, two deltas, two lengths and the count of headers. */
export const LEAST_RECORD_BYTES = 7;
/** Two lengths. */
const LEAST_HEADER_BYTES = 2;

const NO_KEY = 'a header has no key';

/** Records that are read before the time is looked at, and headers. */
const STEP = 256;

/** Called with each record and header of a batch before an object is made of any. */
export interface BatchObserver {
  record(): void;
  /** @param keyAt where the key is among the bytes @param valueLength -1 for null */
  header(keyAt: number, keyLength: number, valueLength: number): void;
}

/**
 * Finds where the records of a batch are, or of several that are joined, and reads each field of them once: what is no
 * record is refused before anyone counts on it.
 */
export class RecordIndex {
  readonly #reader: RecordReader;
  readonly #bytes: Buffer;
  readonly #base: BatchBase;
  readonly #places: readonly BatchPlace[];
  readonly #count: number;
  readonly #starts: Uint32Array;
  /** Made at the first header: an array costs more than the rest of a small batch. */
  #headers: Uint32Array | null = null;
  #records = 0;
  /** How many batches are entered, and the last one of them. */
  #entered = 0;
  #place: BatchPlace;
  /** Headers of the records before, and of the record under way. */
  #headersBefore = 0;
  #headersLeft = 0;
  #endBefore = -1;
  #lastDelta = -1;
  #contentBytes = 0;
  #leastTime = Number.POSITIVE_INFINITY;
  #mostTime = Number.NEGATIVE_INFINITY;
  #timeSum = 0;

  /**
   * @param bytes of the records, unpacked
   * @param count how many they are
   * @param base of the first batch
   * @param places of all batches, each with a record or more where there are several. @default that of one batch
   * @throws Error when so many records cannot be in the bytes
   */
  constructor(bytes: Buffer, count: number, base: BatchBase, places = onlyPlaces(bytes, count)) {
    requireCount(count, bytes.length, LEAST_RECORD_BYTES);
    this.#reader = new RecordReader(bytes, 0, 0);
    this.#bytes = bytes;
    this.#base = base;
    this.#places = places;
    this.#count = count;
    this.#starts = new Uint32Array(count + 1);
    this.#place = this.#enter();
  }

  /**
   * Reads some records more, or some headers of one.
   *
   * @param observer @default none
   * @returns the batch when all are read, `null` when more are left
   * @throws Error when the bytes are no records
   */
  readOn(observer?: BatchObserver): RecordBatch | null {
    for (let step = STEP; this.#records < this.#count; ) {
      if (step <= 0) {
        return null;
      }
      if (this.#endBefore < 0) {
        this.#begin(observer);
      }
      step -= 1 + this.#readHeaders(step, observer);
      if (this.#headersLeft === 0) {
        this.#end();
      }
    }
    this.#reader.requireEnd('a batch');
    this.#starts[this.#count] = this.#bytes.length;
    this.#noteHeaders(this.#count);
    const sums = {
      contentBytes: this.#contentBytes,
      leastTime: this.#leastTime,
      mostTime: this.#mostTime,
      timeSum: this.#timeSum,
      lastOffsetDelta: this.#lastDelta,
    };
    const indexed = { starts: this.#starts, headers: this.#headers, sums, places: this.#places };
    return new RecordBatch(this.#bytes, this.#base, indexed);
  }

  /** How many batches in front of the record that is read next are read to their ends. */
  get wholeBatches(): number {
    return this.#entered - 1;
  }

  /** Goes on with the next batch. */
  #enter(): BatchPlace {
    this.#reader.requireEnd('a batch');
    const place = this.#places[this.#entered] ?? NO_PLACE;
    this.#entered += 1;
    this.#reader.moveTo(place.at, place.end);
    return place;
  }

  #begin(observer: BatchObserver | undefined): void {
    if (this.#records >= this.#place.first + this.#place.records) {
      this.#place = this.#enter();
    }
    const reader = this.#reader;
    this.#starts[this.#records] = reader.at;
    this.#noteHeaders(this.#records);
    this.#endBefore = reader.enterRecord();
    reader.byte(); // attributes, of which there are none
    this.#addTime(reader.varlong());
    const delta = this.#place.offset + reader.varint();
    if (delta <= this.#lastDelta) {
      throw new Error(
        `the offset of a record is ${delta} behind the first one, and the one before has ${this.#lastDelta}`,
      );
    }
    this.#lastDelta = delta;
    this.#contentBytes += Math.max(0, reader.skipField()) + Math.max(0, reader.skipField());
    this.#headersLeft = reader.count(LEAST_HEADER_BYTES);
    this.#headersBefore += this.#headersLeft;
    observer?.record();
  }

  /** Before the first header each place is 0, as a new array has it. */
  #noteHeaders(place: number): void {
    if (this.#headersBefore > 0) {
      this.#headers ??= new Uint32Array(this.#count + 1);
      this.#headers[place] = this.#headersBefore;
    }
  }

  /** Deltas mean nothing where all records have the broker's time. `NaN` stays `NaN`. */
  #addTime(delta: number): void {
    const time = this.#place.time + (this.#base.appendTime === null ? delta : 0);
    this.#leastTime = Math.min(this.#leastTime, time);
    this.#mostTime = Math.max(this.#mostTime, time);
    this.#timeSum += time;
  }

  /** @returns how many headers were read */
  #readHeaders(most: number, observer: BatchObserver | undefined): number {
    const reader = this.#reader;
    const headers = Math.min(most, this.#headersLeft);
    for (let nth = 0; nth < headers; nth += 1) {
      const length = reader.skipField();
      if (length < 0) {
        throw new Error(NO_KEY);
      }
      const keyAt = reader.at - length;
      const valueLength = reader.skipField();
      observer?.header(keyAt, length, valueLength);
    }
    this.#headersLeft -= headers;
    return headers;
  }

  #end(): void {
    this.#reader.leaveRecord(this.#endBefore);
    this.#endBefore = -1;
    this.#records += 1;
  }
}
