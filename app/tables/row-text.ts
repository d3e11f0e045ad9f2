import type { DeadLetterReason } from '../../contract/dead-letter-reasons.ts';
import { type ColumnText, hasTimes, Refused, textOf, textOfBytes, textOfNumber } from './column-text.ts';
import type { CopyText } from './copy-text.ts';
import type { JsonSlice } from './json-slice.ts';
import type { ColumnType, MappedColumn } from './table-mapping.ts';

/** A refusal is no field: the row's record is a dead letter, and its row has to be taken back. */
type Refusal = DeadLetterReason | null;

/**
 * Writes the fields of rows, in the order of their columns. What has no text for its column is refused before PostgreSQL
 * sees it: no field is written, and the answer says why. NULL in a column that takes none is `missing_value`.
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
  json(column: MappedColumn, value: JsonSlice | undefined): Refusal {
    if (value === undefined) {
      return this.#missing(column);
    }
    const { type, unit } = column;
    const { bytes, start, end, kind } = value;
    if (unit === undefined && isReady(type, value)) {
      if (type.kind === 'json' || kind === 'object' || kind === 'list') {
        this.#rows.bytes(bytes, start, end);
      } else {
        const quote = kind === 'string' ? 1 : 0;
        this.#rows.plain(bytes, start + quote, end - quote);
      }
      return null;
    }
    return this.#field(column, textOf(type, unit, value));
  }

  /**
   * A record key, a header's value or a topic: text in UTF-8 without NUL, or any bytes for bytea without a unit. In
   * json it is a JSON string.
   *
   * @param bytes `null` is NULL; `undefined` where the record has no such header: the column's default, or NULL
   */
  bytes(column: MappedColumn, bytes: Buffer | null | undefined): Refusal {
    if (bytes === undefined) {
      return this.#missing(column);
    }
    const refusal = this.#field(column, bytes === null ? null : textOfBytes(column.type, column.unit, bytes));
    const isNotText = refusal === 'invalid_utf8' || refusal === 'nul_character';
    if (!isNotText) {
      return refusal;
    }
    return column.source.kind === 'key' ? 'key_not_text' : 'value_does_not_fit';
  }

  /** A partition or an offset. */
  number(column: MappedColumn, value: number | bigint): Refusal {
    return this.#field(column, textOfNumber(column.type, column.unit, String(value)));
  }

  /**
   * A record's timestamp: a point in time for date, time and timestamp, else milliseconds since 1970; NULL where Kafka
   * has none.
   */
  timestamp(column: MappedColumn, milliseconds: bigint): Refusal {
    const { kind } = column.type;
    const isTime = kind === 'date' || kind === 'time' || kind === 'timestamp';
    if (milliseconds === NO_TIMESTAMP) {
      return this.#field(column, null);
    }
    return this.#field(column, textOfNumber(column.type, isTime ? 'epoch-millis' : column.unit, String(milliseconds)));
  }

  #missing(column: MappedColumn): Refusal {
    if (!(column.hasDefault && this.#takesDefaults)) {
      return this.#field(column, null);
    }
    this.#rows.default();
    return null;
  }

  #field({ isNotNull }: MappedColumn, text: ColumnText): Refusal {
    if (text instanceof Refused) {
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

/** Kafka's word for "no timestamp". */
const NO_TIMESTAMP = -1n;

/**
 * Whether the bytes of a value are its text, those of a string between its quotes: nearly always, and a fraction of the
 * work of making text of them.
 */
function isReady(type: ColumnType, value: JsonSlice): boolean {
  const { bytes, start, end, kind, hasEscapes } = value;
  switch (type.kind) {
    case 'json':
      return kind !== 'null';
    case 'text':
      return kind !== 'null' && !hasEscapes;
    case 'array':
    case 'composite':
    case 'bytea':
      return false;
    case 'date':
    case 'time':
    case 'timestamp':
      return kind === 'string' && !hasEscapes && !mayBeOfTheClock(bytes, start, end);
    case 'numeric':
    case 'float':
      return kind === 'number' || (kind === 'string' && !hasEscapes);
    default:
      return isReadyWord(type, value);
  }
}

function isReadyWord(type: ColumnType, { bytes, start, end, kind, hasEscapes }: JsonSlice): boolean {
  switch (kind) {
    case 'string':
      return !hasEscapes && !hasTimes(type);
    case 'number':
      return isPlain(bytes, start, end);
    default:
      return kind === 'true' || kind === 'false';
  }
}

const MINUS = 0x2d;
const ZERO = 0x30;
/** What a letter has in lower case alone. */
const LOWER_CASE = 0x20;
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

/** Whether a number has neither an exponent nor the sign of a zero. */
function isPlain(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) {
    if (((bytes[at] ?? 0) | LOWER_CASE) === E) {
      return false;
    }
  }
  return bytes[start] !== MINUS || bytes[start + 1] !== ZERO;
}
