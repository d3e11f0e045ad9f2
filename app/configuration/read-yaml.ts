import { type Document, LineCounter, parseAllDocuments, visit } from 'yaml';
import type { Problem } from '../../contract/problem.ts';
import { isOpen, type SchemaNode } from '../../contract/schema-node.ts';
import { environmentName } from '../../contract/setting-list.ts';
import { formatPath } from '../../contract/setting-path.ts';
import { bindKey } from './bind-key.ts';
import { convert } from './convert-text.ts';
import { resolvePlaceholders } from './resolve-placeholders.ts';
import type { SettingValue } from './setting-value.ts';
import { type LocatedDocument, placeOf, placeOfValue, type RawPath } from './yaml-place.ts';

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

function unresolved(path: string, name: string, source: string): Problem {
  const variable = /^[A-Z0-9_]+$/.test(name) ? name : environmentName(name);
  return {
    path,
    message: `refers to \${${name}}, which is not set`,
    allowed: `set the environment variable ${variable}, or give a default: \${${name}:value}`,
    source,
  };
}

/** Replaces the placeholders in every text of a value and collects the names that are not known. */
function resolveTexts(value: unknown, lookup: YamlInput['lookup'], missing: string[]): unknown {
  if (typeof value === 'string') {
    const resolved = resolvePlaceholders(value, lookup);
    missing.push(...resolved.missing);
    return resolved.text;
  }
  if (Array.isArray(value)) {
    return value.map((item) => resolveTexts(item, lookup, missing));
  }
  return typeof value === 'object' && value !== null
    ? Object.fromEntries(Object.entries(value).map(([key, item]) => [key, resolveTexts(item, lookup, missing)]))
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
  const missing: string[] = [];
  const value = convert(schema, resolveTexts(raw, context.lookup, missing));
  return {
    path,
    value,
    source,
    ...(Array.isArray(raw) && { itemSources: raw.map((_item, index) => placeOfValue(context, [...rawPath, index])) }),
    ...(missing.length > 0 && { problems: missing.map((name) => unresolved(formatPath(path), name, source)) }),
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

/** An alias to something that it is a part of has no end as plain data. */
function endlessAliases(context: DocumentContext): readonly Problem[] {
  const problems: Problem[] = [];
  visit(context.document, {
    Alias: (_key, alias, ancestors) => {
      const anchored = alias.resolve(context.document);
      if (anchored !== undefined && ancestors.includes(anchored)) {
        const reason = `the alias *${alias.source} stands inside of what it names`;
        problems.push(invalid(reason, placeOf(context, alias.range?.[0] ?? 0)));
      }
    },
  });
  return problems;
}

/** The document as plain data; a problem where aliases multiply without end or name nothing. */
function toPlain(document: Document, source: string): { readonly raw: unknown } | { readonly problem: Problem } {
  try {
    return { raw: document.toJS() };
  } catch (error) {
    return { problem: invalid(error instanceof Error ? error.message : String(error), source) };
  }
}

function readDocument(context: DocumentContext): YamlSettings {
  const { document, name, schema } = context;
  const syntax = document.errors.map((error) => invalid(error.message, placeOf(context, error.pos[0])));
  const errors = [...syntax, ...endlessAliases(context)];
  if (errors.length > 0) {
    return { values: [], problems: errors };
  }
  keepTexts(document);
  const plain = toPlain(document, name);
  return 'problem' in plain
    ? { values: [], problems: [plain.problem] }
    : { values: markRepeated(readNode(context, schema, [], [], plain.raw)), problems: [] };
}

/**
 * The settings in a YAML file, in its order; of several documents the later ones come later, so that they win.
 * Placeholders are resolved, keys may be written in any of the usual ways, and a key without a value counts as not there.
 */
export function readYaml(input: YamlInput): YamlSettings {
  const lines = new LineCounter();
  const documents = parseAllDocuments(input.text, { lineCounter: lines, prettyErrors: false, merge: true });
  const read = [...documents].map((document) => readDocument({ ...input, document, lines }));
  return { values: read.flatMap(({ values }) => values), problems: read.flatMap(({ problems }) => problems) };
}
