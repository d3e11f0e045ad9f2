import fc from 'fast-check';
import { isFreeMap, isMandatory, type SchemaNode } from '../../settings/schema.ts';

/** Arbitraries that take the place of the schema's own, by dotted path: where only another rule says what fits. */
export type Overrides = Readonly<Record<string, fc.Arbitrary<unknown>>>;

/** Enough for every combination that matters; large maps and lists only take time. */
const MOST_ITEMS = 3;
const LONGEST = 60;
/** How often a key that may be left out is there: often enough that deep ones are seen, rarely enough that defaults are. */
const PRESENT = { freq: 4, nil: undefined };

/** The generator does not know looks ahead: texts are made without them, and those that they forbid are left out. */
const withoutLooksAhead = (pattern: string): string => pattern.replaceAll(/\(\?[=!](?:[^()]|\([^()]*\))*\)/g, '');

function text({ pattern, minLength = 0, maxLength }: SchemaNode): fc.Arbitrary<string> {
  if (pattern === undefined) {
    return fc.string({ minLength, maxLength: Math.min(maxLength ?? LONGEST, LONGEST) });
  }
  const whole = new RegExp(pattern, 'u');
  return fc
    .stringMatching(new RegExp(withoutLooksAhead(pattern), 'u'))
    .filter((each) => each.length >= minLength && each.length <= (maxLength ?? each.length) && whole.test(each));
}

function list(node: SchemaNode, path: string, overrides: Overrides): fc.Arbitrary<unknown[]> {
  const { items = {}, minItems = 0, maxItems = MOST_ITEMS } = node;
  const length = { minLength: minItems, maxLength: Math.max(minItems, Math.min(maxItems, MOST_ITEMS)) };
  return fc.uniqueArray(arbitraryOf(items, `${path}[]`, overrides), {
    ...length,
    selector: (item) => JSON.stringify(item),
  });
}

function freeKeys(node: SchemaNode, path: string, overrides: Overrides): fc.Arbitrary<Record<string, unknown>> {
  const patterns = Object.entries(node.patternProperties ?? {});
  const [[pattern, value] = ['^.+$', node.additionalProperties as SchemaNode]] = patterns;
  const key = overrides[`${path}.*`] ?? text({ pattern });
  return fc.dictionary(key as fc.Arbitrary<string>, arbitraryOf(value, `${path}.*`, overrides), {
    maxKeys: 2,
    noNullPrototype: true,
  });
}

function section(node: SchemaNode, path: string, overrides: Overrides): fc.Arbitrary<unknown> {
  const entries = Object.entries(node.properties ?? {}).map(([key, child]) => {
    const value = arbitraryOf(child, path === '' ? key : `${path}.${key}`, overrides);
    return [key, isMandatory(node, key) ? value : fc.option(value, PRESENT)] as const;
  });
  const known = fc.record(Object.fromEntries(entries), { noNullPrototype: true });
  const free = isFreeMap(node) ? freeKeys(node, path, overrides) : fc.constant({});
  return fc.tuple(free, known).map(([more, keys]) => ({
    ...more,
    ...Object.fromEntries(Object.entries(keys).filter(([, value]) => value !== undefined)),
  }));
}

/**
 * Values that a schema allows.
 *
 * @throws Error for a schema that is none of those this project writes
 */
export function arbitraryOf(node: SchemaNode, path = '', overrides: Overrides = {}): fc.Arbitrary<unknown> {
  const given = overrides[path];
  if (given !== undefined) {
    return given;
  }
  if (node.const !== undefined || node.enum !== undefined) {
    return fc.constantFrom(...(node.enum ?? [node.const]));
  }
  if (node.anyOf !== undefined) {
    return fc.oneof(...node.anyOf.map((branch) => arbitraryOf(branch, path, overrides)));
  }
  const { minimum = 0, maximum = minimum + 1_000_000 } = node;
  switch (node.type) {
    case 'integer':
      return fc.integer({ min: minimum, max: maximum });
    case 'number':
      return fc.double({ min: minimum, max: maximum, noNaN: true });
    case 'boolean':
      return fc.boolean();
    case 'string':
      return text(node);
    case 'array':
      return list(node, path, overrides);
    case 'object':
      return section(node, path, overrides);
    case undefined:
      return fc.jsonValue({ maxDepth: 2 });
    default:
      throw new Error(`${path}: no values for ${JSON.stringify(node)}`);
  }
}
