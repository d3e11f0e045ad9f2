/** The longest varint of 32 bits and varlong of 64 bits (Java's ByteUtils refuses longer ones as well). */
export const VARINT_BYTES = 5;
export const VARLONG_BYTES = 10;
/** Bytes of a varlong that a number holds exactly, with its sign in the lowest bit. */
const EXACT_BYTES = 7;

const NULL_LENGTH = -1;

/**
 * Reads the fields of record format v2 and nothing beyond the end that it was given. Each length is compared with the
 * bytes that are left before anything is made of it. No method makes an object, so one reader serves a whole batch.
 *
 * @throws Error by all of its methods, when the bytes are not what the format allows
 */
export class RecordReader {
  readonly bytes: Buffer;
  #end: number;
  #at: number;

  constructor(bytes: Buffer, at = 0, end = bytes.length) {
    this.bytes = bytes;
    this.#at = at;
    this.#end = end;
  }

  /** Where the next field begins. */
  get at(): number {
    return this.#at;
  }

  get left(): number {
    return this.#end - this.#at;
  }

  /** Goes on with the bytes from `at` up to but without `end`. */
  moveTo(at: number, end: number): void {
    this.#at = at;
    this.#end = end;
  }

  byte(): number {
    if (this.#at >= this.#end) {
      throw new Error('a record ends within a field');
    }
    const byte = this.bytes[this.#at] ?? 0;
    this.#at += 1;
    return byte;
  }

  /** A zigzag varint of 32 bits. */
  varint(): number {
    let raw = this.byte();
    if (raw >= 0x80) {
      raw = this.#restOfVarint(raw & 0x7f);
    }
    return (raw >>> 1) ^ -(raw & 1);
  }

  #restOfVarint(lowest: number): number {
    let raw = lowest;
    for (let nth = 1; nth < VARINT_BYTES; nth += 1) {
      const byte = this.byte();
      raw |= (byte & 0x7f) << (7 * nth);
      if (byte < 0x80) {
        return raw;
      }
    }
    throw new Error(`a varint has more than ${VARINT_BYTES} bytes`);
  }

  /**
   * A zigzag varlong of 64 bits; `NaN` where a number may not hold it exactly, and {@link exactVarlong} has to read it.
   */
  varlong(): number {
    const start = this.#at;
    this.skipVarlong();
    if (this.#at - start > EXACT_BYTES) {
      return Number.NaN;
    }
    let raw = 0;
    for (let at = this.#at - 1; at >= start; at -= 1) {
      raw = raw * 0x80 + ((this.bytes[at] ?? 0) & 0x7f);
    }
    return raw % 2 === 0 ? raw / 2 : -(raw + 1) / 2;
  }

  /** A zigzag varlong of 64 bits. */
  exactVarlong(): bigint {
    const start = this.#at;
    this.skipVarlong();
    let raw = 0n;
    for (let at = this.#at - 1; at >= start; at -= 1) {
      raw = (raw << 7n) | BigInt((this.bytes[at] ?? 0) & 0x7f);
    }
    raw = BigInt.asUintN(64, raw);
    return BigInt.asIntN(64, (raw >> 1n) ^ -(raw & 1n));
  }

  skipVarlong(): void {
    for (let nth = 0; nth < VARLONG_BYTES; nth += 1) {
      if (this.byte() < 0x80) {
        return;
      }
    }
    throw new Error(`a varlong has more than ${VARLONG_BYTES} bytes`);
  }

  /** Bytes behind their length, which share the memory; null where there are none. */
  field(): Buffer | null {
    const length = this.skipField();
    return length < 0 ? null : this.bytes.subarray(this.#at - length, this.#at);
  }

  /** Passes over bytes behind their length. @returns the length; -1 for null, which any negative one is, as for Java */
  skipField(): number {
    const length = this.varint();
    if (length < 0) {
      return NULL_LENGTH;
    }
    if (length > this.#end - this.#at) {
      throw new Error(`a field has the length ${length}, and ${this.left} bytes are left`);
    }
    this.#at += length;
    return length;
  }

  /** How many things follow, each of so many bytes at least. */
  count(leastBytes: number): number {
    const count = this.varint();
    requireCount(count, this.left, leastBytes);
    return count;
  }

  /**
   * Enters the record that follows, behind its length, and reads up to its end.
   *
   * @returns where the reader ended before
   */
  enterRecord(): number {
    const length = this.varint();
    if (length < 0) {
      throw new Error('a record has no length');
    }
    if (length > this.left) {
      throw new Error(`a field has the length ${length}, and ${this.left} bytes are left`);
    }
    const before = this.#end;
    this.#end = this.#at + length;
    return before;
  }

  /** Leaves a record, whose end is reached. @param before what {@link enterRecord} has returned */
  leaveRecord(before: number): void {
    this.requireEnd('a record');
    this.#end = before;
  }

  /** @throws Error when anything is left */
  requireEnd(of: string): void {
    if (this.left > 0) {
      throw new Error(`${this.left} bytes are left behind the last field of ${of}`);
    }
  }
}

/** @throws Error when so many things, each of so many bytes at least, cannot be in the bytes that are left */
export function requireCount(count: number, left: number, leastBytes: number): void {
  if (count < 0 || count * leastBytes > left) {
    throw new Error(`a count is ${count}, and ${left} bytes are left for it`);
  }
}
