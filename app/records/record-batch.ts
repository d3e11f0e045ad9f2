import { isUtf8 } from 'node:buffer';
import type { RecordHeader, StreamRecord } from './record.ts';
import { RecordReader } from './record-reader.ts';

/**
 * What a record counts for beside its bytes, and as much for each of its headers: about what its row has beside them.
 */
const RECORD_OVERHEAD_BYTES = 64;

/** What the objects of a batch take on the heap, and for each record two places in its index at most. */
const BATCH_BYTES = 1_200;
const INDEX_BYTES = 8;
/** What each further batch that is joined takes on the heap: its place, measured with Node.js 20. */
const PLACE_BYTES = 112;

/** Kafka's word for "no timestamp". */
export const NO_TIMESTAMP = -1n;

/** `NaN` where a number may not hold it. */
const exactNumber = (value: bigint): number => (Number.isSafeInteger(Number(value)) ? Number(value) : Number.NaN);

/** Offsets and times of a batch, from which its records count theirs. */
export interface BatchBase {
  readonly firstOffset: bigint;
  readonly firstTimestamp: bigint;
  /** The broker's own time for all records, where the topic says so; their deltas mean nothing then. */
  readonly appendTime: bigint | null;
}

/** Where one of joined batches is, and what is added to the first offset and the first timestamp of the first one. */
export interface BatchPlace {
  /** Of its first byte, and behind its last one. */
  readonly at: number;
  readonly end: number;
  /** The place of its first record among those of all batches. */
  readonly first: number;
  readonly records: number;
  readonly offset: number;
  readonly time: number;
}

/** That of no batch. */
export const NO_PLACE: BatchPlace = { at: 0, end: 0, first: 0, records: 0, offset: 0, time: 0 };

/** The place of a batch that nothing is joined to. */
export const onlyPlaces = (bytes: Buffer, records: number): readonly BatchPlace[] => [
  { at: 0, end: bytes.length, first: 0, records, offset: 0, time: 0 },
];

/** What all records of a batch have together. */
export interface BatchSums {
  /** Bytes of their keys and values. */
  readonly contentBytes: number;
  /**
   * Milliseconds of their timestamps, counted from the first timestamp of the batch, of joined ones that of the first
   * one: the least, the most and the sum; `NaN` where a number may not hold one of them.
   */
  readonly leastTime: number;
  readonly mostTime: number;
  readonly timeSum: number;
  /** That of the last record; -1 where there is none. */
  readonly lastOffsetDelta: number;
}

/** Where the records and headers of a batch are. */
export interface IndexedRecords {
  /** Where the length of each record is; at the end, where the last one ends. */
  readonly starts: Uint32Array;
  /** How many headers are before each record, and in all; `null` where there is none. */
  readonly headers: Uint32Array | null;
  readonly sums: BatchSums;
  readonly places: readonly BatchPlace[];
}

/**
 * The records of a batch of record format v2 as the bytes that they came in, unpacked, and where each of them begins. A
 * record becomes an object only where one is asked for; {@link RecordCursor} reads fields of one record after another.
 *
 * Small batches that follow each other are joined: one object has the records of all of them, and the bytes between.
 */
export class RecordBatch {
  /** From the first byte of the first record on. */
  readonly bytes: Buffer;
  /** The same memory. */
  readonly view: DataView;
  readonly base: BatchBase;
  /** Its first timestamp, or that of all records, where a number holds it exactly; else `NaN`. */
  readonly milliseconds: number;
  /** Its first offset, where a number holds it exactly; else `NaN`. */
  readonly offsetNumber: number;
  readonly length: number;
  readonly #starts: Uint32Array;
  readonly sums: BatchSums;
  /** Of each batch that was joined, in their order; one where nothing is. */
  readonly places: readonly BatchPlace[];
  readonly #headers: Uint32Array | null;

  /** @see RecordIndex of record-index.ts, which makes it */
  constructor(bytes: Buffer, base: BatchBase, { starts, headers, sums, places }: IndexedRecords) {
    this.sums = sums;
    this.places = places;
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.base = base;
    this.milliseconds = exactNumber(base.appendTime ?? base.firstTimestamp);
    this.offsetNumber = exactNumber(base.firstOffset);
    this.length = starts.length - 1;
    this.#starts = starts;
    this.#headers = headers;
  }

  /** Where the record is, with its length in front. */
  startOf(nth: number): number {
    return this.#starts[nth] ?? 0;
  }

  /** Memory of the batch, its objects included; parts of it keep all of it. */
  get memory(): number {
    return BATCH_BYTES + this.bytes.length + INDEX_BYTES * this.length + PLACE_BYTES * (this.places.length - 1);
  }

  /** Bytes of the records from `from` up to `to`, heads of joined batches included: the measure of queues. */
  bytesOf(from: number, to: number): number {
    const headers = (this.#headers?.[to] ?? 0) - (this.#headers?.[from] ?? 0);
    return this.startOf(to) - this.startOf(from) + RECORD_OVERHEAD_BYTES * (to - from + headers);
  }

  /** The place of the first record at or behind an offset; the length where there is none. */
  placeOf(offset: bigint): number {
    const cursor = new RecordCursor();
    let [low, high] = [0, this.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (cursor.read(this, middle).offset < offset) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  /** A record as an object; its bytes share the memory of the batch. */
  record(nth: number): StreamRecord {
    return new RecordCursor().read(this, nth).record();
  }
}

/** Of a cursor that has read nothing yet. */
const NO_READER = new RecordReader(Buffer.alloc(0));

/** The place of the batch that a record is in. @param last of the record that was read before, mostly the same one */
function placeOfRecord(places: readonly BatchPlace[], last: BatchPlace, nth: number): BatchPlace {
  if (nth >= last.first && nth < last.first + last.records) {
    return last;
  }
  let [low, high] = [0, places.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if ((places[middle]?.first ?? 0) <= nth) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return places[low] ?? NO_PLACE;
}

/**
 * Reads the fields of one record after another without an object for any. Where a field is comes as numbers, so that
 * its bytes can be copied without one Buffer for each.
 */
export class RecordCursor {
  #batch: RecordBatch | null = null;
  #reader = NO_READER;
  /** Of the batch that the record is in, among joined ones. */
  #place = NO_PLACE;
  /** Milliseconds from the first timestamp of this batch; `NaN` where a number may not hold it. */
  #timeDelta = 0;
  #timeAt = 0;
  /** Counted from the first offset of the batch, of joined ones that of the first one. */
  offsetDelta = 0;
  keyAt = 0;
  /** -1: null. */
  keyLength = 0;
  valueAt = 0;
  /** -1: null, a tombstone. */
  valueLength = 0;
  headerCount = 0;
  /** Where the first header is; they go on up to the end of the record. */
  headersAt = 0;
  end = 0;

  /** Moves to a record of a batch. */
  read(batch: RecordBatch, nth: number): this {
    if (this.#batch !== batch) {
      this.#batch = batch;
      this.#reader = new RecordReader(batch.bytes);
      this.#place = NO_PLACE;
    }
    this.#place = placeOfRecord(batch.places, this.#place, nth);
    const reader = this.#reader;
    reader.moveTo(batch.startOf(nth), batch.bytes.length);
    const length = reader.varint();
    this.end = reader.at + length;
    reader.byte(); // attributes, of which there are none
    this.#timeAt = reader.at;
    this.#timeDelta = reader.varlong();
    this.offsetDelta = this.#place.offset + reader.varint();
    this.keyLength = reader.skipField();
    this.keyAt = reader.at - Math.max(0, this.keyLength);
    this.valueLength = reader.skipField();
    this.valueAt = reader.at - Math.max(0, this.valueLength);
    this.headerCount = reader.varint();
    this.headersAt = reader.at;
    return this;
  }

  get batch(): RecordBatch {
    if (this.#batch === null) {
      throw new RangeError('the cursor is at no record yet');
    }
    return this.#batch;
  }

  get offset(): bigint {
    return this.batch.base.firstOffset + BigInt(this.offsetDelta);
  }

  /** The offset, where a number holds it exactly; else `NaN`, and {@link offset} has it. */
  get offsetNumber(): number {
    const sum = this.batch.offsetNumber + this.offsetDelta;
    return Number.isSafeInteger(sum) ? sum : Number.NaN;
  }

  /** Milliseconds since the epoch, where a number holds them exactly; else `NaN`, and {@link timestamp} has them. */
  get milliseconds(): number {
    const { milliseconds, base } = this.batch;
    const sum = milliseconds + this.#place.time + (base.appendTime === null ? this.#timeDelta : 0);
    return Number.isSafeInteger(sum) ? sum : Number.NaN;
  }

  /** Milliseconds since the epoch; -1 where the producer gave none. */
  get timestamp(): bigint {
    const { firstTimestamp, appendTime } = this.batch.base;
    const shift = BigInt(this.#place.time);
    if (appendTime !== null) {
      return appendTime + shift;
    }
    this.#reader.moveTo(this.#timeAt, this.end);
    return firstTimestamp + shift + this.#reader.exactVarlong();
  }

  /** Shares the memory of the batch; null where there is none. */
  get key(): Buffer | null {
    return this.keyLength < 0 ? null : this.batch.bytes.subarray(this.keyAt, this.keyAt + this.keyLength);
  }

  /** Shares the memory of the batch; `null` is a tombstone. */
  get value(): Buffer | null {
    return this.valueLength < 0 ? null : this.batch.bytes.subarray(this.valueAt, this.valueAt + this.valueLength);
  }

  /** Their values share the memory of the batch. */
  get headers(): readonly RecordHeader[] {
    if (this.headerCount === 0) {
      return NO_HEADERS;
    }
    const reader = this.headerReader();
    return Array.from({ length: this.headerCount }, () => readRecordHeader(reader));
  }

  /** The record as an object; its bytes share the memory of the batch. */
  record(): StreamRecord {
    const { offset, timestamp, key, value, headers } = this;
    return { offset, timestamp, key, value, headers };
  }

  /** A reader of the headers: keys and values in turn, each a field. */
  headerReader(): RecordReader {
    this.#reader.moveTo(this.headersAt, this.end);
    return this.#reader;
  }
}

const REPLACEMENT_CHARACTER = '\ufffd';

/** One list for all records without headers. */
const NO_HEADERS: readonly RecordHeader[] = [];

/** A key that is not UTF-8 stays bytes: as text it would be another key. */
function readRecordHeader(reader: RecordReader): RecordHeader {
  const bytes = reader.field() ?? Buffer.alloc(0);
  const key = bytes.toString('utf8');
  const isText = !key.includes(REPLACEMENT_CHARACTER) || isUtf8(bytes);
  return { key: isText ? key : bytes, value: reader.field() };
}
