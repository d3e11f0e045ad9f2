import { DEAD_LETTER_REASON } from '../../../contract/dead-letter-reasons.ts';
import { printable } from '../../logging/printable-text.ts';
import { sqlstateMeaning } from '../../store/connection/sqlstate-meaning.ts';
import { RECORDS } from '../../store/tables/record-rows.ts';
import { contentLines, grouped, jsonBytes, reasonList, shownBytes } from '../command/output.ts';
import type { ReplayOutcome } from './dead-letters-replay.ts';
import type { ListedDeadLetter, StoredBytes, TargetCount } from './dead-letters-table.ts';

const LETTER_HEADINGS = ['GROUP', 'TOPIC', 'PARTITION', 'OFFSET', 'REASON', 'TARGET', 'FAILED AT', 'ERROR'] as const;

/** The user's own table and its column at fault; `-` for `records`, or for all tables of the record. */
const targetOf = (target: string | null, column: string | null): string =>
  target === null ? '-' : [target, ...(column === null ? [] : [column])].join('.');

const letterCells = (letter: ListedDeadLetter): readonly string[] => {
  const { groupId, topic, partition, offset, reason, target, targetColumn, failedAt, error } = letter;
  const place = [groupId, topic, String(partition), String(offset)];
  return [...place, reason, targetOf(target, targetColumn), failedAt.toISOString(), error].map(printable);
};

/**
 * Dead letters as lines of a table.
 *
 * @param widths of the columns on the pages before; empty on the first page, which then begins with the headings
 * @returns the lines, and the widths for the page that follows
 */
export function tablePage(
  letters: readonly ListedDeadLetter[],
  widths: readonly number[],
): { readonly lines: readonly string[]; readonly widths: readonly number[] } {
  const rows = letters.map((letter) => ({ letter, cells: letterCells(letter) }));
  const wide = LETTER_HEADINGS.map((heading, column) =>
    Math.max(widths[column] ?? heading.length, ...rows.map((row) => row.cells[column]?.length ?? 0)),
  );
  const line = (texts: readonly string[]): string =>
    texts
      .map((text, column) => (column === LETTER_HEADINGS.length - 1 ? text : text.padEnd(wide[column] ?? 0)))
      .join('  ');
  const heading = widths.length === 0 ? [line(LETTER_HEADINGS)] : [];
  return {
    lines: [
      ...heading,
      ...rows.flatMap((row) => [
        line(row.cells),
        ...(row.letter.content === undefined ? [] : contentLines(row.letter.content)),
      ]),
    ],
    widths: wide,
  };
}

/** A point in time; its milliseconds since 1970 where no `Date` can hold it. */
function timestampText(milliseconds: string | null): string | null {
  const date = new Date(Number(milliseconds));
  return milliseconds === null || Number.isNaN(date.getTime()) ? milliseconds : date.toISOString();
}

/** The SQLSTATE of PostgreSQL's refusal; `null` where PostgreSQL was not asked. */
const sqlstateOf = (error: string): string | null => /^SQLSTATE ([0-9A-Z]{5})\b/.exec(error)?.[1] ?? null;

function jsonFields({ groupId, topic, partition, offset, failedAt, content, ...others }: ListedDeadLetter) {
  const { reason, error, target, targetColumn, milliseconds, headers } = others;
  const sqlstate = sqlstateOf(error);
  return {
    group: groupId,
    topic,
    partition,
    offset: Number(offset),
    reason,
    error,
    sqlstate,
    sqlstateMeaning: sqlstate && sqlstateMeaning(sqlstate),
    target,
    targetColumn,
    failedAt: failedAt.toISOString(),
    timestamp: timestampText(milliseconds),
    headers,
    ...(content && { key: jsonBytes(content.key), value: jsonBytes(content.value) }),
  };
}

/** A dead letter as one line of JSON; its key and value, where they were asked for, as text or as `{"base64": ...}`. */
export const jsonLine = (letter: ListedDeadLetter): string => JSON.stringify(jsonFields(letter));

const storedText = (bytes: StoredBytes | null): string =>
  bytes === null ? 'null' : typeof bytes === 'string' ? printable(bytes) : `base64 ${bytes.base64}`;

/** All of one dead letter for a person, its record included. */
export function letterLines(letter: ListedDeadLetter): readonly string[] {
  const { topic, partition, offset, groupId, reason, error, target, targetColumn, failedAt, milliseconds } = letter;
  const sqlstate = sqlstateOf(error);
  const meaning = sqlstate && sqlstateMeaning(sqlstate);
  const { content, headers } = letter;
  const facts = [
    ['reason', `${reason}: ${DEAD_LETTER_REASON[reason] ?? 'a reason that this version does not know'}`],
    ['error', error],
    ...(meaning ? [['SQLSTATE', `${sqlstate}, ${meaning}`]] : []),
    ['target', targetOf(target, targetColumn)],
    ['failed at', failedAt.toISOString()],
    ['timestamp', timestampText(milliseconds) ?? 'none'],
    ...headers.map(({ key, value }) => ['header', `${storedText(key)}: ${storedText(value)}`]),
    ...(content
      ? [
          ['key', shownBytes(content.key)],
          ['value', shownBytes(content.value)],
        ]
      : []),
  ];
  return [
    printable(`${topic}/${partition}/${offset} of group ${groupId}`),
    ...facts.map(([name = '', text = '']) => `    ${name.padEnd(10)}${printable(text)}`),
  ];
}

/** A letter that was discarded as one line of JSON. */
export const discardedJson = (letter: ListedDeadLetter, because: string): string =>
  JSON.stringify({ outcome: 'discarded', because, ...jsonFields(letter) });

/** The outcome of a replay as one line of JSON. */
export const outcomeJson = (outcome: ReplayOutcome): string =>
  JSON.stringify({
    outcome: outcome.kind,
    ...(outcome.kind === 'present' && { presentIn: outcome.presentIn }),
    ...jsonFields(outcome.letter),
  });

/** The line about a dead letter that stayed, with the reason; `null` for one that was moved. */
export function outcomeLine(outcome: ReplayOutcome): string | null {
  const { kind, letter } = outcome;
  const place = `${letter.topic}/${letter.partition} offset ${letter.offset} of group ${letter.groupId}`;
  switch (kind) {
    case 'moved':
      return null;
    case 'refused':
      return printable(`${place} still does not fit: ${letter.reason}: ${letter.error}`);
    case 'present':
      return printable(`${place} ${presentWords(outcome.presentIn)}`);
  }
}

const presentWords = (table: string): string =>
  table === RECORDS.table
    ? 'is in records already: if it is the same record, discard it'
    : `has a key that ${table} has a row of, perhaps of a newer record: discard it, or replay with --overwrite`;

/**
 * The line about the tables of the user's own that made most letters, with the column at fault; none without such
 * letters.
 */
export function targetLines({
  targets,
  hasMore,
}: {
  readonly targets: readonly TargetCount[];
  readonly hasMore: boolean;
}): readonly string[] {
  const counts = targets.map(
    ({ target, targetColumn, letters }) => `${grouped(letters)} ${printable(targetOf(target, targetColumn))}`,
  );
  const all = hasMore ? [...counts, 'and others'] : counts;
  return all.length === 0 ? [] : [`by table and column: ${all.join(', ')}`];
}

/** Counts the outcomes of a replay. */
export class ReplayTally {
  readonly #total: number;
  readonly #isDryRun: boolean;
  readonly #reasons = new Map<string, number>();
  #moved = 0;
  #present = 0;
  #refused = 0;

  /** @param total dead letters to look at */
  constructor(total: number, isDryRun: boolean) {
    this.#total = total;
    this.#isDryRun = isDryRun;
  }

  /** Whether no dead letter was looked at so far: others hold them all. */
  get isEmpty(): boolean {
    return this.#moved + this.#refused + this.#present === 0;
  }

  /** Whether every dead letter so far was moved. */
  get isClean(): boolean {
    return this.#refused + this.#present === 0;
  }

  add({ kind, letter }: ReplayOutcome): void {
    if (kind === 'moved') {
      this.#moved += 1;
    } else if (kind === 'present') {
      this.#present += 1;
    } else {
      this.#refused += 1;
      this.#reasons.set(letter.reason, (this.#reasons.get(letter.reason) ?? 0) + 1);
    }
  }

  /** The line during the replay. */
  progress(): string {
    const seen = this.#moved + this.#present + this.#refused;
    return `${grouped(seen)} of ${grouped(this.#total)} dead letters, ${grouped(this.#moved)} ${this.#verb()}`;
  }

  /** The line at its end. */
  summary(): string {
    const refused =
      this.#refused === 0 ? '' : `, ${grouped(this.#refused)} still refused (${reasonList(this.#reasons)})`;
    const present = this.#present === 0 ? '' : `, ${grouped(this.#present)} present already`;
    return `${this.progress()}${refused}${present}${this.#isDryRun ? '; nothing was changed (--dry-run)' : ''}`;
  }

  #verb(): string {
    return this.#isDryRun ? 'would be moved' : 'moved';
  }
}
