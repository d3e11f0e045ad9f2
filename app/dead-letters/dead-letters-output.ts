import { isText } from '../store/header-json.ts';
import type { ReplayOutcome } from './dead-letters-replay.ts';
import type { ListedDeadLetter } from './list-dead-letters.ts';

/** Control characters and those that change the direction of text: what a record holds must not steer a terminal. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\u2028\u2029]/gu;

const escapeCharacter = (character: string): string =>
  `\\u{${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}}`;

/** A text on one line, without anything that a terminal would act on. */
export const printable = (text: string): string => text.replaceAll(UNPRINTABLE, escapeCharacter);

const HEADINGS = ['GROUP', 'TOPIC', 'PARTITION', 'OFFSET', 'REASON', 'FAILED AT', 'ERROR'] as const;

const cells = ({ groupId, topic, partition, offset, reason, failedAt, error }: ListedDeadLetter): readonly string[] =>
  [groupId, topic, String(partition), String(offset), reason, failedAt.toISOString(), error].map(printable);

function contentLines({ content }: ListedDeadLetter): readonly string[] {
  const shown = (bytes: Buffer | null): string =>
    bytes === null ? 'null' : isText(bytes) ? printable(bytes.toString('utf8')) : `base64 ${bytes.toString('base64')}`;
  return content === undefined ? [] : [`    key    ${shown(content.key)}`, `    value  ${shown(content.value)}`];
}

/**
 * Letters as lines of a table.
 *
 * @param widths of the columns on the pages before; empty on the first page, which then begins with the headings
 * @returns the lines, and the widths for the page that follows
 */
export function tablePage(
  letters: readonly ListedDeadLetter[],
  widths: readonly number[],
): { readonly lines: readonly string[]; readonly widths: readonly number[] } {
  const rows = letters.map((letter) => ({ letter, cells: cells(letter) }));
  const wide = HEADINGS.map((heading, column) =>
    Math.max(widths[column] ?? heading.length, ...rows.map((row) => row.cells[column]?.length ?? 0)),
  );
  const line = (texts: readonly string[]): string =>
    texts.map((text, column) => (column === HEADINGS.length - 1 ? text : text.padEnd(wide[column] ?? 0))).join('  ');
  const heading = widths.length === 0 ? [line(HEADINGS)] : [];
  return {
    lines: [...heading, ...rows.flatMap((row) => [line(row.cells), ...contentLines(row.letter)])],
    widths: wide,
  };
}

const jsonBytes = (bytes: Buffer | null) =>
  bytes === null || !isText(bytes) ? bytes && { base64: bytes.toString('base64') } : bytes.toString('utf8');

function jsonFields({ groupId, topic, partition, offset, reason, error, failedAt, content }: ListedDeadLetter) {
  return {
    group: groupId,
    topic,
    partition,
    offset: Number(offset),
    reason,
    error,
    failedAt: failedAt.toISOString(),
    ...(content && { key: jsonBytes(content.key), value: jsonBytes(content.value) }),
  };
}

/** A letter as one line of JSON; key and value, where they are there, as text or as `{"base64": ...}`. */
export const jsonLine = (letter: ListedDeadLetter): string => JSON.stringify(jsonFields(letter));

/** The outcome of a replay as one line of JSON. */
export const outcomeJson = ({ kind, letter }: ReplayOutcome): string =>
  JSON.stringify({ outcome: kind, ...jsonFields(letter) });

/** What a person has to know of a letter that was not moved; `null` of one that was. */
export function outcomeLine({ kind, letter }: ReplayOutcome): string | null {
  const place = `${letter.topic}/${letter.partition} offset ${letter.offset} of group ${letter.groupId}`;
  const lines = {
    moved: null,
    refused: `${place} still does not fit: ${letter.reason}: ${letter.error}`,
    present: `${place} is in records already: if it is the same record, delete it from dead_letters`,
  };
  const line = lines[kind];
  return line === null ? null : printable(line);
}
