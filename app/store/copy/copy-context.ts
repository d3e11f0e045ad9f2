import type { RowCopy } from '../tables/row-target.ts';

/** The row that the context of an error is about, counted from 0, and the context's words behind it. */
interface RefusedLine {
  readonly row: number;
  readonly words: string;
}

const literally = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');

/**
 * The line of a COPY that PostgreSQL's context names; `null` where it names none. The context may quote a record, and is
 * never logged.
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
