import { printable } from '../../logging/printable-text.ts';
import { MOST_IN_FULL } from '../command/asked-table.ts';
import { AREAS, type Finding, type FindingStatus } from './finding.ts';

/** The word of each status on the page, and its colour on a terminal: green, yellow, red, dim. */
const SHOWN_STATUSES: Readonly<Record<FindingStatus, { readonly word: string; readonly colour: number }>> = {
  ok: { word: 'OK', colour: 32 },
  warning: { word: 'WARNING', colour: 33 },
  away: { word: 'AWAY', colour: 33 },
  wrong: { word: 'WRONG', colour: 31 },
  skipped: { word: '-', colour: 2 },
};

const FINDING_STATUSES = Object.keys(SHOWN_STATUSES) as FindingStatus[];
const WIDTH = Math.max(...FINDING_STATUSES.map((status) => SHOWN_STATUSES[status].word.length));
const INDENT = ' '.repeat(WIDTH + 4);

const coloured = (text: string, colour: number, isColoured: boolean): string =>
  isColoured ? `\u001b[${colour}m${text}\u001b[0m` : text;

/** Servers write what they like into their messages, and each line of it is one of the page. */
const printableLines = (text: string): readonly string[] => text.split('\n').map(printable);

function findingLines({ check, name, status, message, mend }: Finding, isColoured: boolean): readonly string[] {
  const { word, colour } = SHOWN_STATUSES[status];
  const subject = name === '' ? check : `${check} ${name}`;
  const [first = '', ...more] = printableLines(`${subject}: ${message}`);
  return [
    `  ${coloured(word.padEnd(WIDTH), colour, isColoured)}  ${first}`,
    ...more.map((line) => `${INDENT}${line}`),
    ...(mend === undefined
      ? []
      : printableLines(mend).map((line, nth) => `${INDENT}${nth === 0 ? '-> ' : '   '}${line}`)),
  ];
}

/** How many findings there are of each status that is not `skipped`, the worst first. */
function summaryLine(findings: readonly Finding[]): string {
  const counts = (['wrong', 'away', 'warning', 'ok'] as const).map((status) => ({
    status,
    count: findings.filter((finding) => finding.status === status).length,
  }));
  const shown = counts.filter(({ count }) => count > 0);
  return shown.map(({ status, count }) => `${count} ${SHOWN_STATUSES[status].word}`).join(', ');
}

/** Where there are many of a kind, one finding in the place of all that are right. */
function condensed(findings: readonly Finding[]): readonly Finding[] {
  const kinds = new Set(findings.map(({ check }) => check));
  return [...kinds].flatMap((kind): readonly Finding[] => {
    const all = findings.filter(({ check }) => check === kind);
    const [first, ...others] = all.filter(({ status }) => status === 'ok');
    if (first === undefined || all.length <= MOST_IN_FULL || others.length === 0) {
      return all;
    }
    const message = `${others.length + 1} of ${all.length} are right; --json has a line for each`;
    return [{ ...first, name: '', message }, ...all.filter(({ status }) => status !== 'ok')];
  });
}

/** The findings as a page for a person: a section for each area, and how many there are of each status. */
export function doctorPage(findings: readonly Finding[], isColoured: boolean): string {
  const sections = AREAS.flatMap((area) => {
    const own = condensed(findings.filter((finding) => finding.area === area));
    return own.length === 0 ? [] : [[area, ...own.flatMap((finding) => findingLines(finding, isColoured))].join('\n')];
  });
  return `${[...sections, summaryLine(findings)].join('\n\n')}\n`;
}

/** The findings for a script: an object of JSON for each, a line each. */
export const doctorJson = (findings: readonly Finding[]): string =>
  findings
    .map(({ area, check, name, status, message, mend = null, code = null }) =>
      JSON.stringify({ area, check, name, status, code, message, mend }),
    )
    .join('\n')
    .concat('\n');
