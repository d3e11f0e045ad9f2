import { type Document, isCollection, isMap, isNode, LineCounter, type Node, parseAllDocuments, visit } from 'yaml';
import { formatPath } from '../../settings/document.ts';
import type { Problem } from '../../settings/problem.ts';
import { isOpen, type SchemaNode } from '../../settings/schema.ts';
import { environmentName } from '../../settings/setting-list.ts';
import { MASK, shownKey } from '../../settings/shown-value.ts';
import { nodeAt, pairAt, plainData, YAML_OPTIONS, yamlMistakes } from '../../settings/yaml-document.ts';
import type { SettingValue } from './merge-values.ts';
import { DEEPEST_PLACEHOLDER, isNestedTooDeep, resolvePlaceholders } from './placeholders.ts';
import { bindKey, convert } from './relaxed-binding.ts';

/** What a YAML file gives, or why it cannot be read. */
export interface YamlSettings {
  readonly values: readonly SettingValue[];
  /** Errors of the YAML itself, each with its line and column. */
  readonly problems: readonly Problem[];
}

/** A YAML file on its way to settings. */
export interface YamlInput {
  readonly text: string;
  /** The file's name as messages show it. */
  readonly name: string;
  readonly schema: SchemaNode;
  /** What a placeholder's name stands for; `undefined` when nothing is known of it. */
  readonly lookup: (name: string) => string | undefined;
}

/** One document of the file, and what its values are read with. */
interface DocumentContext extends LocatedDocument, Pick<YamlInput, 'schema' | 'lookup'> {}

/** @param name as it was written; it may be a part of a password that holds a dollar and braces */
function unresolved(path: string, name: string, source: string): Problem {
  const shown = shownKey(name);
  const variable = /^[A-Z0-9_]+$/.test(name) ? name : environmentName(name);
  const named = shown === MASK ? 'the environment variable of that name' : `the environment variable ${variable}`;
  const asText = `; \\\${${shown}} is the text itself`;
  return {
    path,
    message: `refers to \${${shown}}, which is not set`,
    allowed: `set ${named}, or give a default: \${${shown}:value}${shown === MASK ? asText : ''}`,
    source,
  };
}

const tooDeep = (path: string, source: string): Problem => ({
  path,
  message: `has placeholders more than ${DEEPEST_PLACEHOLDER} deep inside of each other`,
  allowed: 'a text, or a placeholder with a default',
  source,
});

/** What kept placeholders of a value from being replaced. */
interface Unresolved {
  readonly names: Set<string>;
  isTooDeep: boolean;
}

/** Replaces the placeholders in every text of a value and collects what is wrong with them. */
function resolveTexts(value: unknown, lookup: YamlInput['lookup'], wrong: Unresolved): unknown {
  if (typeof value === 'string') {
    if (isNestedTooDeep(value)) {
      wrong.isTooDeep = true;
      return value;
    }
    const resolved = resolvePlaceholders(value, lookup);
    for (const name of resolved.missing) {
      wrong.names.add(name);
    }
    return resolved.text;
  }
  if (Array.isArray(value)) {
    return value.map((item) => resolveTexts(item, lookup, wrong));
  }
  return typeof value === 'object' && value !== null
    ? Object.fromEntries(Object.entries(value).map(([key, item]) => [key, resolveTexts(item, lookup, wrong)]))
    : value;
}

function readValue(
  context: DocumentContext,
  schema: SchemaNode | undefined,
  path: readonly string[],
  rawPath: RawPath,
  raw: unknown,
): SettingValue {
  const source = placeOfValue(context, rawPath);
  const wrong: Unresolved = { names: new Set(), isTooDeep: false };
  const value = convert(schema, resolveTexts(raw, context.lookup, wrong));
  const problems = [
    ...(wrong.isTooDeep ? [tooDeep(formatPath(path), source)] : []),
    ...[...wrong.names].map((name) => unresolved(formatPath(path), name, source)),
  ];
  return {
    path,
    value,
    source,
    ...(Array.isArray(raw) && { itemSources: raw.map((_item, index) => placeOfValue(context, [...rawPath, index])) }),
    ...(problems.length > 0 && { problems }),
  };
}

function readNode(
  context: DocumentContext,
  schema: SchemaNode | undefined,
  path: readonly string[],
  rawPath: RawPath,
  raw: unknown,
): readonly SettingValue[] {
  if (raw === null || raw === undefined) {
    return [];
  }
  const children = typeof raw === 'object' && !Array.isArray(raw) ? Object.entries(raw) : [];
  const isSection = schema !== undefined && (schema.type === 'object' || isOpen(schema));
  if (!isSection || children.length === 0) {
    return [readValue(context, schema, path, rawPath, raw)];
  }
  return children.flatMap(([key, child]) => {
    const bound = bindKey(schema, key);
    return readNode(context, bound.schema, [...path, ...bound.segments], [...rawPath, key], child);
  });
}

/** Two spellings of one key are two keys for YAML: only here it shows that they mean the same setting. */
function markRepeated(values: readonly SettingValue[]): readonly SettingValue[] {
  const seen = new Map<string, SettingValue>();
  return values.map((value) => {
    const path = formatPath(value.path);
    const first = seen.get(path);
    seen.set(path, value);
    if (first === undefined) {
      return value;
    }
    const message = `is given twice: at ${first.source} and at ${value.source}`;
    return { ...value, problems: [{ path, message, allowed: 'one spelling of the key, once' }] };
  });
}

/** Gives every scalar the text it was written as: `0123` may be a password, and the schema knows what is a number. */
function keepTexts(document: Document): void {
  visit(document, {
    Scalar: (key, node) => {
      if (key !== 'key' && node.value !== null) {
        node.value = node.source ?? String(node.value);
      }
    },
  });
}

const invalid = (reason: string, source: string): Problem => ({
  path: '',
  message: `is not valid YAML: ${reason}`,
  allowed: 'YAML 1.2',
  source,
});

function readDocument(context: DocumentContext): YamlSettings {
  const { document, name, schema } = context;
  const mistakes = yamlMistakes(document);
  if (mistakes.length > 0) {
    return { values: [], problems: mistakes.map(({ reason, offset }) => invalid(reason, placeOf(context, offset))) };
  }
  keepTexts(document);
  const plain = plainData(document);
  return 'reason' in plain
    ? { values: [], problems: [invalid(plain.reason, name)] }
    : { values: markRepeated(readNode(context, schema, [], [], plain.raw)), problems: [] };
}

/**
 * The settings in a YAML file, in its order; of several documents the later ones come later, so that they win.
 * Placeholders are resolved, keys may be written in any of the usual ways, and a key without a value counts as not there.
 */
export function readYaml(input: YamlInput): YamlSettings {
  const lines = new LineCounter();
  const documents = parseAllDocuments(input.text, { ...YAML_OPTIONS, lineCounter: lines, merge: true });
  const read = [...documents].map((document) => readDocument({ ...input, document, lines }));
  return { values: read.flatMap(({ values }) => values), problems: read.flatMap(({ problems }) => problems) };
}

/** Keys and list positions as the YAML has them, before they are bound to settings. */
type RawPath = readonly (string | number)[];

/** A YAML document, the lines of its file and the file's name for messages. */
interface LocatedDocument {
  readonly document: Document;
  readonly lines: LineCounter;
  readonly name: string;
}

/** A character of the file as `application.yml:3:9`. */
function placeOf({ lines, name }: LocatedDocument, offset: number): string {
  const { line, col } = lines.linePos(offset);
  return `${name}:${line}:${col}`;
}

/** The node to point at: a scalar itself, of a section its key, of what an alias brings in the alias. */
function pointedAt(document: Document, path: RawPath): Node | undefined {
  const node = nodeAt(document, path);
  if (node !== undefined && !isCollection(node)) {
    return node;
  }
  const parent = nodeAt(document, path.slice(0, -1));
  const key = isMap(parent) ? pairAt(parent, path.at(-1))?.key : undefined;
  return isNode(key) ? key : node;
}

/** Where a value stands; for what a merge key or an alias brings in, the nearest place above it. */
function placeOfValue(located: LocatedDocument, path: RawPath): string {
  for (let length = path.length; length > 0; length -= 1) {
    const range = pointedAt(located.document, path.slice(0, length))?.range;
    if (range !== undefined && range !== null) {
      return placeOf(located, range[0]);
    }
  }
  return located.name;
}
