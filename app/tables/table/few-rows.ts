import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { UPSERT } from './stage-columns.ts';

/**
 * More rows of a transaction go by way of a stage. Up to eight, the statements were measured to be cheaper. Each stage
 * that a connection makes writes to the catalog, and in a steady load of many tables few have more than sixteen rows.
 */
export const MOST_FEW_ROWS = 16;

/** Of more bytes the statements around them cost little, and their text would be in memory twice. */
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

const CONTROL_ESCAPES: Readonly<Record<string, string>> = { t: '\t', n: '\n', r: '\r' };

/** The values of a row, as PostgreSQL's input functions read them. */
type RowValues = readonly (string | null)[];

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
): readonly RowValues[] | null {
  const bytes = pieces.reduce((sum, piece) => sum + piece.length, 0);
  if (length > MOST_FEW_ROWS || bytes > MOST_BYTES) {
    return null;
  }
  const rows = Buffer.concat(pieces);
  if (!isUtf8(rows)) {
    return null;
  }
  // A line feed within a value is escaped.
  const values: RowValues[] = [];
  let last = 0;
  for (const row of rows.toString('utf8', 0, bytes - 1).split('\n')) {
    const fields = row.split('\t');
    const sequence = Number(fields[columns]);
    const ofTable = fields.slice(0, columns);
    if (fields[columns + 1] !== UPSERT || sequence <= last || ofTable.includes('\\D')) {
      return null;
    }
    last = sequence;
    values.push(ofTable.map(parameterOf));
  }
  return values;
}

/** @returns `null` for NULL */
function parameterOf(field: string): string | null {
  if (!field.includes('\\')) {
    return field;
  }
  return field === '\\N' ? null : field.replaceAll(/\\([\s\S])/g, (_, escaped) => CONTROL_ESCAPES[escaped] ?? escaped);
}
