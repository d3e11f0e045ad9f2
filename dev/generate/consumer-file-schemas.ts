import { ConsumerFileSchema } from '../../deployment/consumer-file.ts';
import { isMandatory, type SchemaNode } from '../../settings/schema.ts';
import { publishSchema } from './schema-files.ts';

/** JSON Schema with the keywords that only these two files need. */
type PublishedSchema = SchemaNode & Readonly<Record<string, unknown>>;

const CONSUMER = '#/definitions/consumer';

/** What is laid over something: any part of a consumer, and null where a part is to go. */
function laidOver(): PublishedSchema {
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

/** Of a schema only what must be there. */
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
  const list = consumers('Several consumers: each is laid over what stands above the list, and has a name of its own.');
  return {
    ...common,
    properties: { ...common.properties, consumers: list },
    if: { required: ['consumers'] },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { properties: { name: { not: {} } } },
    else: requiredPart(schema),
    definitions: { consumer: laidOver() },
  };
}

/** The schema of a file in environments/: any part of consumer.yaml. */
export function environmentFileSchema(): PublishedSchema {
  const { $id, title } = ConsumerFileSchema as SchemaNode;
  const part = laidOver();
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
