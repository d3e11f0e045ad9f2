import { isUtf8 } from 'node:buffer';
import { UPSERT } from './stage-columns.ts';

/** Of a larger row the statements around it cost little, and its text would be in memory twice. */
const MOST_ROW_BYTES = 8_192;

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

const CONTROL_ESCAPES: Readonly<Record<string, string>> = { t: '\t', n: '\n', r: '\r' };

/**
 * The values of the only row of a stage, out of COPY's text format as the encoder writes it.
 *
 * @param columns how many of its fields are columns of the table; the stage's are behind them
 * @returns `null` for a row that deletes, is large, is no UTF-8 or takes a default: the stage takes all of them
 */
export function valuesOfOneRow(row: Buffer, columns: number): readonly (string | null)[] | null {
  if (row.length > MOST_ROW_BYTES || !isUtf8(row)) {
    return null;
  }
  const fields = row.toString('utf8', 0, row.length - 1).split('\t');
  const values = fields.slice(0, columns);
  if (fields[columns + 1] !== UPSERT || values.includes('\\D')) {
    return null;
  }
  return values.map((field) => {
    if (!field.includes('\\')) {
      return field;
    }
    return field === '\\N'
      ? null
      : field.replaceAll(/\\([\s\S])/g, (_, escaped) => CONTROL_ESCAPES[escaped] ?? escaped);
  });
}
