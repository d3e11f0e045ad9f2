import type { ErrorObject } from 'ajv';
import { formatPath, type SettingPath, valueAt } from './document.ts';
import { holdsSecret } from './mask-secrets.ts';
import { MOST_SHOWN_PROBLEMS, nearestKey, type Problem } from './problem.ts';
import { childSchema, isFreeMap, type SchemaNode } from './schema.ts';
import { MASK, shownValue } from './shown-value.ts';

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

export const WRONG_TYPE = 'has the wrong type';

const MESSAGE: Readonly<Record<string, string>> = {
  type: WRONG_TYPE,
  minimum: 'is too small',
  maximum: 'is too large',
  enum: 'is none of the known values',
  const: 'is none of the known values',
  anyOf: 'is not allowed',
  pattern: 'is not well-formed',
  minLength: 'is empty or too short',
  maxLength: 'is too long',
  minItems: 'is empty or too short',
  maxItems: 'is too long',
  uniqueItems: 'names the same value twice',
};

/** An error of Ajv's with its place resolved in the document. */
interface LocatedError {
  readonly error: ErrorObject;
  readonly path: SettingPath;
}

function locate(error: ErrorObject, document: unknown): LocatedError {
  const path: (string | number)[] = [];
  for (const segment of error.instancePath.split('/').slice(1)) {
    const key = segment.replaceAll('~1', '/').replaceAll('~0', '~');
    path.push(Array.isArray(valueAt(document, path)) ? Number(key) : key);
  }
  return { error, path };
}

/** Index of the branch of a union that the value was meant for: the only one for maps, when it is a map. */
function intendedBranch(branches: readonly SchemaNode[], value: unknown): number {
  const isMap = typeof value === 'object' && value !== null && !Array.isArray(value);
  const maps = branches.filter((branch) => branch.type === 'object');
  const [only] = maps;
  return isMap && only !== undefined && maps.length === 1 ? branches.indexOf(only) : -1;
}

/** One problem for each union instead of one for each of its branches, unless it is plain which branch was meant. */
function withoutBranches(errors: readonly LocatedError[]): readonly LocatedError[] {
  const unions = errors.filter(({ error }) => error.keyword === 'anyOf');
  return errors.filter(({ error }) =>
    unions.every(({ error: union }) => {
      const branch = intendedBranch(union.schema as readonly SchemaNode[], union.data);
      const isAtValue = `${error.instancePath}/`.startsWith(`${union.instancePath}/`);
      const isWithin = isAtValue && error.schemaPath.startsWith(`${union.schemaPath}/`);
      if (branch >= 0) {
        return error !== union && (!isWithin || error.schemaPath.startsWith(`${union.schemaPath}/${branch}/`));
      }
      return !isWithin;
    }),
  );
}

/** Every path of the schema, so that a key at the wrong place finds its home. */
function knownPaths(node: SchemaNode, prefix: SettingPath = []): readonly SettingPath[] {
  return Object.entries(node.properties ?? {}).flatMap(([key, child]) => [
    [...prefix, key],
    ...knownPaths(child, [...prefix, key]),
  ]);
}

/** A key of another section is meant when hardly a letter differs: it is at the wrong place. */
const SHARE_ELSEWHERE = 0.2;

function nearestPath(root: SchemaNode, siblings: readonly string[], parent: SettingPath, key: string) {
  const sibling = nearestKey(key, siblings);
  if (sibling !== undefined) {
    return formatPath([...parent, sibling]);
  }
  const paths = knownPaths(root);
  const leaf = nearestKey(
    key,
    paths.map((path) => String(path.at(-1))),
    SHARE_ELSEWHERE,
  );
  const found = paths.find((path) => path.at(-1) === leaf);
  return found === undefined ? undefined : formatPath(found);
}

/** The message of a key that is not in the schema, whose siblings are allowed. */
export const UNKNOWN_KEY = 'is not a known key';

/** @param isSought whether the nearest known key is to be found, which takes its time */
function unknownKey({ error, path }: LocatedError, root: SchemaNode, isSought: boolean): Problem {
  const key = String(error.params['additionalProperty']);
  const place = formatPath([...path, key]);
  const parent = error.parentSchema as SchemaNode;
  if (isFreeMap(parent)) {
    const patterns = Object.keys(parent.patternProperties ?? {}).join(' or ');
    return { path: place, message: 'has a name that is not allowed', allowed: `a name that matches ${patterns}` };
  }
  const siblings = Object.keys(parent.properties ?? {});
  const nearest = isSought ? nearestPath(root, siblings, path, key) : undefined;
  return {
    path: place,
    message: UNKNOWN_KEY,
    allowed: siblings.join(', '),
    ...(nearest === undefined ? {} : { nearest }),
  };
}

function missingKey({ error, path }: LocatedError): Problem {
  const key = String(error.params['missingProperty']);
  const schema = childSchema(error.parentSchema as SchemaNode, key) ?? {};
  return { path: formatPath([...path, key]), message: 'is missing', allowed: allowedValues(schema) };
}

/** Whether the schema has a secret at the path, above it or below it, or does not know the place. */
function isSecretPlace(root: SchemaNode, path: SettingPath): boolean {
  let node: SchemaNode | undefined = root;
  for (const part of path) {
    if (node === undefined || (node['x-secret'] ?? false) !== false) {
      return true;
    }
    node = childSchema(node.anyOf?.find(({ type }) => type === 'object') ?? node, part);
  }
  return node === undefined || holdsSecret(node);
}

/** The texts that a schema node names one by one. */
const choicesOf = ({ enum: choices = [], anyOf = [] }: SchemaNode): readonly string[] =>
  [...choices, ...anyOf.map((branch) => branch.const)].filter((choice) => typeof choice === 'string');

function wrongValue({ error, path }: LocatedError, root: SchemaNode, document: unknown): Problem {
  const schema = error.parentSchema as SchemaNode;
  return {
    path: formatPath(path),
    message: MESSAGE[error.keyword] ?? `is not allowed (${error.keyword})`,
    given: isSecretPlace(root, path) ? MASK : shownValue(valueAt(document, path), choicesOf(schema)),
    allowed: allowedValues(schema),
  };
}

/**
 * What Ajv found, in words: one problem for each path.
 *
 * @param errors of a validator made with `allErrors` and `verbose`.
 */
export function schemaProblems(errors: readonly ErrorObject[], root: SchemaNode, document: unknown): Problem[] {
  const problems = new Map<string, Problem>();
  for (const located of withoutBranches(errors.map((error) => locate(error, document)))) {
    const { keyword } = located.error;
    const problem =
      keyword === 'additionalProperties'
        ? unknownKey(located, root, problems.size < MOST_SHOWN_PROBLEMS)
        : keyword === 'required'
          ? missingKey(located)
          : wrongValue(located, root, document);
    problems.set(problem.path, problem);
  }
  return [...problems.values()];
}
