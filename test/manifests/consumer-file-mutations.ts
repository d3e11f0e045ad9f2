import { ConsumerFileSchema } from '../../deployment/consumer-file.ts';
import { formatPath, type SettingPath } from '../../settings/schema/document.ts';
import { childSchema, isFreeMap, isMandatory, type SchemaNode } from '../../settings/schema/schema.ts';

type Section = Record<string | number, unknown>;

/** One mistake that a person could make in a right file. */
export interface Mutation {
  /** What is wrong, for the message of a failed test. */
  readonly what: string;
  /** Where a problem has to be. */
  readonly path: string;
  readonly apply: (document: unknown) => unknown;
}

const WRONG_TYPE: Readonly<Record<string, unknown>> = {
  string: 42,
  integer: 'many',
  number: 'many',
  boolean: 'maybe',
  array: { a: 1 },
  object: ['a'],
};

/** A copy of the document with another value at a path; `undefined` takes it away. */
function replaced(document: unknown, [key, ...rest]: SettingPath, value: unknown): unknown {
  if (key === undefined) {
    return value;
  }
  const copy = structuredClone(document) as Section;
  const child = replaced(copy[key], rest, value);
  if (child === undefined) {
    delete copy[key];
  } else {
    copy[key] = child;
  }
  return copy;
}

/** Values of a node's own that its schema refuses. */
function wrongValues(node: SchemaNode, value: unknown): [string, unknown][] {
  const { type = '', pattern, minimum, maximum, maxLength } = node;
  const choices: [string, unknown][] = node.enum === undefined ? [] : [['no choice', 'none of them']];
  return [
    ...choices,
    ...(type in WRONG_TYPE ? [['a wrong type', WRONG_TYPE[type]] as [string, unknown]] : []),
    ...(pattern === undefined ? [] : [['a character that no text may have', `${value}\n\0`] as [string, unknown]]),
    ...(maxLength === undefined ? [] : [['too long', 'a'.repeat(maxLength + 1)] as [string, unknown]]),
    ...(minimum === undefined ? [] : [['too small', minimum - 1] as [string, unknown]]),
    ...(maximum === undefined ? [] : [['too large', maximum + 1] as [string, unknown]]),
  ];
}

function mutationsAt(node: SchemaNode, value: unknown, path: SettingPath): Mutation[] {
  const wrong = wrongValues(node, value).map(([what, other]) => ({
    what,
    path: formatPath(path),
    apply: (document: unknown) => replaced(document, path, other),
  }));
  if (node.type !== 'object' || isFreeMap(node)) {
    return wrong;
  }
  const missing = Object.keys(node.properties ?? {}).filter((key) => isMandatory(node, key));
  return [
    ...wrong,
    {
      what: 'an unknown key',
      path: formatPath([...path, 'zzzUnknown']),
      apply: (document) => replaced(document, [...path, 'zzzUnknown'], 1),
    },
    ...missing.map((key) => ({
      what: 'a missing key',
      path: formatPath([...path, key]),
      apply: (document: unknown) => replaced(document, [...path, key], undefined),
    })),
  ];
}

/** All single mistakes that can be made in a right file, each where the file has something. */
export function mutationsOf(
  document: unknown,
  node: SchemaNode = ConsumerFileSchema as SchemaNode,
  path: SettingPath = [],
): Mutation[] {
  const isMap = typeof document === 'object' && document !== null;
  const entries = isMap ? Object.entries(document) : [];
  const below = entries.flatMap(([key, value]) => {
    const part = Array.isArray(document) ? Number(key) : key;
    const child = childSchema(node, part);
    return child === undefined ? [] : mutationsOf(value, child, [...path, part]);
  });
  return [...mutationsAt(node, document, path), ...below];
}
