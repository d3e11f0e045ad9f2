import { styleText } from 'node:util';
import { diffArrays } from 'diff';
import { stringify } from 'yaml';
import type { ObjectChange } from './dist-changes.ts';
import { fieldLines } from './field-lines.ts';
import type { FileChange } from './file-changes.ts';
import { objectTitle } from './manifest.ts';

/** What would change in one folder of dist/. */
export interface Difference {
  /** `dist/staging`. */
  readonly folder: string;
  readonly objects: readonly ObjectChange[];
  readonly files: readonly FileChange[];
}

type Sign = '+' | '-' | '~';

const COLOUR = { '+': 'green', '-': 'red', '~': 'yellow' } as const;

interface Entry {
  readonly sign: Sign;
  readonly title: string;
  readonly lines: readonly { readonly sign: Sign; readonly text: string }[];
}

/** The lines that differ between two lists of lines. */
function changedLines(before: readonly string[], after: readonly string[]): Entry['lines'] {
  return diffArrays([...before], [...after]).flatMap(({ value, added, removed }) =>
    added || removed ? value.map((text) => ({ sign: added ? ('+' as const) : ('-' as const), text })) : [],
  );
}

const linesOf = (text: string): string[] => text.replace(/\n$/, '').split('\n');

const signOf = (before: unknown, after: unknown): Sign => {
  if (before === undefined) {
    return '+';
  }
  return after === undefined ? '-' : '~';
};

function objectEntry({ before, after }: ObjectChange): Entry {
  const sign = signOf(before, after);
  const old = before === undefined ? '' : objectTitle(before.object);
  const name = after === undefined ? old : objectTitle(after.object);
  if (before !== undefined && after !== undefined) {
    const title = old === name ? name : `${old} becomes ${after.object.metadata.name}`;
    return { sign, title, lines: changedLines(fieldLines(before.object), fieldLines(after.object)) };
  }
  const lines = after === undefined ? [] : linesOf(stringify(after.object, { lineWidth: 0 }));
  return { sign, title: name, lines: changedLines([], lines) };
}

function fileEntry({ file, before, after }: FileChange): Entry {
  const lines = after === undefined ? [] : changedLines(before === undefined ? [] : linesOf(before), linesOf(after));
  return { sign: signOf(before, after), title: file, lines };
}

/**
 * Differences for a person: each object and file with a sign (+ new, - gone, ~ changed) and the fields or lines that
 * differ. What is gone is only named.
 *
 * @param hasColours whether to colour by sign
 */
export function describeDifferences(differences: readonly Difference[], hasColours: boolean): string {
  const tint = (sign: Sign, text: string): string =>
    hasColours ? styleText(COLOUR[sign], text, { validateStream: false }) : text;
  const folders = differences.map(({ folder, objects, files }) => {
    const entries = [...objects.map(objectEntry), ...files.map(fileEntry)];
    return [
      folder,
      ...entries.flatMap(({ sign, title, lines }) => [
        tint(sign, `  ${sign} ${title}`),
        ...lines.map((line) => tint(line.sign, `      ${line.sign} ${line.text}`)),
      ]),
    ].join('\n');
  });
  return folders.join('\n\n');
}

/** `1 new, 2 changed, 1 gone`. */
export function countChanges(differences: readonly Difference[]): string {
  const signs = differences.flatMap(({ objects, files }) =>
    [...objects, ...files].map(({ before, after }) => signOf(before, after)),
  );
  const count = (sign: Sign): number => signs.filter((each) => each === sign).length;
  return `${count('+')} new, ${count('~')} changed, ${count('-')} gone`;
}
