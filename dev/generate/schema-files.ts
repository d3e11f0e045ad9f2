import { ConsumerFileSchema } from '../../deployment/consumer-file.ts';
import {
  camelCase,
  freeValue,
  isListOfMaps,
  isMandatory,
  isOpen,
  type SchemaNode,
} from '../../settings/schema/schema.ts';

/** JSON Schema with the keywords that only the files of consumers need. */
type PublishedSchema = SchemaNode & Readonly<Record<string, unknown>>;

const CONSUMER = '#/definitions/consumer';

/** An overlay: any part of a consumer, and null to remove one. */
function overlay(): PublishedSchema {
  const {
    $id: _id,
    title: _title,
    ...part
  } = publishSchema(ConsumerFileSchema as SchemaNode, {
    isPartial: true,
    nullRemoves: true,
    isRelaxed: false,
  });
  return part;
}

const consumers = (description: string): PublishedSchema => ({
  description,
  type: 'array',
  minItems: 1,
  items: { allOf: [{ $ref: CONSUMER }, { required: ['name'] }] } as SchemaNode,
});

const base: SchemaNode = {
  description:
    'What this file is by itself. template: only what the files in environments/ have in common; it need not be complete, and renders to nothing.',
  enum: ['consumer', 'template'],
  default: 'consumer',
};

/** Only the `required` of a schema, at every level. */
function requiredPart(node: SchemaNode): PublishedSchema {
  const mandatory = (node.required ?? []).filter((key) => isMandatory(node, key));
  const inner = Object.entries(node.properties ?? {}).map(([key, child]) => [key, requiredPart(child)] as const);
  const properties = inner.filter(([, child]) => Object.keys(child).length > 0);
  return {
    ...(mandatory.length > 0 && { required: mandatory }),
    ...(properties.length > 0 && { properties: Object.fromEntries(properties) }),
  };
}

/** The schema of consumer.yaml: one complete consumer, or a list of several and what they have in common. */
export function consumerFileSchema(): PublishedSchema {
  const schema = ConsumerFileSchema as SchemaNode;
  const common = publishSchema(schema, { isPartial: true, nullRemoves: false, isRelaxed: false });
  const list = consumers('Several consumers: each is laid over the part above the list, and has another name.');
  return {
    ...common,
    properties: { base, ...common.properties, consumers: list },
    if: { required: ['consumers'] },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { properties: { name: { not: {} } } },
    else: { if: { required: ['base'], properties: { base: { const: 'template' } } }, else: requiredPart(schema) },
    definitions: { consumer: overlay() },
  };
}

/** The schema of a file in environments/: any part of consumer.yaml. */
export function environmentFileSchema(): PublishedSchema {
  const { $id, title } = ConsumerFileSchema as SchemaNode;
  const part = overlay();
  const references = Object.keys(part.properties ?? {}).map((key) => [
    key,
    { $ref: `${CONSUMER}/properties/${key}` } as SchemaNode,
  ]);
  return {
    ...($id !== undefined && { $id: $id.replace('consumer.schema', 'environment.schema') }),
    ...(title !== undefined && { title }),
    type: 'object',
    additionalProperties: false,
    properties: {
      ...(Object.fromEntries(references) as Record<string, SchemaNode>),
      consumers: consumers(
        'Laid over the consumers of consumer.yaml by their names; another name is one more consumer.',
      ),
    },
    definitions: { consumer: part },
  };
}

/** What a file may do beyond the schema of the complete settings. */
interface SchemaUse {
  /** Whether nothing is required in it, as other sources may give the rest. */
  readonly isPartial: boolean;
  /** Whether null removes a value that the file below it gives. */
  readonly nullRemoves: boolean;
  /** Whether keys may be in kebab-case or dotted, and any value may hold a placeholder such as `${NAME:default}`. */
  readonly isRelaxed: boolean;
}

const PLACEHOLDER: SchemaNode = { type: 'string', pattern: '\\$\\{.+\\}' };

/** A list may be one text, its items separated by commas. */
const LIST_AS_TEXT: SchemaNode = { type: 'string', minLength: 1 };

const mapValues = <T, U>(object: Readonly<Record<string, T>>, change: (value: T) => U): Readonly<Record<string, U>> =>
  Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]));

function withAlternatives(node: SchemaNode, use: SchemaUse): SchemaNode {
  const isScalar = node.type !== 'object';
  const others: SchemaNode[] = [];
  if (isOpen(node)) {
    return node;
  }
  if (use.isRelaxed && isScalar && !isListOfMaps(node) && (node.type !== 'string' || node.pattern !== undefined)) {
    others.push(node.type === 'array' ? LIST_AS_TEXT : PLACEHOLDER);
  }
  if (use.nullRemoves) {
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

const kebabCase = (key: string): string => key.replaceAll(/[A-Z]/g, (capital) => `-${capital.toLowerCase()}`);

/**
 * The keys that an editor offers in a section, and after them their other spelling: for relaxed binding any, else
 * camelCase first where a setting is in kebab-case, as Spring Boot's are.
 */
function publishProperties(properties: Readonly<Record<string, SchemaNode>>, use: SchemaUse) {
  const published = mapValues(properties, (child) => publishChild(child, use));
  if (!use.isRelaxed) {
    const entries = Object.entries(published).map(([key, child]) => [camelCase(key), child, key] as const);
    const kebab = entries.filter(([name, , key]) => name !== key);
    return {
      ...Object.fromEntries(entries.map(([name, child]) => [name, child])),
      ...Object.fromEntries(kebab.map(([name, child, key]) => [key, { ...child, description: `As ${name}.` }])),
    };
  }
  const others = Object.entries(published).flatMap(([key, child]) => {
    const spelled = key.includes('-') ? camelCase(key) : kebabCase(key);
    return spelled === key ? [] : [[spelled, { ...child, description: `As ${key}.` }] as const];
  });
  return { ...published, ...Object.fromEntries(others) };
}

function publishPatterns(node: SchemaNode, use: SchemaUse) {
  // JSON Schema cannot follow a dotted key; the consumer checks it.
  const mayHoldDots = node.patternProperties === undefined || freeValue(node)?.type === 'object';
  const dotted = use.isRelaxed && mayHoldDots ? { '[.]': {} } : {};
  return { ...dotted, ...mapValues(node.patternProperties ?? {}, (child) => publishChild(child, use)) };
}

function publishNode(node: SchemaNode, use: SchemaUse): SchemaNode {
  const { required = [], properties, patternProperties: _replaced, items, ...rest } = node;
  const mandatory = use.isPartial ? [] : required.filter((key) => isMandatory(node, key));
  const patterns = node.type === 'object' ? publishPatterns(node, use) : {};
  return {
    ...rest,
    ...(items !== undefined && { items: publishChild(items, { ...use, isPartial: false, nullRemoves: false }) }),
    ...(properties !== undefined && { properties: publishProperties(properties, use) }),
    ...(Object.keys(patterns).length > 0 && { patternProperties: patterns }),
    ...(mandatory.length > 0 && { required: mandatory }),
  };
}

/** A schema as the text of its file. */
export function schemaText(node: object): string {
  return `${JSON.stringify({ $schema: 'http://json-schema.org/draft-07/schema#', ...node }, undefined, 2)}\n`;
}

/**
 * The schema of a hand-written file, for an editor: keys with a default are not required.
 *
 * @param schema that of the complete settings
 */
export function publishSchema(schema: SchemaNode, use: SchemaUse): SchemaNode {
  return publishNode(JSON.parse(JSON.stringify(schema)) as SchemaNode, use);
}
