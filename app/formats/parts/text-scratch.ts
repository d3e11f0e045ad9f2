import { BACKSLASH, MINUS, POINT, QUOTE, SPACE, ZERO } from '../../records/ascii.ts';

/** By a byte that JSON escapes: what JSON.stringify writes. */
const ESCAPES: readonly (Buffer | undefined)[] = Array.from({ length: 256 }, (_, byte) =>
  byte < SPACE || byte === QUOTE || byte === BACKSLASH
    ? Buffer.from(JSON.stringify(String.fromCharCode(byte)).slice(1, -1), 'latin1')
    : undefined,
);

/** Bytes to begin with, and the most that are kept for the next record. */
const FIRST_BYTES = 4_096;
const MOST_KEPT_BYTES = 1_048_576;

/** So many bytes are copied one by one: a call of copy() costs more. */
const SHORT_BYTES = 64;

/** A number below this has digits that 32-bit arithmetic finds. */
const BILLION = 1_000_000_000;
const BILLION_DIGITS = 9;
/** Bytes of the longest number that {@link TextScratch.integer} writes. */
const MOST_INTEGER_BYTES = 17;

/** Memory for the text of the values of one record, one after the other. A value is in one piece of it. */
export class TextScratch {
  bytes = Buffer.allocUnsafeSlow(FIRST_BYTES);
  /** Where the value begins that is being written, and where it ends so far. */
  start = 0;
  end = 0;

  /** Bytes of the value so far. */
  get length(): number {
    return this.end - this.start;
  }

  /** Before the first value of a record: those of the one before are forgotten. */
  clear(): void {
    if (this.bytes.length > MOST_KEPT_BYTES) {
      this.bytes = Buffer.allocUnsafeSlow(FIRST_BYTES);
    }
    this.start = 0;
    this.end = 0;
  }

  /** Before a value. */
  begin(): void {
    this.start = this.end;
  }

  /** Makes room for more of the value. Values before it keep the memory that they are in. */
  reserve(bytes: number): void {
    const written = this.length;
    if (this.end + bytes > this.bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(this.bytes.length * 2, written + bytes));
      this.bytes.copy(larger, 0, this.start, this.end);
      this.bytes = larger;
      this.start = 0;
      this.end = written;
    }
  }

  byte(byte: number): void {
    this.reserve(1);
    this.bytes[this.end] = byte;
    this.end += 1;
  }

  /** Characters of ASCII. */
  ascii(text: string): void {
    const { length } = text;
    this.reserve(length);
    const { bytes, end } = this;
    for (let at = 0; at < length; at += 1) {
      bytes[end + at] = text.charCodeAt(at);
    }
    this.end = end + length;
  }

  /** The bytes from `start` up to `end`. @default all */
  copy(source: Buffer, start = 0, end = source.length): void {
    this.reserve(end - start);
    const { bytes, end: to } = this;
    if (end - start > SHORT_BYTES) {
      source.copy(bytes, to, start, end);
    } else {
      for (let at = start; at < end; at += 1) {
        bytes[to + at - start] = source[at] ?? 0;
      }
    }
    this.end = to + end - start;
  }

  /** The content of a string of JSON, with escapes where it needs them. */
  escaped(source: Buffer, start: number, end: number): void {
    let plainFrom = start;
    for (let at = start; at < end; at += 1) {
      const escaped = ESCAPES[source[at] ?? 0];
      if (escaped !== undefined) {
        this.copy(source, plainFrom, at);
        this.copy(escaped);
        plainFrom = at + 1;
      }
    }
    this.copy(source, plainFrom, end);
  }

  base64(source: Buffer, start: number, end: number): void {
    this.reserve(Math.ceil((end - start) / 3) * 4);
    this.end += this.bytes.write(source.toString('base64', start, end), this.end, 'latin1');
  }

  /** An integer that a number holds exactly. */
  integer(value: number): void {
    this.reserve(MOST_INTEGER_BYTES);
    if (value < 0) {
      this.bytes[this.end] = MINUS;
      this.end += 1;
    }
    this.#digits(Math.abs(value));
  }

  /** An integer of at most so many digits, with zeros before it. */
  padded(value: number, digits: number): void {
    this.reserve(digits);
    this.end += digits;
    this.#write(value, digits);
  }

  /** An integer of at most 15 digits, divided by ten `scale` times. */
  decimal(value: number, scale: number): void {
    const power = 10 ** scale;
    const size = Math.abs(value);
    // Exact: both are below 2 ** 53, and a quotient that is no integer is further from one than it is rounded.
    const whole = Math.floor(size / power);
    this.reserve(MOST_INTEGER_BYTES + 1 + scale);
    if (value < 0) {
      this.bytes[this.end] = MINUS;
      this.end += 1;
    }
    this.#digits(whole);
    if (scale > 0) {
      this.bytes[this.end] = POINT;
      this.end += scale + 1;
      this.#write(size - whole * power, scale);
    }
  }

  #digits(value: number): void {
    if (value < BILLION) {
      let count = 1;
      for (let power = 10; power <= value; power *= 10) {
        count += 1;
      }
      this.end += count;
      this.#write(value, count);
      return;
    }
    const high = Math.floor(value / BILLION);
    this.#digits(high);
    this.end += BILLION_DIGITS;
    this.#write(value - high * BILLION, BILLION_DIGITS);
  }

  /** Writes so many digits before the end. */
  #write(value: number, count: number): void {
    const { bytes, end } = this;
    let left = value;
    for (let at = end - 1; at >= end - count; at -= 1) {
      const rest = Math.floor(left / 10);
      bytes[at] = ZERO + (left - rest * 10);
      left = rest;
    }
  }
}
