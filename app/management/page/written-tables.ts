import { DEAD_LETTER_REASON, isDeadLetterReason } from '../../../contract/dead-letter-reasons.ts';
import type { Sample } from '../../metrics/exposition/metric-source.ts';
import { chart } from './chart.ts';
import { MOST_ROWS, type PageFacts } from './facts.ts';
import { meanOf, type Points, tableOperations } from './history.ts';
import {
  type Column,
  countOfText,
  countText,
  durationText,
  html,
  type Markup,
  momentText,
  rateText,
  table,
} from './markup.ts';

/** A table that records go into. */
interface WrittenTable {
  readonly name: string;
  readonly perSecond: Points;
  /** Rows by what was done, since the process started. */
  readonly operations: string;
}

const TABLE_COLUMNS: readonly Column<WrittenTable>[] = [
  { title: 'Table', cell: ({ name }) => name },
  {
    title: 'Rows/s',
    kind: 'number',
    cell: ({ perSecond }) => {
      const mean = meanOf(perSecond);
      return mean === undefined ? null : rateText(mean);
    },
  },
  {
    title: 'Rows/s, 10 min',
    kind: 'chart',
    cell: ({ name, perSecond }) => chart(perSecond, { what: `rows a second of ${name}`, write: rateText }),
  },
  {
    title: 'Since the start',
    cell: ({ operations }) => operations,
  },
];

/** The tables, with their rows a second. */
export function tablesSection({ figures, history, recordTopics }: PageFacts): Markup | null {
  const tables = [...tableOperations(figures, recordTopics)].map(([name, done]) => ({
    name,
    perSecond: history.ofTable(name) ?? [],
    operations: done
      .filter(({ count }) => count > 0)
      .map(({ operation, count }) => `${operation} ${countText(count)}`)
      .join(', '),
  }));
  if (tables.length === 0) {
    return null;
  }
  const shown = tables.slice(0, MOST_ROWS);
  const title = shown.length < tables.length ? `${MOST_ROWS} of ${countText(tables.length)} tables` : 'Tables';
  return html`<section><h2>${title}</h2>${table(title, TABLE_COLUMNS, shown)}</section>`;
}

/** Dead letters of one reason. */
interface Letters {
  /** The topic, or the table and the column at fault. */
  readonly at: string;
  readonly reason: string;
  readonly count: number;
}

const REASON_COLUMNS: readonly Column<Letters>[] = [
  { title: 'Where', cell: ({ at }) => at },
  { title: 'Letters', kind: 'number', cell: ({ count }) => countText(count) },
  {
    title: 'Reason',
    cell: ({ reason }) =>
      html`${reason} <small>${isDeadLetterReason(reason) ? DEAD_LETTER_REASON[reason] : null}</small>`,
  },
];

/** Dead letters that the process has made, by topic and reason and by table, column and reason. */
export function lettersSection({ figures, startedAt, now }: PageFacts): Markup {
  const made = [
    ...figures.deadLetters().map((sample) => lettersAt(sample.labels['topic'] ?? '', sample)),
    ...figures.tableDeadLetters().map((sample) => lettersAt(tablePlace(sample), sample)),
  ].filter(({ count }) => count > 0);
  const rows = made.toSorted((a, b) => b.count - a.count).slice(0, MOST_ROWS);
  const since = html`since this process started at ${momentText(startedAt, now)}`;
  const shown = rows.length < made.length ? html` The ${MOST_ROWS} largest of ${countText(made.length)} counts.` : null;
  const body =
    rows.length === 0
      ? html`<p>None ${since}.</p>`
      : html`<p>Counted ${since}; one of a table of yours counts for its topic, too.${shown}</p>${table('Dead letters', REASON_COLUMNS, rows)}`;
  return html`<section><h2>Dead letters</h2>${body}</section>`;
}

const lettersAt = (at: string, { labels, value }: Sample): Letters => ({
  at,
  reason: labels['reason'] ?? '',
  count: value,
});

const tablePlace = ({ labels: { table: name = '', column = '' } }: Sample): string =>
  column === '' ? name : `${name}, column ${column}`;

/** How many letters wait in the table, and for how long; nothing where they were not counted lately. */
export function waitingLetters({ letters: { waiting } }: PageFacts): { count: number; oldestMs: number } | undefined {
  if (waiting === null) {
    return undefined;
  }
  const count = waiting.reduce((sum, { letters }) => sum + letters, 0);
  return { count, oldestMs: Math.max(0, ...waiting.map(({ oldestSeconds }) => oldestSeconds * 1_000)) };
}

/** `3 letters, the oldest for 2 h`. */
export const waitingText = (count: number, oldestMs: number): string =>
  `${countOfText(count, 'letter')}, the oldest for ${durationText(oldestMs)}`;
