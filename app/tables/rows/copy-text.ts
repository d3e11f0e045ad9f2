import {
  BACKSLASH,
  CARRIAGE_RETURN,
  COLON,
  FIRST_BEYOND_ASCII,
  NEWLINE,
  PLUS,
  POINT,
  SPACE,
  TAB,
  ZERO,
} from '../../records/ascii.ts';
import { MOST_BYTES_PER_UNIT } from '../../store/copy/copy-buffer.ts';
import { type Memory, NEW_MEMORY } from '../../store/copy/row-memory.ts';
import type { TimeKind, TimeParts } from '../json/time-text.ts';

/** What is written behind the backslash, by the byte that needs one; 0 for all others. */
const ESCAPED = new Uint8Array(256);
ESCAPED[TAB] = 't'.charCodeAt(0);
ESCAPED[NEWLINE] = 'n'.charCodeAt(0);
ESCAPED[CARRIAGE_RETURN] = 'r'.charCodeAt(0);
ESCAPED[BACKSLASH] = BACKSLASH;

/** What an escape of JSON means, by the byte behind its backslash (RFC 8259, section 7); 0 for `u` and all others. */
const UNESCAPED = new Uint8Array(256);
for (const behind of '"\\/bfnrt') {
  UNESCAPED[behind.charCodeAt(0)] = String(JSON.parse(`"\\${behind}"`)).charCodeAt(0);
}

/** Texts of at most so many UTF-16 units are written unit by unit: a call of write() costs more. */
const SHORT_TEXT = 64;

/** Before a Julian day (documentation, "Date Input"). */
const JULIAN = 'J'.charCodeAt(0);
/** Of a day of at most 17 digits, a time with nine digits behind the second, UTC, and the delimiter. */
const MOST_TIME_BYTES = 48;

const NULL_FIELD = Buffer.from('\\N\t', 'latin1');
const DEFAULT_FIELD = Buffer.from('\\D\t', 'latin1');

/**
 * Rows in PostgreSQL's COPY text format (documentation of COPY, section "Text Format") with its delimiter, a tab, one
 * after the other in one piece of memory. The COPY has to say `ENCODING 'UTF8'`, and `DEFAULT '\D'` where
 * {@link default} is used.
 *
 * A record that is refused halfway takes back what it has written: {@link takeBack} with the {@link end} from before.
 */
export class CopyText {
  readonly #memory: Memory;
  #bytes: Buffer;
  #end = 0;

  /**
   * @param size bytes to begin with; it grows when that is not enough
   * @param memory where they come from. @default new memory
   */
  constructor(size: number, memory = NEW_MEMORY) {
    this.#memory = memory;
    this.#bytes = memory.take(size);
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

  null(): void {
    this.#raw(NULL_FIELD);
  }

  /** The column's default, in PostgreSQL 16 and later. */
  default(): void {
    this.#raw(DEFAULT_FIELD);
  }

  /**
   * A field from UTF-8 that needs no backslash, as what a JSON string without escapes holds: the bytes from `start` up
   * to `end`.
   */
  plain(source: Buffer, start: number, end: number): void {
    this.#reserve(end - start + 1);
    const target = this.#bytes;
    const ahead = this.#end - start;
    for (let at = start; at < end; at += 1) {
      target[at + ahead] = source[at] ?? 0;
    }
    target[end + ahead] = TAB;
    this.#end += end - start + 1;
  }

  /** A field from UTF-8 without NUL: the bytes from `start` up to `end`. */
  bytes(source: Buffer, start = 0, end = source.length): void {
    this.#reserve((end - start) * 2 + 1);
    const target = this.#bytes;
    let to = this.#end;
    // A loop, as most fields are short: a call of copy() for each costs three times as much.
    for (let at = start; at < end; at += 1) {
      const byte = source[at] ?? 0;
      const escaped = ESCAPED[byte] ?? 0;
      if (escaped === 0) {
        target[to] = byte;
        to += 1;
      } else {
        target[to] = BACKSLASH;
        target[to + 1] = escaped;
        to += 2;
      }
    }
    target[to] = TAB;
    this.#end = to + 1;
  }

  /**
   * A field from what a JSON string holds: the bytes between its quotes, from `start` up to `end`, with escapes.
   *
   * @returns whether it was written: not with an escape by four digits, which may be NUL or half a character
   */
  unescaped(source: Buffer, start: number, end: number): boolean {
    this.#reserve(end - start + 1);
    const target = this.#bytes;
    let to = this.#end;
    for (let at = start; at < end; at += 1) {
      let byte = source[at] ?? 0;
      if (byte === BACKSLASH) {
        at += 1;
        byte = UNESCAPED[source[at] ?? 0] ?? 0;
        if (byte === 0) {
          return false;
        }
        if (ESCAPED[byte] !== 0) {
          target[to] = BACKSLASH;
          to += 1;
          byte = ESCAPED[byte] ?? 0;
        }
      }
      target[to] = byte;
      to += 1;
    }
    target[to] = TAB;
    this.#end = to + 1;
    return true;
  }

  /** A field from a point in time, as {@link timeOfEpoch} has it as text. */
  time(kind: TimeKind, { day, second, fraction, digits }: TimeParts): void {
    this.#reserve(MOST_TIME_BYTES);
    if (kind !== 'time') {
      this.#byte(JULIAN);
      this.#digits(day, countOfDigits(day));
    }
    if (kind === 'timestamp') {
      this.#byte(SPACE);
    }
    if (kind !== 'date') {
      const minute = Math.floor(second / 60);
      const hour = Math.floor(minute / 60);
      this.#digits(hour, 2);
      this.#byte(COLON);
      this.#digits(minute - hour * 60, 2);
      this.#byte(COLON);
      this.#digits(second - minute * 60, 2);
      if (fraction > 0) {
        this.#byte(POINT);
        this.#digits(fraction, digits);
      }
      this.#byte(PLUS);
      this.#digits(0, 2);
    }
    this.#byte(TAB);
  }

  /** Where there is room. */
  #byte(byte: number): void {
    this.#bytes[this.#end] = byte;
    this.#end += 1;
  }

  /** So many last digits of an integer, where there is room. */
  #digits(value: number, count: number): void {
    const target = this.#bytes;
    const start = this.#end;
    let left = value;
    for (let at = start + count - 1; at >= start; at -= 1) {
      const rest = Math.floor(left / 10);
      target[at] = ZERO + left - rest * 10;
      left = rest;
    }
    this.#end = start + count;
  }

  /** A field from text without NUL. */
  text(value: string): void {
    this.#reserve(value.length * MOST_BYTES_PER_UNIT + 1);
    if (value.length > SHORT_TEXT || !this.#asItIs(value)) {
      this.#escaped(value);
    }
    this.#bytes[this.#end] = TAB;
    this.#end += 1;
  }

  /** Writes ASCII without escapes. @returns whether it was nothing else */
  #asItIs(value: string): boolean {
    const target = this.#bytes;
    const to = this.#end;
    for (let unit = 0; unit < value.length; unit += 1) {
      const code = value.charCodeAt(unit);
      if (code >= FIRST_BEYOND_ASCII || ESCAPED[code] !== 0) {
        return false;
      }
      target[to + unit] = code;
    }
    this.#end = to + value.length;
    return true;
  }

  #escaped(value: string): void {
    const escaped = value
      .replaceAll('\\', '\\\\')
      .replaceAll('\t', '\\t')
      .replaceAll('\n', '\\n')
      .replaceAll('\r', '\\r');
    this.#reserve(escaped.length * MOST_BYTES_PER_UNIT + 1);
    this.#end += this.#bytes.write(escaped, this.#end, 'utf8');
  }

  /** Ends a row of one field or more. */
  endRow(): void {
    this.#bytes[this.#end - 1] = NEWLINE;
  }

  /** A loop, as for {@link bytes}. */
  #raw(bytes: Buffer): void {
    this.#reserve(bytes.length);
    const target = this.#bytes;
    for (let at = 0; at < bytes.length; at += 1) {
      target[this.#end + at] = bytes[at] ?? 0;
    }
    this.#end += bytes.length;
  }

  #reserve(bytes: number): void {
    if (this.#end + bytes <= this.#bytes.length) {
      return;
    }
    const larger = this.#memory.take(Math.max(this.#bytes.length * 2, this.#end + bytes));
    this.#bytes.copy(larger, 0, 0, this.#end);
    this.#bytes = larger;
  }
}

function countOfDigits(value: number): number {
  let count = 1;
  for (let power = 10; power <= value; power *= 10) {
    count += 1;
  }
  return count;
}
