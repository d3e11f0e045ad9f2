import { isDeepStrictEqual } from 'node:util';
import { isSection, valueAt } from '../settings/schema/document.ts';
import { type Problem, problemIf } from '../settings/schema/problem.ts';
import { InvalidConsumerError } from './invalid-consumer-error.ts';
import { isMeant, type Patch, type PatchOperation } from './sections/patches.ts';

// This room has no cdk8s: its JsonPatch and its objects come in from the rooms that render.

/** The JSON patches of cdk8s, `P` being one operation. */
interface JsonPatches<P> {
  apply(document: unknown, ...operations: P[]): unknown;
  add(path: string, value: unknown): P;
  replace(path: string, value: unknown): P;
  test(path: string, value: unknown): P;
  remove(path: string): P;
  move(from: string, path: string): P;
  copy(from: string, path: string): P;
}

/** A finished object of cdk8s. */
interface PatchedObject<P> {
  readonly kind: string;
  readonly name: string;
  toJson(): unknown;
  addJsonPatch(...operations: P[]): void;
}

const keysOf = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));

const isHolder = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** Whether there is a value; `length` of a list is none. */
function isThere(document: unknown, keys: readonly string[]): boolean {
  const parent = valueAt(document, keys.slice(0, -1));
  const key = keys.at(-1) ?? '';
  return isHolder(parent) && Object.hasOwn(parent, key) && (!Array.isArray(parent) || /^\d+$/.test(key));
}

/** Whether something can be put there: into a map under any key, into a list at its end or before what is there. */
function hasRoom(document: unknown, keys: readonly string[]): boolean {
  const parent = valueAt(document, keys.slice(0, -1));
  const key = keys.at(-1) ?? '';
  return Array.isArray(parent)
    ? key === '-' || key === String(parent.length) || isThere(document, keys)
    : isHolder(parent);
}

/** What is really there: the keys of the deepest map or list on the way. */
function surroundings(document: unknown, keys: readonly string[]): string {
  const depth = keys.findIndex((_key, index) => !isHolder(valueAt(document, keys.slice(0, index + 1))));
  const way = keys.slice(0, depth);
  const place = way.length === 0 ? 'the object' : `/${way.join('/')}`;
  const holder = valueAt(document, way);
  if (Array.isArray(holder)) {
    return `${place} is a list of ${holder.length}`;
  }
  return `${place} has ${Object.keys((holder ?? {}) as object).join(', ') || 'nothing'}`;
}

/** The pointer of an operation that leads nowhere. */
function lostPointer(document: unknown, { op, path, from }: PatchOperation): string | undefined {
  const isRead = op === 'remove' || op === 'replace' || op === 'test';
  const isLost = isRead ? !isThere(document, keysOf(path)) : !hasRoom(document, keysOf(path));
  if (from !== undefined && !isThere(document, keysOf(from))) {
    return from;
  }
  return isLost ? path : undefined;
}

/** A document after an operation, or why there is none. */
type Patched = { readonly document: unknown } | { readonly problem: Problem };

/** @param title of the object, and the operation's place in consumer.yaml */
function operated<P>(
  library: JsonPatches<P>,
  document: unknown,
  operation: PatchOperation,
  { title, at }: { readonly title: string; readonly at: string },
): Patched {
  const lost = lostPointer(document, operation);
  const failed = `${operation.op} ${operation.path} fails at ${title}`;
  if (lost !== undefined) {
    const problem = {
      path: at,
      message: `${failed}: there is no ${lost}`,
      allowed: surroundings(document, keysOf(lost)),
    };
    return { problem };
  }
  try {
    return { document: library.apply(document, jsonPatch(library, operation)) };
  } catch {
    const allowed = operation.op === 'test' ? 'the value that is there' : 'an operation of RFC 6902 on what is there';
    return { problem: { path: at, message: failed, allowed } };
  }
}

function jsonPatch<P>(library: JsonPatches<P>, { op, path, from = '', value }: PatchOperation): P {
  switch (op) {
    case 'remove':
      return library.remove(path);
    case 'move':
    case 'copy':
      return library[op](from, path);
    default:
      return library[op](path, value);
  }
}

const titleOf = ({ kind, name }: PatchedObject<never>): string => `${kind} ${name}`;

/** By kind: the selector that no API server changes, and the labels that it has to find. */
const FIXED_SELECTORS: Readonly<Record<string, { readonly selector: string[]; readonly found: string[] }>> = {
  Deployment: { selector: ['spec', 'selector'], found: ['spec', 'template', 'metadata', 'labels'] },
};

const hasAll = (labels: unknown, wanted: unknown): boolean =>
  isSection(wanted) && Object.entries(wanted).every(([key, value]) => valueAt(labels, [key]) === value);

/** What an operation did to a selector, where nothing may be done to it. */
function selectorProblems(kind: string, [before, after]: readonly [unknown, unknown], at: string): readonly Problem[] {
  const fixed = FIXED_SELECTORS[kind];
  if (fixed === undefined) {
    return [];
  }
  const selector = valueAt(before, fixed.selector);
  return [
    ...problemIf(!isDeepStrictEqual(selector, valueAt(after, fixed.selector)), {
      path: at,
      message: `would change ${fixed.selector.join('.')} of a ${kind}, which no cluster changes in place`,
      allowed: 'other fields; labels of the Pods beside those of the selector are in pods.labels',
    }),
    ...problemIf(!hasAll(valueAt(after, fixed.found), valueAt(selector, ['matchLabels'])), {
      path: at,
      message: `would take a label from the Pods by which the ${kind} finds them`,
      allowed: 'other labels; more of them are in pods.labels',
    }),
  ];
}

/** Patches one object when all operations succeed on it. @returns the first that does not, as a problem */
function patchObject<P>(
  library: JsonPatches<P>,
  object: PatchedObject<P>,
  { operations }: Patch,
  place: string,
): readonly Problem[] {
  const before = object.toJson();
  // The library applies an operation to the document itself, so `before` has to be another one.
  let document = object.toJson();
  for (const [index, operation] of operations.entries()) {
    const at = `${place}.operations[${index}]`;
    const result = operated(library, document, operation, { title: titleOf(object), at });
    const found = 'problem' in result ? [result.problem] : selectorProblems(object.kind, [before, result.document], at);
    if ('problem' in result || found.length > 0) {
      return found.slice(0, 1);
    }
    document = result.document;
  }
  object.addJsonPatch(...operations.map((operation) => jsonPatch(library, operation)));
  return [];
}

/** The patches of consumer.yaml, and the finished objects of a construct. */
interface Patching<P> {
  /** cdk8s's `JsonPatch`. */
  readonly library: JsonPatches<P>;
  /** The construct, for the error's message. */
  readonly subject: string;
  readonly patches: readonly Patch[];
  readonly objects: readonly PatchedObject<P>[];
  /** Whether a patch that matches no object of this construct is a mistake. */
  readonly isOurs: (patch: Patch) => boolean;
}

/**
 * Applies the patches of consumer.yaml to the finished objects of a construct.
 *
 * @throws InvalidConsumerError with each patch that matches no object, and the first operation of each that fails
 */
export function applyPatches<P>({ library, subject, patches, objects, isOurs }: Patching<P>): void {
  const problems = patches.flatMap((patch, index): readonly Problem[] => {
    const at = `patches[${index}]`;
    const meant = objects.filter((object) => isMeant(patch, object));
    const isLost = isOurs(patch) && meant.length === 0;
    return [
      ...problemIf(isLost, {
        path: at,
        message: 'matches no object',
        given: [patch.kind ?? '', patch.name ?? ''].join(' ').trim(),
        allowed: `one of ${objects.map(titleOf).join(', ')}`,
      }),
      ...meant.flatMap((object) => patchObject(library, object, patch, at)),
    ];
  });
  if (problems.length > 0) {
    throw new InvalidConsumerError(subject, problems);
  }
}
