import type { StreamRecord } from './record.ts';
import { type RecordBatch, RecordCursor } from './record-batch.ts';

/** Records of a batch from place `from` up to but without `to`. */
export interface BatchPart {
  readonly batch: RecordBatch;
  readonly from: number;
  readonly to: number;
}

/** Bounds of records that are taken together; they shrink by what is taken. */
export interface Room {
  records: number;
  bytes: number;
}

/** Nearly all parts are whole batches. */
function contentBytesOf({ batch, from, to }: BatchPart): number {
  if (to - from === batch.length) {
    return batch.sums.contentBytes;
  }
  const cursor = new RecordCursor();
  let bytes = 0;
  for (let nth = from; nth < to; nth += 1) {
    const { keyLength, valueLength } = cursor.read(batch, nth);
    bytes += Math.max(0, keyLength) + Math.max(0, valueLength);
  }
  return bytes;
}

const isEmpty = ({ from, to }: BatchPart): boolean => from >= to;

/** Records of one partition in the order of their offsets: parts of batches, of which no byte is copied. */
export class Records {
  /** Parts of one record or more. */
  readonly parts: readonly BatchPart[];
  readonly length: number;
  /** The measure of queues and of transactions, and about what the rows take. */
  readonly bytes: number;

  static readonly NONE = new Records([]);

  /** All records of these batches. */
  static of(...batches: readonly RecordBatch[]): Records {
    return new Records(batches.map((batch) => ({ batch, from: 0, to: batch.length })));
  }

  /** All records of these, in the order of their offsets. */
  static joined(all: readonly Records[]): Records {
    const [first = Records.NONE] = all;
    return all.length < 2 ? first : new Records(all.flatMap(({ parts }) => parts));
  }

  /** @param parts in the order of their offsets; those without a record are left out */
  constructor(parts: readonly BatchPart[]) {
    this.parts = parts.some(isEmpty) ? parts.filter((part) => !isEmpty(part)) : parts;
    let [length, bytes] = [0, 0];
    for (const { batch, from, to } of this.parts) {
      length += to - from;
      bytes += batch.bytesOf(from, to);
    }
    this.length = length;
    this.bytes = bytes;
  }

  /** Memory of their batches, whole. */
  get memory(): number {
    return this.parts.reduce((sum, { batch }) => sum + batch.memory, 0);
  }

  /** Bytes of the keys and values. */
  get contentBytes(): number {
    return this.parts.reduce((sum, part) => sum + contentBytesOf(part), 0);
  }

  /** The offset of the record at a place; `null` where there is none. */
  offsetAt(place: number): bigint | null {
    return this.#read(place)?.offset ?? null;
  }

  /** A cursor at the record of a place; `null` where there is none. */
  #read(place: number): RecordCursor | null {
    let before = 0;
    for (const { batch, from, to } of this.parts) {
      if (place >= before && place < before + to - from) {
        return new RecordCursor().read(batch, from + place - before);
      }
      before += to - from;
    }
    return null;
  }

  /** Offset and time of the record at a place; `null` where there is none. */
  markAt(place: number): Pick<StreamRecord, 'offset' | 'timestamp'> | null {
    const cursor = this.#read(place);
    return cursor && { offset: cursor.offset, timestamp: cursor.timestamp };
  }

  /** The record at a place as an object; `null` where there is none. */
  at(place: number): StreamRecord | null {
    return this.#read(place)?.record() ?? null;
  }

  /** The records from a place up to but without another one. */
  slice(start: number, end = this.length): Records {
    if (start === 0 && end === this.length) {
      return this;
    }
    const parts: BatchPart[] = [];
    let before = 0;
    for (const { batch, from, to } of this.parts) {
      const [first, behind] = [Math.max(from, from + start - before), Math.min(to, from + end - before)];
      if (first < behind) {
        parts.push({ batch, from: first, to: behind });
      }
      before += to - from;
    }
    return new Records(parts);
  }

  /** The records at an offset and behind it. */
  behind(offset: bigint): Records {
    const first = this.offsetAt(0);
    if (first === null || first >= offset) {
      return this;
    }
    return new Records(
      this.parts.map(({ batch, from, to }) => ({ batch, from: Math.max(from, batch.placeOf(offset)), to })),
    );
  }

  /**
   * How many records from the first on fit into the room, which shrinks by them.
   *
   * @param needsOne the first one always fits
   */
  countFitting(room: Room, needsOne: boolean): number {
    if (this.length <= room.records && this.bytes <= room.bytes) {
      room.records -= this.length;
      room.bytes -= this.bytes;
      return this.length;
    }
    let count = 0;
    for (const { batch, from, to } of this.parts) {
      for (let nth = from; nth < to; nth += 1) {
        const bytes = batch.bytesOf(nth, nth + 1);
        const mustFit = needsOne && count === 0;
        if (!mustFit && (room.records < 1 || room.bytes < bytes)) {
          return count;
        }
        room.records -= 1;
        room.bytes -= bytes;
        count += 1;
      }
    }
    return count;
  }

  /** Calls with a cursor at each record, and its place. */
  forEach(visit: (cursor: RecordCursor, place: number) => void): void {
    const cursor = new RecordCursor();
    let place = 0;
    for (const { batch, from, to } of this.parts) {
      for (let nth = from; nth < to; nth += 1) {
        visit(cursor.read(batch, nth), place);
        place += 1;
      }
    }
  }

  /** The records as objects. */
  *[Symbol.iterator](): Generator<StreamRecord> {
    for (const { batch, from, to } of this.parts) {
      for (let nth = from; nth < to; nth += 1) {
        yield batch.record(nth);
      }
    }
  }
}
