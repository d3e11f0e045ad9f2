/**
 * The parts of JSON Schema that this project's schemas use, as plain data: what TypeBox builds, seen without its types.
 */
export interface SchemaNode {
  readonly $id?: string;
  readonly type?: string;
  readonly title?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly SchemaNode[];
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly patternProperties?: Readonly<Record<string, SchemaNode>>;
  readonly additionalProperties?: boolean | SchemaNode;
  readonly required?: readonly string[] | undefined;
  readonly items?: SchemaNode;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly 'x-secret'?: boolean | 'url';
  readonly 'x-allowed'?: string;
}

/**
 * Marks a setting whose value is masked wherever it is shown: `true` the whole value, `'url'` a URL's password only.
 */
export const SECRET = 'x-secret';

/** Says in words what a value may be, where the keywords alone (a pattern) would not do for a person. */
export const ALLOWED = 'x-allowed';

/** Whether the node's values are maps with free names, such as labels. */
export const isFreeMap = (node: SchemaNode): boolean =>
  node.patternProperties !== undefined || typeof node.additionalProperties === 'object';

/** The schema of what is below a free name; `undefined` where names are not free. */
export function freeValue(node: SchemaNode): SchemaNode | undefined {
  const [patterned] = Object.values(node.patternProperties ?? {});
  return patterned ?? (typeof node.additionalProperties === 'object' ? node.additionalProperties : undefined);
}

/** Whether anything may be there: text, list or map. */
export const isOpen = (node: SchemaNode): boolean =>
  node.type === undefined && node.enum === undefined && node.anyOf === undefined && node.const === undefined;

/** Whether the node's values are lists of maps, such as `tables`. */
export const isListOfMaps = (node: SchemaNode): node is SchemaNode & { readonly items: SchemaNode } =>
  node.items?.type === 'object';

/** The list among what may be there; `undefined` where none may. */
export const listBranch = (node: SchemaNode): SchemaNode | undefined =>
  node.type === 'array' ? node : node.anyOf?.find(({ type }) => type === 'array');

/** The map among what may be there; `undefined` where none may, or anything may. */
export const mapBranch = (node: SchemaNode): SchemaNode | undefined =>
  node.type === 'object' ? node : node.anyOf?.find(({ type }) => type === 'object');

/** The schema below a node at a key or list position; `undefined` where the schema knows none. */
export function childSchema(node: SchemaNode, key: string | number): SchemaNode | undefined {
  if (typeof key === 'number') {
    return node.items;
  }
  const named = node.properties !== undefined && Object.hasOwn(node.properties, key) ? node.properties[key] : undefined;
  if (named !== undefined) {
    return named;
  }
  const patterned = Object.entries(node.patternProperties ?? {}).find(([pattern]) =>
    new RegExp(pattern, 'u').test(key),
  );
  return patterned?.[1] ?? (typeof node.additionalProperties === 'object' ? node.additionalProperties : undefined);
}

/**
 * Whether a person has to give the key: a required one without a default, or a section that holds such a key, as its
 * own default, the empty map, does not fill that in.
 */
export function isMandatory({ required = [], properties }: SchemaNode, key: string): boolean {
  const child = properties?.[key] ?? {};
  const holdsMandatory = Object.keys(child.properties ?? {}).some((inner) => isMandatory(child, inner));
  return required.includes(key) && (child.default === undefined || holdsMandatory);
}

/** A key in kebab-case, as Spring Boot has it, in camelCase. */
export const camelCase = (key: string): string =>
  key.replaceAll(/-([a-z])/g, (_all, letter: string) => letter.toUpperCase());

/** Options of an object that refuses keys it does not know. */
export const closed = { additionalProperties: false } as const;

/** Options of a section that may be left out: its own defaults fill it in. */
export const section = { ...closed, default: {} } as const;
