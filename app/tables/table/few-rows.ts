import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { BACKSLASH, CARRIAGE_RETURN, NEWLINE, TAB, ZERO } from '../../records/ascii.ts';
import { type BoundValues, COUNT_BYTES, LENGTH_BYTES, NULL_LENGTH } from '../../store/copy/row-statements.ts';
import { UPSERT } from './stage-columns.ts';

/**
 * More rows of a transaction go by way of a stage. Up to eight, the statements were measured to be cheaper. Each stage
 * that a connection makes writes to the catalog, and in a steady load of many tables few have more than sixteen rows.
 */
export const MOST_FEW_ROWS = 16;

/** Of more bytes the statements around them cost little, and they would be in memory three times. */
const MOST_BYTES = 8_192;

/** What a parameter is read without, and COPY with: a modifier, and the fields of an interval. */
const MODIFIED = /\(|^interval /;

/** Types whose modifier does the same to a value that was read without it: it rounds, or refuses what is too long. */
const MODIFIED_ALIKE = /^(?:numeric|character|character varying|bit|bit varying|timestamp|time)\(/;

/**
 * Whether a parameter of a type becomes what COPY makes of the same text. A parameter is read without the modifier of
 * its column, which PostgreSQL applies behind that. `interval year` reads `5` as another value than `interval` does.
 * What the modifiers of extensions mean is not known.
 *
 * @param type as format_type has it
 */
export const isReadAlike = (type: string): boolean => !MODIFIED.test(type) || MODIFIED_ALIKE.test(type);

/**
 * Name that a session keeps the statement by which takes a row of a table: another one once the table is altered, since
 * a statement that is kept has parameters of the types that the columns had.
 *
 * @param fingerprint of the table in the catalog, its columns and their types. Left out: the statement has no name
 */
export const nameOf = (sql: string, fingerprint: string | undefined): string =>
  fingerprint === undefined
    ? ''
    : `stream_consumer_${createHash('sha256').update(`${sql} ${fingerprint}`).digest('hex').slice(0, 32)}`;

/** What a byte behind a backslash means: itself, unless it is one of these. */
const MEANT = Uint8Array.from({ length: 256 }, (_, byte) => byte);
MEANT['t'.charCodeAt(0)] = TAB;
MEANT['n'.charCodeAt(0)] = NEWLINE;
MEANT['r'.charCodeAt(0)] = CARRIAGE_RETURN;

/** Behind a backslash: the field is NULL, or takes the default of its column. */
const IS_NULL = 'N'.charCodeAt(0);
const IS_DEFAULT = 'D'.charCodeAt(0);
const IS_UPSERT = UPSERT.charCodeAt(0);

/**
 * The values of the rows of a stage, in their order, out of COPY's text format as the encoder writes it.
 *
 * @param pieces of the rows, one behind the other
 * @param columns how many fields of a row are columns of the table; the stage's are behind them
 * @returns `null` where the stage takes them: more than {@link MOST_FEW_ROWS} or 8 KiB, or a row that deletes, is no
 * UTF-8, takes a default or is not in the order of its records
 */
export function valuesOfFewRows(
  pieces: readonly Buffer[],
  length: number,
  columns: number,
): readonly BoundValues[] | null {
  const bytes = pieces.reduce((sum, piece) => sum + piece.length, 0);
  if (length > MOST_FEW_ROWS || bytes > MOST_BYTES) {
    return null;
  }
  const rows = pieces.length === 1 && pieces[0] ? pieces[0] : Buffer.concat(pieces);
  return isUtf8(rows) ? new BoundRows(rows, length, columns).read() : null;
}

/** Rows of COPY's text format that become parameters. A tab or a line feed within a value is escaped there. */
class BoundRows {
  readonly #rows: Buffer;
  readonly #columns: number;
  readonly #values: Buffer;
  #at = 0;
  #end = 0;

  constructor(rows: Buffer, length: number, columns: number) {
    this.#rows = rows;
    this.#columns = columns;
    // No value is longer than its field.
    this.#values = Buffer.allocUnsafe(rows.length + length * (COUNT_BYTES + columns * LENGTH_BYTES));
  }

  read(): readonly BoundValues[] | null {
    const values: BoundValues[] = [];
    for (let last = 0; this.#at < this.#rows.length; ) {
      const start = this.#end;
      this.#end = this.#values.writeInt16BE(this.#columns, start);
      for (let column = 0; column < this.#columns; column += 1) {
        if (!this.#take()) {
          return null;
        }
      }
      const sequence = this.#number();
      if (this.#rows[this.#at] !== IS_UPSERT || sequence <= last) {
        return null;
      }
      last = sequence;
      this.#at = this.#rows.indexOf(NEWLINE, this.#at) + 1;
      values.push(this.#values.subarray(start, this.#end));
    }
    return values;
  }

  /** Takes a field as a parameter. @returns `false` where it takes a default */
  #take(): boolean {
    const [rows, values] = [this.#rows, this.#values];
    const start = this.#end + LENGTH_BYTES;
    let [at, to, isNull] = [this.#at, start, false];
    for (let byte = rows[at]; byte !== undefined && byte !== TAB && byte !== NEWLINE; byte = rows[at]) {
      if (byte === BACKSLASH) {
        at += 1;
        byte = rows[at];
        if (byte === IS_DEFAULT) {
          return false;
        }
        isNull = byte === IS_NULL;
        byte = MEANT[byte ?? 0] ?? 0;
      }
      values[to] = byte;
      to += 1;
      at += 1;
    }
    this.#at = at + 1;
    values.writeInt32BE(isNull ? NULL_LENGTH : to - start, this.#end);
    this.#end = isNull ? start : to;
    return true;
  }

  /** A field of digits. */
  #number(): number {
    let number = 0;
    for (let byte = this.#rows[this.#at]; byte !== undefined && byte !== TAB; byte = this.#rows[this.#at]) {
      number = number * 10 + byte - ZERO;
      this.#at += 1;
    }
    this.#at += 1;
    return number;
  }
}
