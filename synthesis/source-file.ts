import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { type Document, isNode, LineCounter, parseDocument, visit } from 'yaml';
import type { Problem } from '../contract/problem.ts';
import type { SettingPath } from '../contract/setting-path.ts';

/** A YAML file as the user wrote it, which can say where in it something stands. */
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

function syntaxProblems(document: Document, place: Place): Problem[] {
  return document.errors.map(({ message, pos }) => ({
    path: '',
    message: `is not YAML: ${message.split('\n')[0]?.replace(/ at line \d+, column \d+:?$/, '')}`,
    allowed: 'one YAML document',
    source: place(pos[0]),
  }));
}

/** The parser leaves aliases alone: only who follows them finds those that lead nowhere or round in a circle. */
function aliasProblems(document: Document, place: Place): Problem[] {
  const problems: Problem[] = [];
  visit(document, {
    Alias: (_key, alias, ancestors) => {
      const anchored = alias.resolve(document);
      if (anchored === undefined || ancestors.includes(anchored)) {
        const reason = anchored === undefined ? 'names no anchor above it' : 'stands inside of what it names';
        problems.push({
          path: '',
          message: `has an alias that ${reason}: *${alias.source}`,
          allowed: 'an alias below the anchor of that name',
          source: place(alias.range?.[0] ?? 0),
        });
      }
    },
  });
  return problems;
}

/** The document as plain data; a problem where aliases multiply without end. */
function toPlain(document: Document, name: string): Pick<SourceFile, 'value' | 'problems'> {
  try {
    return { value: document.toJS() ?? undefined, problems: [] };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const problem = { path: '', message: `is not YAML: ${reason}`, allowed: 'one YAML document', source: name };
    return { value: undefined, problems: [problem] };
  }
}

function locate(document: Document, path: SettingPath, place: Place): string | undefined {
  if (path.length === 0) {
    return undefined;
  }
  const node = document.getIn(path, true);
  return isNode(node) && node.range !== null && node.range !== undefined ? place(node.range[0]) : undefined;
}

/**
 * Reads a YAML file.
 *
 * @param folder what the file's name in messages is relative to
 * @throws Error of the file system when the file can't be read
 */
export function readSourceFile(path: string, folder: string): SourceFile {
  const name = relative(folder, path);
  const lines = new LineCounter();
  const document = parseDocument(readFileSync(path, 'utf8'), { lineCounter: lines });
  const place = placer(name, lines);
  const problems = [...syntaxProblems(document, place), ...aliasProblems(document, place)];
  return {
    name,
    ...(problems.length === 0 ? toPlain(document, name) : { value: undefined, problems }),
    locate: (wanted) => locate(document, wanted, place),
  };
}
