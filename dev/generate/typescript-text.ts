import { consumerPath } from '../../deployment/sections/application.ts';
import { compileSchema } from '../../settings/schema/compile-schema.ts';
import { isFreeMap, isOpen, type SchemaNode } from '../../settings/schema/schema.ts';

/** Width of a doc comment. */
const WIDTH = 118;

/** Longest default: three lines of a doc comment. */
const LONGEST_DEFAULT = 250;

/** More levels than any section of consumer.yaml has. */
const DEEPEST = 10;

/** A TypeScript type as text, and the sections for which it names an interface. */
export interface PropsType {
  readonly text: string;
  readonly interfaces: readonly {
    readonly name: string;
    readonly path: readonly string[];
    readonly node: SchemaNode;
  }[];
}

const pascalCase = (words: string): string =>
  words.replaceAll(/(?:^|-)(.)/g, (_match, first: string) => first.toUpperCase());

/** Name of the interface of a section: `['image']` is `ImageProps`. */
const interfaceName = (path: readonly string[]): string => `${path.map(pascalCase).join('')}Props`;

const SCALARS: Readonly<Record<string, string>> = {
  string: 'string',
  boolean: 'boolean',
  integer: 'number',
  number: 'number',
};

const scalarText = (value: unknown): string => (typeof value === 'string' ? `'${value}'` : String(value));

const plain = (text: string): PropsType => ({ text, interfaces: [] });

function listOf(items: SchemaNode, path: readonly string[]): PropsType {
  const { text, interfaces } = propsType(items, path);
  return { text: `readonly ${text.includes('|') ? `(${text})` : text}[]`, interfaces };
}

function mapOf(node: SchemaNode, path: readonly string[]): PropsType {
  const values = Object.values(node.patternProperties ?? {});
  const value = values[0] ?? (node.additionalProperties as SchemaNode);
  const { text, interfaces } = propsType(value, path);
  return { text: `Readonly<Record<string, ${text}>>`, interfaces };
}

function unionOf(nodes: readonly SchemaNode[], path: readonly string[]): PropsType {
  const types = nodes.map((each) => propsType(each, path));
  return {
    text: [...new Set(types.map(({ text }) => text))].join(' | '),
    interfaces: types.flatMap(({ interfaces }) => interfaces),
  };
}

/**
 * The type of the values that the schema of a path of consumer.yaml allows.
 *
 * @throws Error for a schema that this generator has no type for
 */
export function propsType(node: SchemaNode, path: readonly string[]): PropsType {
  if (isOpen(node)) {
    return plain('unknown');
  }
  if (node.enum !== undefined) {
    return plain(node.enum.map(scalarText).join(' | '));
  }
  if (node.const !== undefined) {
    return plain(scalarText(node.const));
  }
  if (node.anyOf !== undefined) {
    return unionOf(node.anyOf, path);
  }
  if (node.items !== undefined) {
    return listOf(node.items, path);
  }
  if (isFreeMap(node)) {
    return mapOf(node, path);
  }
  if (node.properties !== undefined) {
    const name = interfaceName(path);
    return { text: name, interfaces: [{ name, path, node }] };
  }
  const scalar = SCALARS[node.type ?? ''];
  if (scalar === undefined) {
    throw new Error(`${path.join('.')}: no TypeScript type for ${JSON.stringify(node)}`);
  }
  return plain(scalar);
}

/** A key as TypeScript writes it: Spring's own names have dashes. */
export const propertyName = (key: string): string => (/^\w+$/.test(key) ? key : `'${key}'`);

/** @param maps number of levels of maps to write out */
function literal(value: unknown, maps: number): string {
  if (Array.isArray(value)) {
    return `[${value.map((each) => literal(each, maps)).join(', ')}]`;
  }
  if (typeof value !== 'object' || value === null) {
    return scalarText(value);
  }
  const entries = Object.entries(value);
  if (entries.length === 0) {
    return '{}';
  }
  const inner = entries.map(([key, each]) => `${propertyName(consumerPath(key))}: ${literal(each, maps - 1)}`);
  return maps === 0 ? '{ ... }' : `{ ${inner.join(', ')} }`;
}

/** The value of a key that is left out, with the inner defaults that the check fills in. */
function completeDefault(node: SchemaNode): unknown {
  const filled: { value?: unknown } = {};
  compileSchema({ type: 'object', properties: { value: node } } as SchemaNode)(filled);
  return filled.value;
}

const isEmptyMap = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.keys(value).length === 0;

const withoutEmptyMaps = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).filter(([, each]) => !isEmptyMap(each)))
    : value;

/**
 * A default as TypeScript writes it; the innermost maps of a long one are `{ ... }`, and empty maps and lists are left
 * out of one that is still long.
 */
export function defaultText(node: SchemaNode): string {
  const value = completeDefault(node);
  let maps = DEEPEST;
  while (maps > 1 && literal(value, maps).length > LONGEST_DEFAULT) {
    maps -= 1;
  }
  const text = literal(value, maps);
  return text.length > LONGEST_DEFAULT ? literal(withoutEmptyMaps(value), maps) : text;
}

function wrap(text: string, width: number): string[] {
  const lines = [''];
  for (const word of text.split(/\s+/)) {
    const line = lines[lines.length - 1] ?? '';
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(word);
    } else {
      lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
    }
  }
  return lines;
}

/** A doc comment of paragraphs, wrapped, with an empty line between them. */
export function docComment(paragraphs: readonly string[], indent: string): string {
  const width = WIDTH - indent.length - ' * '.length;
  const lines = paragraphs.flatMap((text, index) => [...(index === 0 ? [] : ['']), ...wrap(text, width)]);
  const [only] = lines;
  if (lines.length === 1 && only !== undefined) {
    return `${indent}/** ${only} */`;
  }
  return [`${indent}/**`, ...lines.map((line) => `${indent} * ${line}`.trimEnd()), `${indent} */`].join('\n');
}
