import { isUtf8 } from 'node:buffer';
import { BACKSLASH, QUOTE, SPACE } from '../../records/ascii.ts';
import { type Memory, NEW_MEMORY } from './row-memory.ts';

const FIELD_LENGTH_BYTES = 4;
const NULL_FIELD_LENGTH = -1;
/** UTF-8 takes at most three bytes for each UTF-16 unit. */
export const MOST_BYTES_PER_UNIT = 3;
/** `jsonb_recv` takes a version byte and then the text. */
const JSONB_VERSION = 1;

/** Texts from this length on are copied and checked by Node.js: what a call of it costs is more than a loop over fewer. */
const LONG_TEXT_BYTES = 512;

const HIGH_BITS = 0x80808080 | 0;
const LOW_BITS = 0x01010101;

const TWO_TO_32 = 0x1_0000_0000;

/** Bytes that fields are copied from. */
export interface FieldBytes {
  readonly bytes: Buffer;
  /** The same memory. */
  readonly view: DataView;
}

/**
 * Rows in PostgreSQL's binary COPY format (documentation of COPY, section "Binary Format"), one after the other in one
 * piece of memory: no field has a Buffer of its own, which would take most of the time of encoding.
 */
export class CopyBuffer {
  readonly #memory: Memory;
  #bytes: Buffer;
  #view: DataView;
  #end = 0;

  /**
   * @param size bytes to begin with; it grows when that is not enough
   * @param memory where they come from. @default new memory
   */
  constructor(size: number, memory = NEW_MEMORY) {
    this.#memory = memory;
    this.#bytes = memory.take(size);
    this.#view = viewOf(this.#bytes);
  }

  get end(): number {
    return this.#end;
  }

  /** The bytes from `start` up to `end`; the memory is shared. */
  slice(start: number, end: number): Buffer {
    return this.#bytes.subarray(start, end);
  }

  /** Forgets what was written since this was the {@link end}. */
  takeBack(end: number): void {
    this.#end = end;
  }

  /** Begins a row of so many fields. */
  row(fields: number): void {
    this.#reserve(2);
    this.#end = this.#bytes.writeInt16BE(fields, this.#end);
  }

  /** Bytes as they are: rows or parts of rows that were encoded before. A loop, since they are few. */
  raw(bytes: Buffer): void {
    const { length } = bytes;
    this.#reserve(length);
    for (let nth = 0; nth < length; nth += 1) {
      this.#bytes[this.#end + nth] = bytes[nth] ?? 0;
    }
    this.#end += length;
  }

  /** The first bytes of the memory once more, be it in their own place: what was written there and taken back. */
  repeat(length: number): void {
    this.#reserve(length);
    const view = this.#view;
    const start = this.#end;
    let nth = 0;
    for (const whole = length & ~3; nth < whole; nth += 4) {
      view.setInt32(start + nth, view.getInt32(nth));
    }
    for (; nth < length; nth += 1) {
      view.setUint8(start + nth, view.getUint8(nth));
    }
    this.#end = start + length;
  }

  int4(value: number): void {
    this.#reserve(FIELD_LENGTH_BYTES + 4);
    this.#int32(4);
    this.#int32(value);
  }

  int8(value: bigint | null): void {
    if (value === null) {
      this.null();
      return;
    }
    this.#reserve(FIELD_LENGTH_BYTES + 8);
    this.#int32(8);
    this.#view.setBigInt64(this.#end, value);
    this.#end += 8;
  }

  /** The same from a number that is a safe integer. */
  int8OfNumber(value: number): void {
    this.#reserve(FIELD_LENGTH_BYTES + 8);
    this.#int32(8);
    const high = Math.floor(value / TWO_TO_32);
    this.#int32(high);
    this.#view.setUint32(this.#end, value - high * TWO_TO_32);
    this.#end += 4;
  }

  /** A field of type text or bytea. */
  bytes(value: Buffer | null): void {
    if (value === null) {
      this.null();
      return;
    }
    this.#reserve(FIELD_LENGTH_BYTES + value.length);
    this.#int32(value.length);
    this.#end += value.copy(this.#bytes, this.#end);
  }

  text(value: string | null): void {
    this.bytes(value === null ? null : Buffer.from(value, 'utf8'));
  }

  /**
   * A field of type text from bytes in place.
   *
   * @returns whether PostgreSQL's text can hold them: UTF-8 without NUL
   */
  textOf(from: FieldBytes, at: number, length: number): boolean {
    this.#reserve(FIELD_LENGTH_BYTES + length);
    this.#int32(length);
    return this.#text(from, at, length);
  }

  /** A field of type jsonb from JSON text in place, which goes to PostgreSQL byte for byte. @returns as {@link textOf} */
  jsonbTextOf(from: FieldBytes, at: number, length: number): boolean {
    this.#reserve(FIELD_LENGTH_BYTES + 1 + length);
    this.#int32(1 + length);
    this.#bytes[this.#end] = JSONB_VERSION;
    this.#end += 1;
    return this.#text(from, at, length);
  }

  /** A field of type jsonb from JSON text. */
  jsonb(json: string): void {
    const start = this.beginJsonb();
    this.write(json);
    this.endJsonb(start);
  }

  /** Begins a field of type jsonb, whose text goes on with {@link write} and others. @returns what {@link endJsonb} takes */
  beginJsonb(): number {
    this.#reserve(FIELD_LENGTH_BYTES + 1);
    const start = this.#end;
    this.#end += FIELD_LENGTH_BYTES;
    this.#bytes[this.#end] = JSONB_VERSION;
    this.#end += 1;
    return start;
  }

  endJsonb(start: number): void {
    this.#view.setInt32(start, this.#end - start - FIELD_LENGTH_BYTES);
  }

  /** Appends text to the field under way. */
  write(text: string): void {
    this.#reserve(text.length * MOST_BYTES_PER_UNIT);
    this.#end += this.#bytes.write(text, this.#end, 'utf8');
  }

  /** Appends a JSON string of ASCII bytes that need no escape. @returns whether they are that; otherwise nothing is appended */
  writeJsonString(from: FieldBytes, at: number, length: number): boolean {
    this.#reserve(length + 2);
    const { bytes } = from;
    let end = this.#end;
    this.#bytes[end++] = QUOTE;
    for (let nth = 0; nth < length; nth += 1) {
      const byte = bytes[at + nth] ?? 0;
      if (byte < SPACE || byte >= 0x80 || byte === QUOTE || byte === BACKSLASH) {
        return false;
      }
      this.#bytes[end++] = byte;
    }
    this.#bytes[end++] = QUOTE;
    this.#end = end;
    return true;
  }

  null(): void {
    this.#reserve(FIELD_LENGTH_BYTES);
    this.#int32(NULL_FIELD_LENGTH);
  }

  #int32(value: number): void {
    this.#view.setInt32(this.#end, value);
    this.#end += 4;
  }

  /** Copies text for which there is room, and looks at it at once: 16 bytes a step, and Node.js for what is long. */
  #text(from: FieldBytes, at: number, length: number): boolean {
    const start = this.#end;
    this.#end += length;
    if (length >= LONG_TEXT_BYTES) {
      from.bytes.copy(this.#bytes, start, at, at + length);
      const text = this.#bytes.subarray(start, start + length);
      return isUtf8(text) && !text.includes(0);
    }
    const source = from.view;
    const target = this.#view;
    let high = 0;
    let nul = 0;
    let nth = 0;
    for (const whole = length & ~15; nth < whole; nth += 16) {
      const [a, b] = [source.getInt32(at + nth), source.getInt32(at + nth + 4)];
      const [c, d] = [source.getInt32(at + nth + 8), source.getInt32(at + nth + 12)];
      target.setInt32(start + nth, a);
      target.setInt32(start + nth + 4, b);
      target.setInt32(start + nth + 8, c);
      target.setInt32(start + nth + 12, d);
      high |= a | b | c | d;
      nul |= nulBits(a) | nulBits(b) | nulBits(c) | nulBits(d);
    }
    for (; nth < length; nth += 1) {
      const byte = source.getUint8(at + nth);
      target.setUint8(start + nth, byte);
      high |= byte;
      nul |= byte === 0 ? HIGH_BITS : 0;
    }
    if ((nul & HIGH_BITS) !== 0) {
      return false;
    }
    return (high & HIGH_BITS) === 0 || isUtf8(this.#bytes.subarray(start, start + length));
  }

  #reserve(bytes: number): void {
    if (this.#end + bytes <= this.#bytes.length) {
      return;
    }
    const larger = this.#memory.take(Math.max(this.#bytes.length * 2, this.#end + bytes));
    this.#bytes.copy(larger, 0, 0, this.#end);
    this.#bytes = larger;
    this.#view = viewOf(larger);
  }
}

/** Bit 7 of a byte is set where one of the four is 0, and nowhere where none is (Warren, Hacker's Delight, 6-1). */
const nulBits = (four: number): number => (four - LOW_BITS) & ~four;

const viewOf = (bytes: Buffer): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
