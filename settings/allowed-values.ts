import { isFreeMap, type SchemaNode } from './schema.ts';

function range(noun: string, { minimum, maximum }: SchemaNode): string {
  if (minimum !== undefined && maximum !== undefined) {
    return `${noun} from ${minimum} to ${maximum}`;
  }
  if (minimum !== undefined) {
    return `${noun} of at least ${minimum}`;
  }
  return maximum === undefined ? noun : `${noun} of at most ${maximum}`;
}

function text({ pattern, minLength, maxLength }: SchemaNode): string {
  const length = maxLength === undefined ? '' : ` of at most ${maxLength} characters`;
  if (pattern !== undefined) {
    return `a text${length} that matches ${pattern}`;
  }
  return minLength === undefined || minLength === 0 ? `a text${length}` : `a text${length} that is not empty`;
}

function list({ items, minItems, maxItems }: SchemaNode): string {
  const most = maxItems === undefined ? '' : ` of at most ${maxItems}`;
  const each = items === undefined ? '' : `, each ${allowedValues(items)}`;
  return `a list${most}${(minItems ?? 0) > 0 ? ' that is not empty' : ''}${each}`;
}

function map(node: SchemaNode): string {
  if (isFreeMap(node)) {
    return 'a map of names to values';
  }
  const keys = Object.keys(node.properties ?? {});
  return keys.length === 0 ? 'a map' : `a map with ${keys.length === 1 ? 'the key' : 'keys out of'} ${keys.join(', ')}`;
}

/** What a schema node allows, in words for a person: `a whole number from 0 to 65535`, `one of earliest, latest`. */
export function allowedValues(node: SchemaNode): string {
  if (node['x-allowed'] !== undefined) {
    return node['x-allowed'];
  }
  if (node.const !== undefined) {
    return String(node.const);
  }
  const choices = node.enum ?? node.anyOf?.map((branch) => branch.const);
  if (choices?.every((choice) => choice !== undefined)) {
    return choices.length === 1 ? String(choices[0]) : `one of ${choices.join(', ')}`;
  }
  if (node.anyOf !== undefined) {
    return node.anyOf.map(allowedValues).join(', or ');
  }
  switch (node.type) {
    case 'integer':
      return range('a whole number', node);
    case 'number':
      return range('a number', node);
    case 'boolean':
      return 'true or false';
    case 'string':
      return text(node);
    case 'array':
      return list(node);
    case 'object':
      return map(node);
    case 'null':
      return 'nothing (null)';
    default:
      return 'any value';
  }
}
