import type { Passage } from './passages.ts';

/** Words that hide who does what, and what to write in their place. */
const DIALECT: readonly (readonly [words: RegExp, instead: string])[] = [
  [/\b(tells?|told|telling)\b/gi, 'log, report, show, return, distinguish'],
  [/\b(stands?|stood|standing)\b/gi, 'is, is written, applies, is called'],
  [/\bof\s+(one's|their|its)\s+own\b/gi, "name the owner: your tables, the Pod's address"],
  [/\bas\s+it\s+is\s+then\b|\bby\s+then\b/gi, 'name the moment: when the process starts'],
];

const LIMIT = { wordsOfSentence: 35, columns: 120, charactersOfCell: 200 } as const;

const withoutTargets = (text: string): string => text.replaceAll(/\]\([^)]*\)/g, ']');

const withoutCode = (text: string): string => text.replaceAll(/`[^`]*`/g, (code) => code.replaceAll(/[^\n]+/g, 'CODE'));

const sentencesOf = (text: string): readonly { readonly at: number; readonly words: readonly string[] }[] =>
  [...text.matchAll(/\S.*?(?:[.!?:](?=\s)|$)/gs)].map(({ index, 0: sentence }) => ({
    at: index,
    words: sentence.split(/\s+/),
  }));

/** What is not plain in a passage, each with the number of its line. */
export function findingsIn({ kind, line, lines }: Passage): readonly (readonly [line: number, finding: string])[] {
  const text = withoutCode(withoutTargets(lines.join('\n'))).replace(/^\s*(#{1,6}|[-*]|\d+\.) /, '');
  const lineOf = (offset: number): number => line + text.slice(0, offset).split('\n').length - 1;

  const words = DIALECT.flatMap(([pattern, instead]) =>
    [...text.matchAll(pattern)].map(({ index, 0: found }) => [
      lineOf(index),
      `"${found.replaceAll(/\s+/g, ' ')}": write another word (${instead})`,
    ]),
  );
  const sentences = sentencesOf(text)
    .filter((sentence) => sentence.words.length > LIMIT.wordsOfSentence)
    .map((sentence) => [
      lineOf(sentence.at),
      `a sentence of ${sentence.words.length} words, at most ${LIMIT.wordsOfSentence}: "${sentence.words.slice(0, 6).join(' ')} ..."`,
    ]);
  const wide = lines.flatMap((each, index) => {
    const columns = withoutTargets(each).length;
    return kind === 'paragraph' && columns > LIMIT.columns
      ? [[line + index, `a line of ${columns} columns, at most ${LIMIT.columns}`]]
      : [];
  });
  const characters = lines.join('\n').length;
  const cell =
    kind === 'cell' && characters > LIMIT.charactersOfCell
      ? [[line, `a cell of ${characters} characters, at most ${LIMIT.charactersOfCell}: make the table a list`]]
      : [];
  return [...words, ...sentences, ...wide, ...cell] as (readonly [number, string])[];
}
