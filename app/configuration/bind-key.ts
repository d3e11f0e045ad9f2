import { plainName } from '../../contract/nearest-key.ts';
import { childSchema, isFreeMap, type SchemaNode } from '../../contract/schema-node.ts';

/** Where a key of a user leads: the schema's own keys, and the schema there, `undefined` when it knows no such key. */
export interface BoundKey {
  readonly segments: readonly string[];
  readonly schema: SchemaNode | undefined;
}

/**
 * Finds the setting that a written key means: in camelCase, kebab-case, snake_case or any letter case, and with dots
 * for several levels at once (`kafka.group-id`). Names in a free map, such as labels, stay as they are, dots included.
 */
export function bindKey(parent: SchemaNode | undefined, key: string): BoundKey {
  if (parent === undefined) {
    return { segments: [key], schema: undefined };
  }
  if (isFreeMap(parent)) {
    return { segments: [key], schema: childSchema(parent, key) };
  }
  const dot = key.indexOf('.');
  const first = dot < 0 ? key : key.slice(0, dot);
  const known = Object.keys(parent.properties ?? {}).find((name) => plainName(name) === plainName(first));
  const schema = known === undefined ? undefined : childSchema(parent, known);
  if (known === undefined || schema === undefined) {
    return { segments: key.split('.'), schema: undefined };
  }
  if (dot < 0) {
    return { segments: [known], schema };
  }
  const rest = bindKey(schema, key.slice(dot + 1));
  return { segments: [known, ...rest.segments], schema: rest.schema };
}
