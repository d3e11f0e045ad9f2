import { isUtf8 } from 'node:buffer';
import type { DeadLetterReason } from '../../../contract/dead-letter-reasons.ts';
import { FIRST_BEYOND_ASCII, LOWER_CASE, MINUS, NINE, ZERO } from '../../records/ascii.ts';
import { NO_TIMESTAMP } from '../../records/record-batch.ts';
import type { JsonSlice } from '../json/json-slice.ts';
import { type TimeKind, timeParts } from '../json/time-text.ts';
import type { ValueUnit } from '../mapping/table-mapping.ts';
import { type ColumnText, NoText, textOfBytes, textOfJson, textOfNumber } from './column-text.ts';
import type { CopyText } from './copy-text.ts';
import type { RowColumn, Way } from './row-column.ts';

/** A refusal is no field: the row's record is a dead letter, and its row has to be taken back. */
export type FieldRefusal = DeadLetterReason | null;

/**
 * Writes the fields of rows, in the order of their columns. What has no text for its column is refused before
 * PostgreSQL sees it: no field is written, and the answer says why. NULL in a column that takes none is
 * `missing_value`.
 */
export class RowText {
  readonly #rows: CopyText;
  readonly #takesDefaults: boolean;

  /** @param takesDefaults whether the COPY says `DEFAULT '\D'`, as PostgreSQL 16 and later can */
  constructor(rows: CopyText, takesDefaults: boolean) {
    this.#rows = rows;
    this.#takesDefaults = takesDefaults;
  }

  /** A column that the row says nothing of. */
  absent(): void {
    this.#rows.null();
  }

  /** A JSON value; `undefined` where the record has none: the column's default then, or NULL. */
  json(column: RowColumn, value: JsonSlice | undefined): FieldRefusal {
    if (value === undefined) {
      return this.missing(column);
    }
    return this.#asSent(column, column.ways[value.kind], value)
      ? null
      : this.#field(column, textOfJson(column.type, column.unit, value));
  }

  /** Writes the bytes of a value. @returns whether they are its text */
  #asSent(column: RowColumn, way: Way, { bytes, start, end, hasEscapes }: JsonSlice): boolean {
    switch (way) {
      case 'plain':
        this.#rows.plain(bytes, start, end);
        return true;
      case 'asSent':
        this.#rows.bytes(bytes, start, end);
        return true;
      case 'content':
        if (hasEscapes) {
          return this.#rows.unescaped(bytes, start + 1, end - 1);
        }
        this.#rows.plain(bytes, start + 1, end - 1);
        return true;
      case 'dated':
      case 'datedByDebezium':
      case 'numbered':
        if (hasEscapes || mayBeOfDebezium(way, bytes, start, end)) {
          return false;
        }
        this.#rows.plain(bytes, start + 1, end - 1);
        return true;
      case 'digits':
        if (!isPlainNumber(bytes, start, end)) {
          return false;
        }
        this.#rows.plain(bytes, start, end);
        return true;
      case 'text':
        return this.#sentText(bytes, start, end, hasEscapes);
      case 'epoch':
        return (
          column.time !== null &&
          column.unit !== undefined &&
          this.#pointInTime(column.time, column.unit, wholeNumber(bytes, start, end))
        );
      case 'converted':
        return false;
    }
  }

  /** @param count of a unit since 1970. @returns whether it was written: not one that a number does not hold */
  #pointInTime(time: TimeKind, unit: ValueUnit, count: number): boolean {
    const parts = timeParts(count, unit);
    if (parts !== null) {
      this.#rows.time(time, parts);
    }
    return parts !== null;
  }

  #sentText(bytes: Buffer, start: number, end: number, hasEscapes: boolean): boolean {
    if (!hasEscapes) {
      this.#rows.plain(bytes, start, end);
      return true;
    }
    const hasNul = bytes.subarray(start, end).includes(0);
    if (!hasNul) {
      this.#rows.bytes(bytes, start, end);
    }
    return !hasNul;
  }

  /**
   * A record key, a header's value or a topic: text in UTF-8 without NUL, or any bytes for bytea without a unit. In
   * json it is a JSON string.
   *
   * @param start of the bytes
   * @param length negative: they are NULL
   */
  bytes(column: RowColumn, source: Buffer, start: number, length: number): FieldRefusal {
    if (length < 0) {
      return this.#field(column, null);
    }
    const end = start + length;
    if (column.takesText && isTextBetween(source, start, end)) {
      this.#rows.bytes(source, start, end);
      return null;
    }
    const refusal = this.#field(column, textOfBytes(column.type, column.unit, source.subarray(start, end)));
    const isNotText = refusal === 'invalid_utf8' || refusal === 'nul_character';
    if (!isNotText) {
      return refusal;
    }
    return column.source.kind === 'key' ? 'key_not_text' : 'value_does_not_fit';
  }

  /** A partition or an offset. */
  number(column: RowColumn, value: number | bigint): FieldRefusal {
    if (!column.takesDigits) {
      return this.#field(column, textOfNumber(column.type, column.unit, String(value)));
    }
    this.#rows.text(String(value));
    return null;
  }

  /**
   * A record's timestamp: a point in time for date, time and timestamp, else milliseconds since 1970; NULL where Kafka
   * has none.
   */
  timestamp(column: RowColumn, milliseconds: number | bigint): FieldRefusal {
    const { time } = column;
    if (milliseconds === NO_TIMESTAMP || milliseconds === Number(NO_TIMESTAMP)) {
      return this.#field(column, null);
    }
    if (time === null) {
      return this.number(column, milliseconds);
    }
    if (typeof milliseconds === 'number' && this.#pointInTime(time, 'epoch-millis', milliseconds)) {
      return null;
    }
    return this.#field(column, textOfNumber(column.type, 'epoch-millis', String(milliseconds)));
  }

  /** What the record does not have: the column's default, or NULL. */
  missing(column: RowColumn): FieldRefusal {
    if (!(column.hasDefault && this.#takesDefaults)) {
      return this.#field(column, null);
    }
    this.#rows.default();
    return null;
  }

  #field({ isNotNull }: Pick<RowColumn, 'isNotNull'>, text: ColumnText): FieldRefusal {
    if (text instanceof NoText) {
      return text.reason;
    }
    if (text !== null) {
      this.#rows.text(text);
      return null;
    }
    if (isNotNull) {
      return 'missing_value';
    }
    this.#rows.null();
    return null;
  }
}

/** UTF-8 without NUL. */
function isTextBetween(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte === 0) {
      return false;
    }
    if (byte >= FIRST_BEYOND_ASCII) {
      const rest = bytes.subarray(at, end);
      return isUtf8(rest) && !rest.includes(0);
    }
  }
  return true;
}

const E = 0x65;
const W = 0x77;
const Y = 0x79;

/** `now` and `tomorrow` have a w, `today` and `yesterday` a y; ISO 8601 has neither. */
function mayBeOfTheClock(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) {
    const lower = (bytes[at] ?? 0) | LOWER_CASE;
    if (lower === W || lower === Y) {
      return true;
    }
  }
  return false;
}

/** A letter begins no number, a sign no year of four digits, and 00 the year 0 and others that are rare. */
function mayBeOfDebezium(
  way: 'dated' | 'datedByDebezium' | 'numbered',
  bytes: Buffer,
  start: number,
  end: number,
): boolean {
  const first = bytes[start + 1] ?? 0;
  if (way === 'numbered') {
    return first > NINE;
  }
  if (way === 'dated') {
    return mayBeOfTheClock(bytes, start, end);
  }
  return first < ZERO || (first === ZERO && bytes[start + 2] === ZERO) || mayBeOfTheClock(bytes, start, end);
}

/** Digits of the largest integer that a number holds exactly. */
const MOST_DIGITS = 16;

/** An integer by its digits, exact as far as a number is; `NaN` for more digits, and for all else that JSON has. */
function wholeNumber(bytes: Buffer, start: number, end: number): number {
  const isNegative = bytes[start] === MINUS;
  const first = isNegative ? start + 1 : start;
  let value = end - first > MOST_DIGITS ? Number.NaN : 0;
  for (let at = first; at < end; at += 1) {
    const digit = (bytes[at] ?? 0) - ZERO;
    value = digit >= 0 && digit <= 9 ? value * 10 + digit : Number.NaN;
  }
  return isNegative ? -value : value;
}

/** Whether a number has neither an exponent nor the sign of a zero. */
function isPlainNumber(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) {
    if (((bytes[at] ?? 0) | LOWER_CASE) === E) {
      return false;
    }
  }
  return bytes[start] !== MINUS || bytes[start + 1] !== ZERO;
}
