import { readFileSync, statSync } from 'node:fs';
import { relative } from 'node:path';
import { type Document, LineCounter, parseDocument } from 'yaml';
import { LARGEST_FILE_BYTES, type SettingPath } from '../settings/schema/document.ts';
import type { Problem } from '../settings/schema/problem.ts';
import { nodeAt, plainData, YAML_OPTIONS, yamlMistakes } from '../settings/schema/yaml-document.ts';

/** A YAML file as the user wrote it, which knows the place of each value in it. */
export interface SourceFile {
  /** The file as messages name it: relative to the folder that synth runs in. */
  readonly name: string;
  /** The parsed document; `undefined` when it is empty or could not be parsed. */
  readonly value: unknown;
  /** What is wrong with the YAML itself. */
  readonly problems: readonly Problem[];
  /** `consumer.yaml:12:5` of the value at a path; `undefined` when the file has none there. */
  readonly locate: (path: SettingPath) => string | undefined;
}

type Place = (offset: number) => string;

function placer(name: string, lines: LineCounter): Place {
  return (offset) => {
    const { line, col } = lines.linePos(offset);
    return `${name}:${line}:${col}`;
  };
}

const notYaml = (reason: string, source: string): Problem => ({
  path: '',
  message: `is not YAML: ${reason}`,
  allowed: 'one YAML document',
  source,
});

/** The document as plain data; a problem where aliases multiply without end. */
function toPlain(document: Document, name: string): Pick<SourceFile, 'value' | 'problems'> {
  const plain = plainData(document);
  return 'reason' in plain
    ? { value: undefined, problems: [notYaml(plain.reason, name)] }
    : { value: plain.raw ?? undefined, problems: [] };
}

function locate(document: Document, path: SettingPath, place: Place): string | undefined {
  if (path.length === 0) {
    return undefined;
  }
  const range = nodeAt(document, path)?.range;
  return range === null || range === undefined ? undefined : place(range[0]);
}

const REASON: Readonly<Record<string, string>> = {
  ENOENT: 'leads to a file that does not exist',
  EISDIR: 'is a folder',
  EACCES: 'may not be read by this user',
};

/** A regular file's text; a pipe in its place is not waited for. */
function readText(path: string): { readonly text: string } | { readonly reason: string } {
  try {
    const stats = statSync(path);
    if (!stats.isFile()) {
      return { reason: stats.isDirectory() ? 'is a folder' : 'is not a regular file' };
    }
    return stats.size <= LARGEST_FILE_BYTES ? { text: readFileSync(path, 'utf8') } : { reason: 'is larger than 1 MiB' };
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    return { reason: REASON[code] ?? `cannot be read (${code})` };
  }
}

/**
 * Reads a YAML file.
 *
 * @param folder what the file's name in messages is relative to
 */
export function readSourceFile(path: string, folder: string): SourceFile {
  const name = relative(folder, path);
  const read = readText(path);
  if ('reason' in read) {
    const problem = { path: '', message: read.reason, allowed: 'a readable YAML file', source: name };
    return { name, value: undefined, problems: [problem], locate: () => undefined };
  }
  const lines = new LineCounter();
  const document = parseDocument(read.text, { ...YAML_OPTIONS, lineCounter: lines });
  const place = placer(name, lines);
  const problems = yamlMistakes(document).map(({ reason, offset }) => notYaml(reason, place(offset)));
  return {
    name,
    ...(problems.length === 0 ? toPlain(document, name) : { value: undefined, problems }),
    locate: (wanted) => locate(document, wanted, place),
  };
}
