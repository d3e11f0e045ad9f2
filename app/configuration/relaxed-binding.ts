import { plainName } from '../../settings/problem.ts';
import { childSchema, freeValue, isFreeMap, isOpen, type SchemaNode } from '../../settings/schema.ts';

/** Where a key of a user leads: the schema's own keys, and the schema there, `undefined` when it knows no such key. */
export interface BoundKey {
  readonly segments: readonly string[];
  readonly schema: SchemaNode | undefined;
}

/**
 * Finds the setting that a written key means: in camelCase, kebab-case, snake_case or any letter case, and with dots
 * for several levels at once (`kafka.group-id`). Names in a free map, such as labels, stay as they are; dots are part of
 * them where nothing can stand below.
 */
export function bindKey(parent: SchemaNode | undefined, key: string): BoundKey {
  if (parent === undefined) {
    return { segments: [key], schema: undefined };
  }
  if (isOpen(parent)) {
    return { segments: key.split('.'), schema: parent };
  }
  if (hasPlainValues(parent)) {
    return { segments: [key], schema: childSchema(parent, key) };
  }
  const dot = key.indexOf('.');
  const first = dot < 0 ? key : key.slice(0, dot);
  const known = knownKey(parent, first);
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

/** Whether the names below are free, and their values are no sections. */
function hasPlainValues(node: SchemaNode): boolean {
  const value = freeValue(node);
  return value !== undefined && value.type !== 'object' && !isOpen(value);
}

function knownKey(node: SchemaNode, key: string): string | undefined {
  return isFreeMap(node) ? key : Object.keys(node.properties ?? {}).find((name) => plainName(name) === plainName(key));
}
