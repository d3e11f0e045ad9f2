import type { Passage } from './passages.ts';

/** Words that hide who does what, and what to write in their place. */
const DIALECT: readonly (readonly [words: RegExp, instead: string])[] = [
  [/\b(tells?|told|telling)\b/gi, 'log, report, show, return, distinguish'],
  [/\b(stands?|stood|standing)\b/gi, 'is, is written, applies, is called'],
  [/\bof\s+(one's|their|its)\s+own\b/gi, "name the owner: your tables, the Pod's address"],
  [/\bas\s+it\s+is\s+then\b|\bby\s+then\b/gi, 'name the moment: when the process starts'],
];

const LIMIT = { wordsOfSentence: 35, columns: 120, charactersOfCell: 200 } as const;

/** What is not plain, and in which line of the passage, from 0. */
interface Finding {
  readonly line: number;
  readonly what: string;
}

const withoutTargets = (text: string): string => text.replaceAll(/\]\([^)]*\)/g, ']');

const withoutCode = (text: string): string => text.replaceAll(/`[^`]*`/g, (code) => code.replaceAll(/[^\n]+/g, 'CODE'));

const withoutBullet = (text: string): string => text.replace(/^\s*(#{1,6}|[-*]|\d+\.) /, '');

const lineAt = (text: string, offset: number): number => text.slice(0, offset).split('\n').length - 1;

const dialectIn = (text: string): readonly Finding[] =>
  DIALECT.flatMap(([pattern, instead]) =>
    [...text.matchAll(pattern)].map(({ index, 0: found }) => ({
      line: lineAt(text, index),
      what: `"${found.replaceAll(/\s+/g, ' ')}": write another word (${instead})`,
    })),
  );

const longSentencesIn = (text: string): readonly Finding[] =>
  [...text.matchAll(/\S.*?(?:[.!?:](?=\s)|$)/gs)].flatMap(({ index, 0: sentence }) => {
    const words = sentence.split(/\s+/);
    const { wordsOfSentence: limit } = LIMIT;
    const what = `a sentence of ${words.length} words, at most ${limit}: "${words.slice(0, 6).join(' ')} ..."`;
    return words.length > limit ? [{ line: lineAt(text, index), what }] : [];
  });

const wideLinesIn = (lines: readonly string[]): readonly Finding[] =>
  lines.flatMap((text, line) => {
    const columns = withoutTargets(text).length;
    return columns > LIMIT.columns ? [{ line, what: `a line of ${columns} columns, at most ${LIMIT.columns}` }] : [];
  });

function longCellsIn(cell: string): readonly Finding[] {
  const { charactersOfCell: limit } = LIMIT;
  const what = `a cell of ${cell.length} characters, at most ${limit}: make the table a list`;
  return cell.length > limit ? [{ line: 0, what }] : [];
}

/** What is not plain in a passage, each with the number of its line in the file. */
export function findingsIn({ kind, line: first, lines }: Passage): readonly (readonly [line: number, what: string])[] {
  const text = withoutBullet(withoutCode(withoutTargets(lines.join('\n'))));
  const findings = [
    ...dialectIn(text),
    ...longSentencesIn(text),
    ...(kind === 'paragraph' ? wideLinesIn(lines) : []),
    ...(kind === 'cell' ? longCellsIn(lines.join('\n')) : []),
  ];
  return findings.map(({ line, what }) => [first + line, what]);
}
