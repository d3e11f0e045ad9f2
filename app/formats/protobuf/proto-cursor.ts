import { VARLONG_BYTES } from '../../records/record-reader.ts';
import { DecodeFault, MOST_NESTED_VALUES, TOO_DEEP, TOO_SHORT } from '../parts/decode-fault.ts';
import { WIRE } from './proto-type.ts';

const NO_VARINT = new DecodeFault('a number has more than ten bytes');
const NO_TAG = new DecodeFault('a field has a number or a wire type that there is not');
const NO_GROUP = new DecodeFault('a group ends that has not begun, or another one');
const PAST_THE_END = new DecodeFault('a length is more than bytes follow');

/** Low bits of a high word, beyond which a number is not exact. */
const EXACT_HIGH = 0x20_0000;
const WORD = 0x1_0000_0000;
const WORD_BITS = 32;

/**
 * A place in the bytes of a message (Protocol Buffers, "Encoding"). Each function reads what is there and moves behind
 * it, or throws a {@link DecodeFault}. Numbers wider than their type lose their high bits, as in other implementations.
 */
export class ProtoCursor {
  bytes: Buffer = Buffer.alloc(0);
  at = 0;
  /** Behind the message that is read. */
  end = 0;
  #depth = 0;
  /** Of the field that was read last. */
  number = 0;
  wire = 0;
  /** Content of the value that was skipped last: of a length-delimited one or of a group what is within. */
  from = 0;
  to = 0;
  /** Of the number that was read last: the words of its 64 bits. */
  low = 0;
  high = 0;
  /** Behind what is within groups, by where that begins: each group within others is searched once. */
  readonly #groupEnds = new Map<number, number>();

  begin(bytes: Buffer, start: number, end: number): void {
    this.bytes = bytes;
    this.at = start;
    this.end = end;
    this.#depth = 0;
    if (this.#groupEnds.size > 0) {
      this.#groupEnds.clear();
    }
  }

  /** Moves to what is between two places. */
  within(start: number, end: number): void {
    this.at = start;
    this.end = end;
  }

  /** Before what is within a message, and behind it. */
  enter(): void {
    this.#depth += 1;
    if (this.#depth > MOST_NESTED_VALUES) {
      throw TOO_DEEP;
    }
  }

  leave(): void {
    this.#depth -= 1;
  }

  /** Reads number and wire type of the next field. */
  tag(): void {
    const first = this.bytes[this.at] ?? 0;
    if (first < 128 && first > 7) {
      this.at += 1;
      this.number = first >>> 3;
      this.wire = first & 7;
      return;
    }
    this.varint();
    this.number = this.low >>> 3;
    this.wire = this.low & 7;
    if (this.high !== 0 || this.number === 0) {
      throw NO_TAG;
    }
  }

  /** Reads a number in base 128 into {@link low} and {@link high}. */
  varint(): void {
    const { bytes, at } = this;
    const first = bytes[at] ?? 0;
    if (first < 128 && at < this.end) {
      this.at += 1;
      this.low = first;
      this.high = 0;
      return;
    }
    this.#long(at);
  }

  #long(start: number): void {
    const { bytes, end } = this;
    let [low, high, at, byte] = [0, 0, start, 128];
    for (let shift = 0; byte >= 128; shift += 7) {
      if (at >= end || at - start >= VARLONG_BYTES) {
        throw at >= end ? TOO_SHORT : NO_VARINT;
      }
      byte = bytes[at] ?? 0;
      at += 1;
      const bits = byte & 127;
      if (shift < WORD_BITS) {
        low |= bits << shift;
      }
      // Some bits of the fifth byte belong to the low word. Of the tenth one bit has room.
      if (shift > WORD_BITS - 7) {
        high |= shift < WORD_BITS ? bits >>> (WORD_BITS - shift) : bits << (shift - WORD_BITS);
      }
    }
    this.at = at;
    this.low = low >>> 0;
    this.high = high >>> 0;
  }

  /** Reads eight bytes into {@link low} and {@link high}. */
  fixed64(): void {
    const at = this.pass(8);
    this.low = this.bytes.readUInt32LE(at);
    this.high = this.bytes.readUInt32LE(at + 4);
  }

  /** The 64 bits as a number with a sign; NaN where it is beyond what a number holds exactly: {@link exact}. */
  get signed(): number {
    const high = this.high | 0;
    return high < EXACT_HIGH && high >= -EXACT_HIGH ? high * WORD + this.low : Number.NaN;
  }

  /** The same without a sign. */
  get unsigned(): number {
    return this.high < EXACT_HIGH ? this.high * WORD + this.low : Number.NaN;
  }

  /** The 64 bits without a sign. */
  get exact(): bigint {
    return (BigInt(this.high) << 32n) | BigInt(this.low);
  }

  /** Moves behind so many bytes. @returns where they begin */
  pass(length: number): number {
    const start = this.at;
    if (length > this.end - start) {
      throw TOO_SHORT;
    }
    this.at += length;
    return start;
  }

  /** Moves behind a length and what is that long, its {@link from} and {@link to}. */
  span(): void {
    this.varint();
    const length = this.unsigned;
    if (!(length <= this.end - this.at)) {
      throw PAST_THE_END;
    }
    this.from = this.at;
    this.to = this.at + length;
    this.at = this.to;
  }

  /** Moves behind the value of the field whose {@link tag} was read. */
  skip(): void {
    const start = this.at;
    switch (this.wire) {
      case WIRE.varint:
        this.varint();
        break;
      case WIRE.eight:
        this.pass(8);
        break;
      case WIRE.length:
        this.span();
        return;
      case WIRE.group:
        this.#group();
        return;
      case WIRE.four:
        this.pass(4);
        break;
      default:
        throw this.wire === WIRE.groupEnd ? NO_GROUP : NO_TAG;
    }
    this.from = start;
    this.to = this.at;
  }

  #group(): void {
    const { number, at: from } = this;
    const known = this.#groupEnds.get(from);
    if (known === undefined) {
      this.#findGroupEnd(number, from);
    } else {
      this.at = known;
      this.varint();
    }
    this.from = from;
    this.to = this.#groupEnds.get(from) ?? from;
  }

  #findGroupEnd(number: number, from: number): void {
    this.enter();
    let to = this.at;
    for (this.#tagWithin(); this.wire !== WIRE.groupEnd; this.#tagWithin()) {
      this.skip();
      to = this.at;
    }
    if (this.number !== number) {
      throw NO_GROUP;
    }
    this.#groupEnds.set(from, to);
    this.leave();
  }

  #tagWithin(): void {
    if (this.at >= this.end) {
      throw TOO_SHORT;
    }
    this.tag();
  }
}
