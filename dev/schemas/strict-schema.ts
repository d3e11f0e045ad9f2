/** JSON Schema as plain data. */
export type Schema = Readonly<Record<string, unknown>>;

const DEFINITIONS = '#/definitions/';

const isObject = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const LABEL_NAME = '[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?';
const DNS_NAME = '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*';

/** Checks of the API server that its schema leaves out. */
const UNPUBLISHED: Readonly<Record<string, Schema>> = {
  'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta': {
    name: { type: 'string', pattern: `^${DNS_NAME}$`, maxLength: 253 },
    labels: {
      type: 'object',
      propertyNames: { pattern: `^(${DNS_NAME}/)?${LABEL_NAME}$` },
      additionalProperties: { type: 'string', pattern: `^(${LABEL_NAME})?$` },
    },
  },
};

/** Amounts and ports are numbers or texts; the published schema has only texts. */
const SCALARS: Readonly<Record<string, Schema>> = {
  'io.k8s.apimachinery.pkg.api.resource.Quantity': {
    type: ['string', 'number'],
    pattern: '^[+-]?[0-9]+(\\.[0-9]+)?([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?$',
  },
  'io.k8s.apimachinery.pkg.util.intstr.IntOrString': { type: ['integer', 'string'] },
};

/** Annotations, of no use to a check. `description` and the like may be names of properties, too. */
const ANNOTATIONS: ReadonlySet<string> = new Set(['description', 'title', 'example', 'externalDocs', 'default']);

/** JavaScript has no `(?i)` for a case-insensitive pattern. */
function readablePattern(pattern: string): string {
  return pattern.includes('(?i)')
    ? pattern.replace('(?i)', '').replaceAll(/[a-z]/g, (letter) => `[${letter.toUpperCase()}${letter}]`)
    : pattern;
}

const strictMap = (properties: Schema): Schema =>
  Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, strictSchema(schema)]));

/** A published schema without its annotations; its objects refuse unknown fields. */
export function strictSchema(node: unknown): unknown {
  if (Array.isArray(node)) {
    return node.map(strictSchema);
  }
  if (!isObject(node)) {
    return node;
  }
  if (node['x-kubernetes-int-or-string'] === true) {
    return { type: ['integer', 'string'] };
  }
  const kept = Object.entries(node).filter(([key]) => !(ANNOTATIONS.has(key) || key.startsWith('x-kubernetes-')));
  const strict = kept.map(([key, value]): [string, unknown] => {
    if (key === 'properties' && isObject(value)) {
      return [key, strictMap(value)];
    }
    return [key, key === 'pattern' ? readablePattern(String(value)) : strictSchema(value)];
  });
  const isFree = node['x-kubernetes-preserve-unknown-fields'] === true || 'additionalProperties' in node;
  return Object.fromEntries(
    isObject(node['properties']) && !isFree ? [...strict, ['additionalProperties', false]] : strict,
  );
}

function references(node: unknown): string[] {
  if (Array.isArray(node)) {
    return node.flatMap(references);
  }
  if (!isObject(node)) {
    return [];
  }
  const { $ref } = node;
  return [
    ...(typeof $ref === 'string' ? [$ref.slice(DEFINITIONS.length)] : []),
    ...Object.values(node).flatMap(references),
  ];
}

function strictDefinition(name: string, published: unknown): unknown {
  const scalar = SCALARS[name];
  const strict = strictSchema(published) as Schema;
  const unpublished = UNPUBLISHED[name];
  if (scalar !== undefined || unpublished === undefined) {
    return scalar ?? strict;
  }
  return { ...strict, properties: { ...(strict['properties'] as Schema), ...unpublished } };
}

/** The named definitions with all that they refer to, strict. */
export function strictDefinitions(definitions: Schema, names: readonly string[]): Schema {
  const found = new Map<string, unknown>();
  const open = [...names];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (!found.has(name)) {
      const strict = strictDefinition(name, definitions[name]);
      found.set(name, strict);
      open.push(...references(strict));
    }
  }
  return Object.fromEntries([...found].sort(([one], [other]) => (one < other ? -1 : 1)));
}
