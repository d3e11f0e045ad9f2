import { plainName } from '../../settings/schema/problem.ts';
import {
  childSchema,
  freeValue,
  isFreeMap,
  isListOfMaps,
  isOpen,
  listBranch,
  type SchemaNode,
} from '../../settings/schema/schema.ts';

/** The schema's own keys for a written key, and the schema there; `undefined` when the schema knows no such key. */
interface BoundKey {
  readonly segments: readonly string[];
  readonly schema: SchemaNode | undefined;
}

/**
 * Finds the setting that a written key means: in camelCase, kebab-case, snake_case or any letter case, and with dots
 * for several levels at once (`kafka.group-id`). Names in a free map, such as labels, stay as they are; dots are part
 * of them where nothing can be below.
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

const BOOLEAN: ReadonlyMap<string, boolean> = new Map([
  ...['true', 'on', 'yes', '1'].map((word) => [word, true] as const),
  ...['false', 'off', 'no', '0'].map((word) => [word, false] as const),
]);

/** A choice may be written in any case and with other separators: ALWAYS, OUT_OF_SERVICE. */
function convertChoice(choices: readonly unknown[], word: string): unknown {
  const plain = plainName(word);
  return choices.includes(word)
    ? word
    : choices.find((choice) => plain !== '' && typeof choice === 'string' && plainName(choice) === plain);
}

/** A list where there are commas, one of the choices, or false; any other text is right as it is. */
function convertUnion(schema: SchemaNode, word: string): unknown {
  const list = word.includes(',') ? listBranch(schema) : undefined;
  if (list !== undefined) {
    return convertText(list, word);
  }
  const choices = schema.anyOf?.flatMap((branch) => branch.enum ?? []) ?? [];
  const isFalse = word.toLowerCase() === 'false' && schema.anyOf?.some((branch) => branch.const === false);
  return isFalse ? false : convertChoice(choices, word);
}

function convertText(schema: SchemaNode, text: string): unknown {
  const word = text.trim();
  if (schema.enum !== undefined) {
    return convertChoice(schema.enum, word) ?? text;
  }
  if (schema.anyOf !== undefined) {
    return convertUnion(schema, word) ?? text;
  }
  switch (schema.type) {
    case 'integer':
      return /^[+-]?\d+$/.test(word) ? Number(word) : text;
    case 'number':
      return /^[+-]?(\d+\.?\d*|\.\d+)$/.test(word) ? Number(word) : text;
    case 'boolean':
      return BOOLEAN.get(word.toLowerCase()) ?? text;
    case 'array':
      if (isListOfMaps(schema)) {
        return text;
      }
      return word === '' ? [] : word.split(',').map((item) => convert(schema.items, item.trim()));
    default:
      return text;
  }
}

/**
 * Converts text, which is all that files and the environment hold, to the type of a setting: numbers, booleans (true,
 * on, yes, 1 and their opposites), lists (comma-separated) and choices, in any case. Text that does not convert stays
 * as it is, and the schema's check reports it with the given value.
 */
export function convert(schema: SchemaNode | undefined, value: unknown): unknown {
  if (schema === undefined) {
    return value;
  }
  if (Array.isArray(value)) {
    return value.map((item) => convert(schema.items, item));
  }
  return typeof value === 'string' ? convertText(schema, value) : value;
}
