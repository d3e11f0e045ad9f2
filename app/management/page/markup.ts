import { printable } from '../../logging/printable-text.ts';

/** HTML that is put together by {@link html} alone, so that every text in it is escaped. */
export class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** What may be put into HTML: a text is escaped, and what is not there leaves nothing. */
export type Content = Markup | string | number | null | undefined | readonly Content[];

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** A longer text would hide what comes after it. */
const MOST_SHOWN = 600;

const shortened = (text: string): string => {
  const characters = text.slice(0, 2 * MOST_SHOWN);
  const shown = [...characters].slice(0, MOST_SHOWN).join('');
  return shown.length < text.length ? `${shown} …` : text;
};

/** A text of any origin for HTML: short, without characters that steer the reader, and escaped also for attributes. */
const escapedText = (text: string): string =>
  printable(shortened(text)).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');

function markupText(content: Content): string {
  if (content instanceof Markup) {
    return content.text;
  }
  if (content === null || content === undefined) {
    return '';
  }
  return typeof content === 'object' ? content.map(markupText).join('') : escapedText(String(content));
}

/** A template of HTML. Its own text is taken as it is, and everything that is put into it is escaped. */
export function html(template: TemplateStringsArray, ...contents: readonly Content[]): Markup {
  return new Markup(String.raw(template, ...contents.map(markupText)));
}

/** A column of a table: what each row shows there. */
export interface Column<Row> {
  readonly title: string;
  /** Nothing where the value is not known: then the cell is empty. */
  readonly cell: (row: Row) => Content;
  /** @default 'text' */
  readonly kind?: 'text' | 'number' | 'chart';
}

/**
 * A table whose first column names the row. The roles are written out, since on a narrow screen a row is a block, which
 * has no role by itself.
 *
 * @param sum the last row, set apart from the others. @default none
 */
export function table<Row>(caption: string, columns: readonly Column<Row>[], rows: readonly Row[], sum?: Row): Markup {
  const heads = columns.map(
    ({ title, kind = 'text' }) => html`<th role="columnheader" scope="col" class="${kind}">${title}</th>`,
  );
  const cells = (row: Row) =>
    columns.map(({ title, cell, kind = 'text' }, index) =>
      index === 0
        ? html`<th role="rowheader" scope="row">${cell(row)}</th>`
        : html`<td role="cell" class="${kind}" data-title="${title}">${cell(row)}</td>`,
    );
  const last = sum && html`<tr role="row" class="sum">${cells(sum)}</tr>`;
  return html`<table role="table" aria-label="${caption}"><thead role="rowgroup"><tr role="row">${heads}</tr></thead><tbody role="rowgroup">${rows.map((row) => html`<tr role="row">${cells(row)}</tr>`)}${last}</tbody></table>`;
}

/** A count of records: `1,234`. Intl would do it, too, for 14 ms of processor time and 7 MB at the start. */
export const countText = (count: number | bigint): string =>
  (typeof count === 'bigint' ? count : Math.round(count)).toString().replace(/\B(?=(\d{3})+$)/g, ',');

/** `1 record`, `2 records`. @param plural @default the noun with an s */
export const countOfText = (count: number, noun: string, plural = `${noun}s`): string =>
  `${countText(count)} ${count === 1 ? noun : plural}`;

/** Records or rows a second: `1,234`, `12.3`, `< 0.1`. */
export function rateText(perSecond: number): string {
  if (perSecond > 0 && perSecond < 0.1) {
    return '< 0.1';
  }
  return perSecond < 100 ? perSecond.toFixed(1).replace(/\.0$/, '') : countText(perSecond);
}

const TIME_UNITS = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
  ['s', 1],
] as const;

/** A duration by its two largest units: `2 h 5 min`, `12 s`; below a second, `< 1 s`. */
export function durationText(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1_000));
  const first = TIME_UNITS.findIndex(([, length]) => seconds >= length);
  if (first < 0) {
    return '< 1 s';
  }
  let rest = seconds;
  const parts = TIME_UNITS.slice(first, first + 2).flatMap(([unit, length]) => {
    const count = Math.floor(rest / length);
    rest -= count * length;
    return count === 0 ? [] : [`${count} ${unit}`];
  });
  return parts.join(' ');
}

/** A moment in UTC, on the day of `now` by its time alone. */
export function momentText(moment: Date, now: Date): Markup {
  const [date = '', time = ''] = moment.toISOString().slice(0, 19).split('T');
  const isToday = now.toISOString().startsWith(date);
  return html`<time datetime="${moment.toISOString()}">${isToday ? '' : `${date} `}${time} UTC</time>`;
}

/** `since 12:00:05 UTC (3 min)`. */
export const sinceText = (since: Date, now: Date): Markup =>
  html`since ${momentText(since, now)} (${durationText(now.getTime() - since.getTime())})`;
