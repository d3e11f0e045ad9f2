/** One line of the verdict. */
export interface Finding {
  readonly check: string;
  readonly expected: string;
  readonly found: string;
  readonly isWell: boolean;
  /** The differences in words; empty when all is well. */
  readonly details: readonly string[];
}

/** Of more details than this the first ones are shown. */
const MAX_DETAILS = 10;
const COLUMNS = { check: 'check', expected: 'expected', found: 'found' } as const;

/** A number as the terminal shows it: `100,000`. */
export const count = (value: number | bigint): string => value.toLocaleString('en-US');

/** A finding that is well when both numbers are the same. */
export function countFinding<T extends number | bigint>(
  check: string,
  expected: T,
  found: T,
  details: readonly string[],
): Finding {
  const shown = details.length > MAX_DETAILS ? [...details.slice(0, MAX_DETAILS), '...'] : details;
  return { check, expected: count(expected), found: count(found), isWell: expected === found, details: shown };
}

/**
 * The findings as a table, each followed by its details.
 *
 * @param tint colours `ok` and `DIFFERS`.
 */
export function verdictTable(
  findings: readonly Finding[],
  tint: (text: string, isWell: boolean) => string,
): readonly string[] {
  const width = (column: keyof typeof COLUMNS): number =>
    Math.max(COLUMNS[column].length, ...findings.map((finding) => finding[column].length));
  const widths = { check: width('check'), expected: width('expected'), found: width('found') };
  const row = (check: string, expected: string, found: string, mark: string): string =>
    `  ${check.padEnd(widths.check)}  ${expected.padStart(widths.expected)}  ${found.padStart(widths.found)}  ${mark}`.trimEnd();
  return [
    row(COLUMNS.check, COLUMNS.expected, COLUMNS.found, ''),
    ...findings.flatMap(({ check, expected, found, isWell, details }) => [
      row(check, expected, found, tint(isWell ? 'ok' : 'DIFFERS', isWell)),
      ...details.map((detail) => `      ${detail}`),
    ]),
  ];
}
