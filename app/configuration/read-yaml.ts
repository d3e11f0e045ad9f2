import { type Document, isCollection, isMap, isNode, LineCounter, type Node, parseAllDocuments, visit } from 'yaml';
import { formatPath, type SettingPath } from '../../settings/schema/document.ts';
import type { Problem } from '../../settings/schema/problem.ts';
import { isListOfMaps, isOpen, mapBranch, type SchemaNode } from '../../settings/schema/schema.ts';
import { nodeAt, pairAt, plainData, YAML_OPTIONS, yamlMistakes } from '../../settings/schema/yaml-document.ts';
import { joinLists, type SettingValue } from './merge-values.ts';
import { type PlaceholderLookup, resolveValue } from './placeholders.ts';
import { bindKey, convert } from './relaxed-binding.ts';

/** What a YAML file gives, or why it cannot be read. */
export interface YamlSettings {
  readonly values: readonly SettingValue[];
  /** Errors of the YAML itself, each with its line and column. */
  readonly problems: readonly Problem[];
}

/** A YAML file, and the schema and placeholders that it is read with. */
export interface YamlInput {
  readonly text: string;
  /** The file's name as messages show it. */
  readonly name: string;
  readonly schema: SchemaNode;
  readonly lookup: PlaceholderLookup;
}

/** Keys and list positions as the YAML has them, before they are bound to settings. */
type RawPath = readonly (string | number)[];

/** One document of the file; `lines` finds a character's line and column in the whole file. */
interface DocumentContext extends Omit<YamlInput, 'text'> {
  readonly document: Document;
  readonly lines: LineCounter;
}

/**
 * The settings in a YAML file, in its order; of several documents the later ones come later, so that they win.
 * Placeholders are resolved, keys may be written in any of the usual ways, and a key without a value counts as not
 * there.
 */
export function readYaml(input: YamlInput): YamlSettings {
  const lines = new LineCounter();
  const documents = parseAllDocuments(input.text, { ...YAML_OPTIONS, lineCounter: lines, merge: true });
  const read = [...documents].map((document) => readDocument({ ...input, document, lines }));
  return { values: read.flatMap(({ values }) => values), problems: read.flatMap(({ problems }) => problems) };
}

function readValue(
  context: DocumentContext,
  schema: SchemaNode | undefined,
  path: SettingPath,
  rawPath: RawPath,
  raw: unknown,
): SettingValue {
  const source = placeOfValue(context, rawPath);
  const { resolved, problems } = resolveValue(raw, context.lookup, { path: formatPath(path), source });
  return {
    path,
    value: convert(schema, resolved),
    source,
    ...(Array.isArray(raw) && {
      innerSources: new Map(
        raw.map((_item, index) => [formatPath([...path, index]), placeOfValue(context, [...rawPath, index])]),
      ),
    }),
    ...(problems.length > 0 && { problems }),
  };
}

function readNode(
  context: DocumentContext,
  schema: SchemaNode | undefined,
  path: SettingPath,
  rawPath: RawPath,
  raw: unknown,
): readonly SettingValue[] {
  if (raw === null || raw === undefined) {
    return [];
  }
  if (Array.isArray(raw) && raw.length > 0 && schema !== undefined && isListOfMaps(schema)) {
    return raw.flatMap((item, index) =>
      readNode(context, schema.items, [...path, index], [...rawPath, index], item ?? {}),
    );
  }
  const children = typeof raw === 'object' && !Array.isArray(raw) ? Object.entries(raw) : [];
  const map = schema !== undefined && isOpen(schema) ? schema : schema && mapBranch(schema);
  if (map === undefined || children.length === 0) {
    return [readValue(context, schema, path, rawPath, raw)];
  }
  return children.flatMap(([key, child]) => {
    const bound = bindKey(map, key);
    return readNode(context, bound.schema, [...path, ...bound.segments], [...rawPath, key], child);
  });
}

/** Reports two spellings of one key: YAML takes them for two keys. */
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

/** Gives every scalar its source text: `0123` may be a password, and the schema says which values are numbers. */
function keepTexts(document: Document): void {
  visit(document, {
    Scalar: (key, node) => {
      if (key !== 'key' && node.value !== null) {
        node.value = node.source ?? String(node.value);
      }
    },
  });
}

const invalidYaml = (reason: string, source: string): Problem => ({
  path: '',
  message: `is not valid YAML: ${reason}`,
  allowed: 'YAML 1.2',
  source,
});

function readDocument(context: DocumentContext): YamlSettings {
  const { document, name, schema } = context;
  const mistakes = yamlMistakes(document);
  if (mistakes.length > 0) {
    return {
      values: [],
      problems: mistakes.map(({ reason, offset }) => invalidYaml(reason, yamlPlace(context, offset))),
    };
  }
  keepTexts(document);
  const plain = plainData(document);
  if ('reason' in plain) {
    return { values: [], problems: [invalidYaml(plain.reason, name)] };
  }
  const problems = flatSections(context, schema, [], plain.raw);
  return {
    values: problems.length > 0 ? [] : joinLists(markRepeated(readNode(context, schema, [], [], plain.raw))),
    problems,
  };
}

/**
 * Sections whose keys are at the level of the section itself. Each is one problem: its keys would be unknown ones
 * where they are, and missing where they belong.
 */
function flatSections(
  context: DocumentContext,
  schema: SchemaNode,
  rawPath: RawPath,
  raw: unknown,
): readonly Problem[] {
  const entries = typeof raw === 'object' && raw !== null && !Array.isArray(raw) ? Object.entries(raw) : [];
  return entries.flatMap(([key, child], index) => {
    const section = mapBranch(bindKey(schema, key).schema ?? {});
    if (section === undefined || isOpen(section)) {
      return [];
    }
    const path = [...rawPath, key];
    return child === null
      ? flatSection(context, { parent: schema, section, path }, entries.slice(index + 1))
      : flatSections(context, section, path, child);
  });
}

function flatSection(
  context: DocumentContext,
  { parent, section, path }: { readonly parent: SchemaNode; readonly section: SchemaNode; readonly path: RawPath },
  following: readonly (readonly [string, unknown])[],
): readonly Problem[] {
  const isOfParent = (key: string) => bindKey(parent, key).schema !== undefined;
  const other = following.findIndex(([key]) => isOfParent(key) || bindKey(section, key).schema === undefined);
  const keys = following.slice(0, other < 0 ? following.length : other).map(([key]) => key);
  if (keys.length === 0) {
    return [];
  }
  const names = keys.map((key) => bindKey(section, key).segments[0]).join(', ');
  return [
    {
      path: formatPath(path),
      message: `has no keys: those below it (${names}) are not indented deeper`,
      allowed: 'a section with its keys indented deeper than its name',
      source: placeOfValue(context, path),
    },
  ];
}

/** A character of the file as `application.yml:3:9`. */
function yamlPlace({ lines, name }: DocumentContext, offset: number): string {
  const { line, col } = lines.linePos(offset);
  return `${name}:${line}:${col}`;
}

/** The node that a message points at: a scalar itself, a section's key, or the alias of a value. */
function pointedAt(document: Document, path: RawPath): Node | undefined {
  const node = nodeAt(document, path);
  if (node !== undefined && !isCollection(node)) {
    return node;
  }
  const parent = nodeAt(document, path.slice(0, -1));
  const key = isMap(parent) ? pairAt(parent, path.at(-1))?.key : undefined;
  return isNode(key) ? key : node;
}

/** The place of a value; for one that a merge key or an alias brings in, the nearest place above it. */
function placeOfValue(context: DocumentContext, path: RawPath): string {
  for (let length = path.length; length > 0; length -= 1) {
    const range = pointedAt(context.document, path.slice(0, length))?.range;
    if (range !== undefined && range !== null) {
      return yamlPlace(context, range[0]);
    }
  }
  return context.name;
}
