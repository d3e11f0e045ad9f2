import { compileSchema } from '../../settings/compile-schema.ts';
import type { SchemaNode } from '../../settings/schema.ts';

/** A doc comment shows so many characters in three lines. */
const LONGEST = 250;

/** No section of consumer.yaml has so many levels. */
const DEEPEST = 10;

/** A key as TypeScript writes it: Spring's own names have dashes. */
export const propertyName = (key: string): string => (/^\w+$/.test(key) ? key : `'${key}'`);

/** @param maps how many maps inside one another are written out */
function literal(value: unknown, maps: number): string {
  if (Array.isArray(value)) {
    return `[${value.map((each) => literal(each, maps)).join(', ')}]`;
  }
  if (typeof value !== 'object' || value === null) {
    return typeof value === 'string' ? `'${value}'` : String(value);
  }
  const entries = Object.entries(value);
  if (entries.length === 0) {
    return '{}';
  }
  const inner = entries.map(([key, each]) => `${propertyName(key)}: ${literal(each, maps - 1)}`);
  return maps === 0 ? '{ ... }' : `{ ${inner.join(', ')} }`;
}

/** What is there when a key is left out: the check itself fills in what a section and the items of a list leave out. */
function completeDefault(node: SchemaNode): unknown {
  const filled: { value?: unknown } = {};
  compileSchema({ type: 'object', properties: { value: node } } as SchemaNode)(filled);
  return filled.value;
}

/** A default as TypeScript writes it; the innermost maps of a long one are `{ ... }`. */
export function defaultText(node: SchemaNode): string {
  const value = completeDefault(node);
  let maps = DEEPEST;
  while (maps > 1 && literal(value, maps).length > LONGEST) {
    maps -= 1;
  }
  return literal(value, maps);
}
