import type { SchemaNode } from '../../contract/schema-node.ts';

/** Which liberties a file has beside the schema that the finished settings are checked with. */
export interface SchemaUse {
  /** Whether any value may be, or hold, a placeholder such as `${NAME:default}`. */
  readonly placeholders: boolean;
  /** Whether the file may leave everything out and remove with null, as an overlay does. */
  readonly isOverlay: boolean;
}

const PLACEHOLDER: SchemaNode = { type: 'string', pattern: '\\$\\{.+\\}' };

const mapValues = <T, U>(object: Readonly<Record<string, T>>, change: (value: T) => U): Readonly<Record<string, U>> =>
  Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]));

function withAlternatives(node: SchemaNode, use: SchemaUse): SchemaNode {
  const isScalar = node.type !== 'object';
  const others: SchemaNode[] = [];
  if (use.placeholders && isScalar && (node.type !== 'string' || node.pattern !== undefined)) {
    others.push(PLACEHOLDER);
  }
  if (use.isOverlay) {
    others.push({ type: 'null' });
  }
  if (others.length === 0) {
    return node;
  }
  const { description, default: fallback, ...rest } = node;
  const annotations = {
    ...(description !== undefined && { description }),
    ...(fallback !== undefined && { default: fallback }),
  };
  return { ...annotations, anyOf: [rest, ...others] };
}

function publishChild(node: SchemaNode, use: SchemaUse): SchemaNode {
  return withAlternatives(publishNode(node, use), use);
}

function publishNode(node: SchemaNode, use: SchemaUse): SchemaNode {
  const { required = [], properties, patternProperties, items, ...rest } = node;
  const mandatory = use.isOverlay ? [] : required.filter((key) => properties?.[key]?.default === undefined);
  return {
    ...rest,
    ...(items !== undefined && { items: publishChild(items, { ...use, isOverlay: false }) }),
    ...(properties !== undefined && { properties: mapValues(properties, (child) => publishChild(child, use)) }),
    ...(patternProperties !== undefined && {
      patternProperties: mapValues(patternProperties, (child) => publishChild(child, use)),
    }),
    ...(mandatory.length > 0 && { required: mandatory }),
  };
}

/**
 * The schema as an editor wants it for a file that a person writes: what has a default may be left out.
 *
 * @param schema the one that the complete settings are checked with.
 */
export function publishSchema(schema: SchemaNode, use: SchemaUse): string {
  const published = publishNode(JSON.parse(JSON.stringify(schema)) as SchemaNode, use);
  return `${JSON.stringify({ $schema: 'http://json-schema.org/draft-07/schema#', ...published }, undefined, 2)}\n`;
}
