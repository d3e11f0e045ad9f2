import { DatabaseError } from 'pg';
import type { DeadLetterReason } from '../../../contract/dead-letter-reasons.ts';
import { INSUFFICIENT_PRIVILEGE, verdictOn } from '../connection/sqlstate.ts';
import type { RowCopy } from './binary-copy.ts';
import { RowRefused } from './isolate-poison.ts';

/** The row that the context of an error is about, counted from 0, and the context's words behind it. */
interface RefusedLine {
  readonly row: number;
  readonly words: string;
}

const literally = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');

/**
 * The line of a COPY that PostgreSQL's context names; `null` where it names none. The context may quote a record, and
 * is never logged.
 *
 * A value in the text format is quoted behind the line, and may hold line breaks and words like those of a context: the
 * first line counts. In the binary format no value is quoted, but what a JSON error says comes before: the last one
 * counts.
 */
export function refusedLine(
  context: string | undefined,
  { relation, format }: Omit<RowCopy, 'statement'>,
): RefusedLine | null {
  const pattern = new RegExp(`(?<=^|\\n)COPY ${literally(relation)}, line (\\d+)`, 'g');
  const lines = [...(context ?? '').matchAll(pattern)];
  const line = lines.at(format === 'text' ? 0 : -1);
  const row = Number(line?.[1] ?? 0) - 1;
  return line === undefined || row < 0 ? null : { row, words: line.input.slice(line.index + line[0].length) };
}

/** Why PostgreSQL refused a row, by SQLSTATE (documentation, appendix A). */
export function reasonOfSqlstate(sqlstate: string): DeadLetterReason {
  const reasons: Readonly<Record<string, DeadLetterReason>> = {
    '22P02': 'invalid_json',
    '22021': 'invalid_utf8',
    '22P05': 'nul_character',
    '22003': 'number_out_of_range',
    '54001': 'nesting_too_deep',
    '54000': 'jsonb_limit_exceeded',
  };
  return reasons[sqlstate] ?? 'rejected_by_database';
}

/** Why PostgreSQL refused a row of a user's own table: there it converts a column's text, and a message quotes it. */
export function tableReasonOf(sqlstate: string): DeadLetterReason {
  if (sqlstate === '23502') {
    return 'missing_value';
  }
  if (sqlstate === INSUFFICIENT_PRIVILEGE) {
    return 'constraint_violated';
  }
  const byClass: Readonly<Record<string, DeadLetterReason>> = {
    '22': 'value_does_not_fit',
    '23': 'constraint_violated',
    '3F': 'value_does_not_fit',
    '42': 'value_does_not_fit',
  };
  return byClass[sqlstate.slice(0, 2)] ?? 'rejected_by_database';
}

/**
 * What a type's input function may raise for a text: hstore's a syntax error, regclass's and its like that the catalog
 * has no such name. PostgreSQL raises the same for a statement.
 */
const OF_TEXTS = /^(?:42|3F)/;

/**
 * The context begins with the column of a text. That of a statement names no row, that of a trigger's statement no
 * column, and that of a function, which the CHECK of a domain calls, comes before: none of them is a record's fault.
 */
function isOfText({ code = '', where = '' }: DatabaseError, copy: RowCopy): boolean {
  const isFirst = where.startsWith('COPY ') && refusedLine(where, copy)?.words.startsWith(', column ') === true;
  return OF_TEXTS.test(code) && copy.format === 'text' && isFirst;
}

function isOfRow(error: DatabaseError, copy: RowCopy | undefined): boolean {
  if (verdictOn(error) === 'isolate') {
    return true;
  }
  return (
    copy !== undefined &&
    (isOfText(error, copy) || (copy.hasPolicies === true && error.code === INSUFFICIENT_PRIVILEGE))
  );
}

/**
 * The error of a failed COPY as the fault of a row, {@link RowRefused}; any other error stays as it is.
 *
 * @param copy whose rows are counted. @default no row is named
 */
export function asRefusal(error: unknown, copy?: RowCopy): unknown {
  if (error instanceof DatabaseError && error.code !== undefined && isOfRow(error, copy)) {
    const line = copy === undefined ? null : refusedLine(error.where, copy);
    return new RowRefused(error.code, line?.row ?? null, { cause: error });
  }
  return error;
}
