import { VARLONG_BYTES } from '../../records/record-reader.ts';
import { MOST_DECIMAL_BYTES, MOST_SCALE } from '../../tables/json/number-text.ts';
import {
  DecodeFault,
  MOST_NESTED_VALUES,
  mostJson,
  NO_DECIMAL,
  NO_NUMBER,
  TOO_DEEP,
  TOO_LARGE,
  TOO_SHORT,
} from '../parts/decode-fault.ts';
import { hasEscapesIn } from '../parts/string-marks.ts';
import type { AvroType } from './avro-type.ts';

const NO_INTEGER = new DecodeFault('an int or a long is out of its range');
const NO_LENGTH = new DecodeFault('a length or a number of items is negative, or more than bytes follow');
const NO_BOOLEAN = new DecodeFault('a boolean is neither 0 nor 1');
const NO_SUCH_INDEX = new DecodeFault('an enum or a union has no symbol or branch of an index');
const TOO_MANY_EMPTY = new DecodeFault('an array has too many items that take no bytes');
const TOO_MANY_NOTHINGS = new DecodeFault('it has too many nulls, or records, that take no bytes');

/** Items without bytes, such as null, in all of a value: their number alone would say how long reading takes. */
const MOST_EMPTY = 1_000;

/**
 * Values without bytes, wherever they are: a few types that have each other as fields twice are 2^40 of them. Some for
 * each byte, as each item of an array may have its own.
 */
const mostNothings = (bytes: number): number => 100_000 + 16 * bytes;

const INT_MOST = 2_147_483_647;

/**
 * A place in the bytes of a value in Avro's binary encoding (specification 1.12, "Binary encoding"). Each function
 * reads what is there and moves behind it, or throws a {@link DecodeFault}. No count or length of the bytes is
 * believed: depth, items without bytes, and the size as JSON have limits.
 */
export class AvroCursor {
  bytes: Buffer = Buffer.alloc(0);
  at = 0;
  #end = 0;
  #depth = 0;
  #empty = 0;
  /** Of {@link mostNothings}, what is left. */
  #nothings = 0;
  /** Of {@link mostJson}, what is left. */
  #room = 0;
  /** Of the string, bytes or decimal that was read last: where its bytes are; of a decimal, digits behind the point. */
  from = 0;
  to = 0;
  scale = 0;

  begin(bytes: Buffer, start: number, end: number): void {
    this.bytes = bytes;
    this.at = start;
    this.#end = end;
    this.#depth = 0;
    this.#empty = 0;
    this.#nothings = mostNothings(end - start);
    this.#room = mostJson(end - start);
  }

  /** Whether all bytes were read. */
  get isAtEnd(): boolean {
    return this.at === this.#end;
  }

  /** Before what is within a record, an array or a map, and behind it. @returns where it begins */
  enter(): number {
    this.#depth += 1;
    if (this.#depth > MOST_NESTED_VALUES) {
      throw TOO_DEEP;
    }
    return this.at;
  }

  /** @param start where it has begun */
  leave(start: number): void {
    this.#depth -= 1;
    if (this.at === start) {
      this.nothing();
    }
  }

  /** A value that takes no bytes. */
  nothing(): void {
    this.#nothings -= 1;
    if (this.#nothings < 0) {
      throw TOO_MANY_NOTHINGS;
    }
  }

  /** A number of zigzag coding in base 128; NaN where it is beyond what a number holds exactly: {@link exactAt}. */
  long(): number {
    const first = this.bytes[this.at] ?? 0;
    if (first < 128 && this.at < this.#end) {
      this.at += 1;
      return (first >>> 1) ^ -(first & 1);
    }
    return this.#longOfBytes();
  }

  #longOfBytes(): number {
    const { bytes, at: start } = this;
    let sum = 0;
    let unit = 1;
    let byte = 128;
    while (byte >= 128) {
      if (this.at >= this.#end || this.at - start >= VARLONG_BYTES) {
        throw this.at >= this.#end ? TOO_SHORT : NO_INTEGER;
      }
      byte = bytes[this.at] ?? 0;
      sum += (byte & 127) * unit;
      unit *= 128;
      this.at += 1;
    }
    if (this.at - start === VARLONG_BYTES && byte > 1) {
      throw NO_INTEGER;
    }
    return sum > Number.MAX_SAFE_INTEGER ? Number.NaN : sum % 2 === 0 ? sum / 2 : -(sum + 1) / 2;
  }

  /** The number that {@link long} has read there, whatever its size. */
  exactAt(start: number): bigint {
    let sum = 0n;
    for (let at = this.at - 1; at >= start; at -= 1) {
      sum = (sum << 7n) | BigInt((this.bytes[at] ?? 0) & 127);
    }
    return (sum >> 1n) ^ -(sum & 1n);
  }

  int(): number {
    const value = this.long();
    if (value >= -INT_MOST - 1 && value <= INT_MOST) {
      return value;
    }
    throw NO_INTEGER;
  }

  /** The symbol or branch of an index. */
  oneOf<Item>(list: readonly Item[]): Item {
    const item = list[this.long()];
    if (item === undefined) {
      throw NO_SUCH_INDEX;
    }
    return item;
  }

  boolean(): boolean {
    const at = this.skip(1);
    const byte = this.bytes[at] ?? 0;
    if (byte > 1) {
      throw NO_BOOLEAN;
    }
    return byte === 1;
  }

  /** Moves behind so many bytes. @returns where they begin */
  skip(length: number): number {
    const start = this.at;
    if (length > this.#end - start) {
      throw TOO_SHORT;
    }
    this.at += length;
    return start;
  }

  /** The bytes of a `bytes` or a `string`. */
  span(): void {
    const length = this.long();
    if (!(length >= 0 && length <= this.#end - this.at)) {
      throw NO_LENGTH;
    }
    this.from = this.at;
    this.to = this.at + length;
    this.at = this.to;
  }

  /** The bytes of a `bytes` or of a `fixed`. */
  spanOf({ kind, size }: AvroType): void {
    if (kind === 'bytes') {
      this.span();
    } else {
      this.from = this.skip(size);
      this.to = this.at;
    }
  }

  /** A string in UTF-8. @returns whether JSON has to escape a part of it */
  string(): boolean {
    this.span();
    return hasEscapesIn(this.bytes, this.from, this.to);
  }

  /** How many items follow in the next block of an array or a map; 0: none, it has ended. */
  block(): number {
    const count = this.long();
    if (count < 0) {
      // The bytes of the block: what they say may be wrong, and nothing depends on it.
      this.long();
    }
    if (Number.isNaN(count)) {
      throw NO_LENGTH;
    }
    return Math.abs(count);
  }

  /** Behind an item. @param before where it has begun */
  endItem(before: number): void {
    if (this.at === before) {
      this.#empty += 1;
      if (this.#empty > MOST_EMPTY) {
        throw TOO_MANY_EMPTY;
      }
    }
  }

  /** The bytes and the scale of a decimal. */
  decimal(type: AvroType): void {
    const { form, scale } = type;
    this.scale = scale;
    if (form === 'fixed') {
      this.spanOf(type);
    } else if (form === 'big') {
      this.#bigDecimal();
    } else {
      this.scale = form === 'variable' ? this.int() : scale;
      this.span();
    }
    const length = this.to - this.from;
    if (length === 0) {
      throw NO_DECIMAL;
    }
    if (length > MOST_DECIMAL_BYTES || Math.abs(this.scale) > MOST_SCALE) {
      throw NO_NUMBER;
    }
  }

  /** Bytes that hold the digits as `bytes` and then the scale as an `int`. */
  #bigDecimal(): void {
    this.span();
    const [behind, end] = [this.to, this.#end];
    this.#end = behind;
    this.at = this.from;
    this.span();
    this.scale = this.int();
    if (this.at !== behind) {
      throw NO_DECIMAL;
    }
    this.#end = end;
  }

  /** Takes bytes of JSON from what is left for the parts of a value. */
  takeJson(bytes: number): void {
    this.#room -= bytes;
    if (this.#room < 0) {
      throw TOO_LARGE;
    }
  }
}
