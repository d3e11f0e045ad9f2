/** One line of the verdict. */
export interface Finding {
  readonly check: string;
  readonly expected: string;
  readonly found: string;
  readonly isWell: boolean;
  /** What differs, for a person; empty when all is well. */
  readonly details: readonly string[];
}

const COLUMNS = { check: 'check', expected: 'expected', found: 'found' } as const;

/** A number for a person: `100,000`. */
export const count = (value: number | bigint): string => value.toLocaleString('en-US');

/**
 * The findings as a table, each followed by its details.
 *
 * @param tint marks what is well and what is not.
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

/** Of more details than this the first ones are shown. */
const EXAMPLES = 10;

/** A finding that is well when the two numbers are the same. */
export function findingOfNumbers(check: string, expected: number, found: number, details: readonly string[]): Finding {
  const shown = details.length > EXAMPLES ? [...details.slice(0, EXAMPLES), '...'] : details;
  return { check, expected: count(expected), found: count(found), isWell: expected === found, details: shown };
}
