import type { FaultKind } from './fault.ts';

/** One fault that was made. */
export interface Made {
  readonly kind: FaultKind;
  /** Milliseconds from the end of the fault until records flowed again in every partition; undefined: too many. */
  readonly recoveryMs: number | undefined;
}

const HEADINGS = ['fault', 'times', 'median recovery', 'longest recovery'];

/** The faults by kind, as lines of a Markdown table: how often, and how long until all was well again. */
export function faultTable(made: readonly Made[]): readonly string[] {
  const kinds = [...new Set(made.map(({ kind }) => kind))].sort();
  const rows = kinds.map((kind) => {
    const times = made
      .filter((fault) => fault.kind === kind)
      .map(({ recoveryMs }) => recoveryMs ?? Number.POSITIVE_INFINITY)
      .sort((a, b) => a - b);
    const median = times[Math.floor((times.length - 1) / 2)];
    return [kind, String(times.length), seconds(median), seconds(times.at(-1))];
  });
  return markdown([HEADINGS, ...rows]);
}

const seconds = (ms = Number.POSITIVE_INFINITY): string =>
  Number.isFinite(ms) ? `${(ms / 1_000).toFixed(1)} s` : 'never';

function markdown(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = HEADINGS.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const pad = (cell: string, column: number): string =>
    column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0);
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const [headings = '', ...body] = rows.map((row) => line(row.map(pad)));
  const rule = widths.map((width, column) => (column === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`));
  return [headings, line(rule), ...body];
}
