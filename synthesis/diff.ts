import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { styleText } from 'node:util';
import { diffArrays } from 'diff';
import { stringify } from 'yaml';
import type { Checked } from '../settings/schema/check.ts';
import { isSection } from '../settings/schema/document.ts';
import type { Problem } from '../settings/schema/problem.ts';
import { type FileChange, fileChanges, type ObjectChange, objectChanges } from './dist-changes.ts';
import { DIST_FOLDER, FILE_FOLDERS } from './dist-folder.ts';
import { upgradeProblems } from './immutable-fields.ts';
import { objectTitle } from './manifest.ts';
import { type Render, renderEnvironments } from './synthesize.ts';

/** What to compare. */
interface Comparison {
  /** Where consumer.yaml and dist/ are. */
  readonly folder: string;
  /** Names of the environments to compare. @default consumer.yaml by itself and all of them */
  readonly only?: readonly string[] | undefined;
  readonly render: Render;
}

/** What would change in one folder of dist/. */
interface Difference {
  /** `dist/staging`. */
  readonly folder: string;
  readonly objects: readonly ObjectChange[];
  readonly files: readonly FileChange[];
}

/** What a synth would change in dist/. */
interface Compared {
  /** The folders in which something would change. */
  readonly differences: readonly Difference[];
  /** What of it a cluster would refuse, and synth with it. */
  readonly problems: readonly Problem[];
}

/** Folders of dist/ that hold an environment, and dist/ itself: it holds one unless consumer.yaml is a template. */
function publishedFolders(dist: string): string[] {
  const entries = existsSync(dist) ? readdirSync(dist, { withFileTypes: true }) : [];
  const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  return ['', ...folders.filter((name) => !FILE_FOLDERS.includes(name))];
}

/**
 * Renders to a temporary folder and compares it with dist/, which stays as it is.
 *
 * @returns what differs, or all problems of the input.
 */
export function compareWithDist({ folder, only, render }: Comparison): Checked<Compared> {
  const dist = join(folder, DIST_FOLDER);
  const outdir = mkdtempSync(join(tmpdir(), 'stream-consumer-diff-'));
  try {
    const rendered = renderEnvironments({ folder, outdir, isScratch: true, only, render });
    if (!rendered.ok) {
      return rendered;
    }
    const names = rendered.value.map((environment) => environment.folder);
    const all = [...new Set([...names, ...(only === undefined ? publishedFolders(dist) : [])])];
    const differences = all.map((name) => ({
      folder: join(DIST_FOLDER, name),
      objects: objectChanges(join(dist, name), join(outdir, name)),
      files: fileChanges(join(dist, name), join(outdir, name)),
    }));
    const found = differences.filter(({ objects, files }) => objects.length + files.length > 0);
    return {
      ok: true,
      value: { differences: found, problems: found.flatMap(({ objects }) => upgradeProblems(objects)) },
    };
  } finally {
    rmSync(outdir, { recursive: true, force: true });
  }
}

const below = (path: string, key: string): string => {
  const isPlain = /^[A-Za-z_][\w-]*$/.test(key);
  return isPlain ? `${path}${path === '' ? '' : '.'}${key}` : `${path}[${JSON.stringify(key)}]`;
};

/** Items of a list count by their names, where they have any, as in Kubernetes: one more in front changes no other. */
const itemKey = (item: unknown, index: number): string =>
  isSection(item) && typeof item['name'] === 'string' ? item['name'] : String(index);

/**
 * A value as lines that each say where they are and what is there, so that a difference between two values needs no
 * lines around it: `spec.template.spec.containers[consumer].image: "registry/x:1"`. A text of several lines is one line
 * for each of them, behind a bar.
 */
function fieldLines(value: unknown, path = ''): string[] {
  if (isSection(value) && Object.keys(value).length > 0) {
    return Object.entries(value).flatMap(([key, child]) => fieldLines(child, below(path, key)));
  }
  if (Array.isArray(value) && value.length > 0) {
    return value.flatMap((item: unknown, index) => fieldLines(item, `${path}[${itemKey(item, index)}]`));
  }
  if (typeof value === 'string' && value.includes('\n')) {
    return value
      .replace(/\n$/, '')
      .split('\n')
      .map((line) => `${path} | ${line}`);
  }
  return [`${path}: ${JSON.stringify(value)}`];
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
