import { isFreeMap, isOpen, type SchemaNode } from '../../settings/schema.ts';

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

const literal = (value: unknown): string => (typeof value === 'string' ? `'${value}'` : String(value));

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
 * The type of what may stand at a place of consumer.yaml.
 *
 * @throws Error for a schema that this generator has no type for
 */
export function propsType(node: SchemaNode, path: readonly string[]): PropsType {
  if (isOpen(node)) {
    return plain('unknown');
  }
  if (node.enum !== undefined) {
    return plain(node.enum.map(literal).join(' | '));
  }
  if (node.const !== undefined) {
    return plain(literal(node.const));
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
