import { plainName } from '../../settings/problem.ts';
import type { SchemaNode } from '../../settings/schema.ts';

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

function convertText(schema: SchemaNode, text: string): unknown {
  const word = text.trim();
  if (schema.enum !== undefined) {
    return convertChoice(schema.enum, word) ?? text;
  }
  switch (schema.type) {
    case 'integer':
      return /^[+-]?\d+$/.test(word) ? Number(word) : text;
    case 'number':
      return /^[+-]?(\d+\.?\d*|\.\d+)$/.test(word) ? Number(word) : text;
    case 'boolean':
      return BOOLEAN.get(word.toLowerCase()) ?? text;
    case 'array':
      return word === '' ? [] : word.split(',').map((item) => convert(schema.items, item.trim()));
    default:
      return text;
  }
}

/**
 * Converts text, which is all that files and the environment hold, to the type a setting has: numbers, booleans
 * (true, on, yes, 1 and their opposites), lists (comma-separated) and choices, whatever their case. What does not convert stays as it is, and the
 * schema's check reports it with the value that was given.
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
