import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SchemaNode } from '../../settings/schema/schema.ts';
import { KUBERNETES_LIMITS } from './kubernetes-limits.ts';
import type { GeneratedFile } from './props.ts';

/** Types of Kubernetes that consumer.yaml takes in Kubernetes' own words. */
const TYPES = [
  'Affinity',
  'Container',
  'EnvFromSource',
  'EnvVar',
  'HostAlias',
  'PodDNSConfig',
  'TopologySpreadConstraint',
  'Volume',
  'VolumeMount',
] as const;

const PACKAGE = 'io.k8s.api.core.v1.';

/** The newest of the published schemas: a cluster that does not know a field yet drops it, or says so. */
const PUBLISHED = join(import.meta.dirname, '..', '..', 'test/manifests/schemas/kubernetes-1.35.schema.json');

/** What a published schema holds, as far as it is looked into. */
type Published = Readonly<Record<string, unknown>> & { readonly $ref?: string; readonly type?: unknown };

/** In words what two types at once mean: amounts and ports. */
const MIXED: Readonly<Record<string, string>> = {
  'string,number': 'an amount such as 100m, 64Mi or 1',
  'integer,string': 'a whole number or a text',
};

/** A schema that allows several types, in the keywords that this project's schemas have. */
function mixed(types: readonly string[], pattern: unknown): SchemaNode {
  const words = MIXED[types.join()];
  if (words === undefined) {
    throw new Error(`no words for a value of the types ${types.join()}: add them to MIXED`);
  }
  const branch = (type: string): SchemaNode => ({
    type,
    ...(type === 'string' && pattern !== undefined && { pattern: String(pattern) }),
  });
  return { anyOf: types.map(branch), 'x-allowed': words };
}

/** A map whose names have a pattern, in the keywords that this project's schemas have. */
function namedMap({ propertyNames, additionalProperties, ...others }: Published): Published {
  const { pattern } = (propertyNames ?? {}) as { readonly pattern?: string };
  return pattern === undefined
    ? { ...others, ...(additionalProperties !== undefined && { additionalProperties }) }
    : { ...others, patternProperties: { [pattern]: additionalProperties }, additionalProperties: false };
}

/** A type with what the API server checks of its values. @throws Error for a field that the type does not have */
function limited(type: SchemaNode, name: string): SchemaNode {
  const limits = Object.entries(KUBERNETES_LIMITS[name] ?? {}).map(([field, limit]) => {
    const published = type.properties?.[field];
    if (published === undefined) {
      throw new Error(`${name} of Kubernetes has no field ${field}: mend its limit`);
    }
    return [field, { ...published, ...limit }];
  });
  return limits.length === 0 ? type : { ...type, properties: { ...type.properties, ...Object.fromEntries(limits) } };
}

/** A schema without references, and without formats, which a check at synth would have to know. */
function inlined(node: Published, definitions: Readonly<Record<string, Published>>): SchemaNode {
  if (node.$ref !== undefined) {
    const name = node.$ref.split('/').at(-1) ?? '';
    return limited(inlined(definitions[name] ?? {}, definitions), name.split('.').at(-1) ?? '');
  }
  if (Array.isArray(node.type)) {
    return mixed(node.type as string[], node['pattern']);
  }
  const { format: _format, ...kept } = namedMap(node);
  const inner = (value: unknown): unknown => inlined(value as Published, definitions);
  const entries = Object.entries(kept).map(([key, value]): [string, unknown] => {
    if (key === 'properties' || key === 'patternProperties') {
      return [key, Object.fromEntries(Object.entries(value as object).map(([name, child]) => [name, inner(child)]))];
    }
    return [key, typeof value === 'object' && !Array.isArray(value) ? inner(value) : value];
  });
  return Object.fromEntries(entries);
}

const HEADER = `// Written by npm run generate out of the schemas that Kubernetes publishes (Apache-2.0); never edited.

import type { SchemaNode } from '../../settings/schema/schema.ts';

/** What Kubernetes 1.35 takes as a part of a Pod, by the name of its type; unknown fields are refused. */
export const KUBERNETES_TYPES = `;

/** The schemas of the parts of a Pod that consumer.yaml takes in Kubernetes' own words. */
export function kubernetesTypesFile(): GeneratedFile {
  const { definitions } = JSON.parse(readFileSync(PUBLISHED, 'utf8')) as {
    definitions: Readonly<Record<string, Published>>;
  };
  const types = Object.fromEntries(
    TYPES.map((name) => [name, inlined({ $ref: `${PACKAGE}${name}` }, definitions)] as const),
  );
  const keys = TYPES.map((name) => `'${name}'`).join(' | ');
  const content = `${HEADER}${JSON.stringify(types, undefined, 1)} as const satisfies Readonly<Record<${keys}, SchemaNode>>;\n`;
  return { path: 'deployment/generated/kubernetes-types.ts', content };
}
