import type { Static, TSchema } from 'typebox';
import { compileSchema } from './compile-schema.ts';
import { formatPath, valueAt } from './document.ts';
import { indentedOnce } from './indented-problems.ts';
import type { Problem } from './problem.ts';
import type { SchemaNode } from './schema.ts';
import { schemaProblems } from './schema-problems.ts';
import { shownValue } from './shown-value.ts';

/** What a check says: the complete value, deeply frozen, or everything that is wrong. */
export type Checked<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** A condition that no single value's schema can state. */
export interface Rule<T> {
  /**
   * Paths of the values it looks at: the rule is asked only when none of them, nothing around them and nothing in them
   * is a problem already. A value that a finding can do without belongs to another rule, so that nobody waits for it.
   *
   * A path that ends in `[]` is that of a list or map, whose entries the rule looks at one by one. It is then asked of
   * those that are right: the others are no keys of the map, and holes in the list, which `flatMap` passes over.
   */
  readonly reads: readonly string[];
  /**
   * All that is wrong; empty when the values fit. `given` is masked as that of any problem, unless the rule does so
   * itself.
   */
  readonly find: (value: T) => readonly Problem[];
  /** Whether `given` is shown as it is. @default false */
  readonly masksItself?: boolean;
}

/** Makes plain data unchangeable, with all that is in it. */
export function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(deepFreeze);
  }
  return value;
}

const isWithin = (path: string, place: string): boolean => ['.', '['].some((next) => path.startsWith(place + next));

/** Whether a problem at a path is at a place or around it. */
const encloses = (problem: string, place: string): boolean =>
  problem === '' || problem === place || isWithin(place, problem);

const concerns = (place: string, problem: string): boolean => encloses(problem, place) || isWithin(problem, place);

const withShownValue = (problem: Problem): Problem =>
  problem.given === undefined ? problem : { ...problem, given: shownValue(problem.given) };

/** Ends the path of a list or map of which a rule looks at the entries one by one. */
const EACH = '[]';

const placeOf = (read: string): string => (read.endsWith(EACH) ? read.slice(0, -EACH.length) : read);

/** Whether a problem at a path takes from a rule what it reads. */
const hides = (problem: string, read: string): boolean =>
  read.endsWith(EACH) ? encloses(problem, placeOf(read)) : concerns(read, problem);

/** A copy without the entries at a place that have problems; the value itself where there are none. */
function withoutRefused<T>(value: T, place: string, problems: readonly Problem[]): T {
  if (!problems.some(({ path }) => isWithin(path, place))) {
    return value;
  }
  const copy = structuredClone(value);
  const at = place.split('.');
  const entries = Object(valueAt(copy, at));
  for (const key of Object.keys(entries)) {
    const entry = formatPath([...at, Array.isArray(entries) ? Number(key) : key]);
    if (problems.some(({ path }) => concerns(entry, path))) {
      Reflect.deleteProperty(entries, key);
    }
  }
  return copy;
}

/** What a rule finds that none of the problems so far takes anything from. */
function found<T>(rule: Rule<T>, value: T, problems: readonly Problem[]): readonly Problem[] {
  if (problems.some(({ path }) => rule.reads.some((read) => hides(path, read)))) {
    return [];
  }
  const lists = rule.reads.filter((read) => read.endsWith(EACH)).map(placeOf);
  return findings(
    rule,
    lists.reduce((left, place) => withoutRefused(left, place, problems), value),
  );
}

/** The error of a rule that fails may hold any value, a secret too: the problem has the place alone. */
function findings<T>({ reads: [read = ''], find, masksItself }: Rule<T>, value: T): readonly Problem[] {
  const path = placeOf(read);
  try {
    return masksItself ? find(value) : find(value).map(withShownValue);
  } catch {
    const allowed = 'what the documentation lists for it; if it is that, report this path as an error of the program';
    return [{ path, message: 'cannot be checked', allowed }];
  }
}

/** A copy of the input with the schema's defaults, and what the schema finds wrong in it. */
function completed(schema: TSchema, input: unknown): { readonly document: unknown; readonly problems: Problem[] } {
  const document: unknown = structuredClone(input ?? {});
  const validate = compileSchema(schema);
  validate(document);
  return { document, problems: schemaProblems(validate.errors ?? [], schema as SchemaNode, document) };
}

/**
 * The sections of a document, defaults filled in, that the schema finds nothing wrong in or around. No rule is asked.
 *
 * @param input plain data; it is not changed. `undefined` and `null` count as an empty map.
 */
export function rightSections<S extends TSchema>(schema: S, input: unknown): Partial<Static<S>> {
  const { document, problems } = completed(schema, input);
  const sections = Object.entries(Object(document)).filter(
    ([key]) => !problems.some(({ path }) => concerns(key, path)),
  );
  return deepFreeze(Object.fromEntries(sections)) as Partial<Static<S>>;
}

/**
 * Checks a value against a schema and rules, and fills in the schema's defaults.
 *
 * @param input plain data, such as a parsed YAML document; it is not changed. `undefined` and `null` count as an empty
 * map.
 * @param rules asked after the schema. @default none
 * @returns the complete, deeply frozen value, or all problems at once; it never throws for a wrong input.
 */
export function checkAgainst<S extends TSchema>(
  schema: S,
  input: unknown,
  rules: readonly Rule<Static<S>>[] = [],
): Checked<Static<S>> {
  const { document, problems } = completed(schema, input);
  const value = document as Static<S>;
  problems.push(...rules.flatMap((rule) => found(rule, value, problems)));
  return problems.length === 0
    ? { ok: true, value: deepFreeze(value) }
    : { ok: false, problems: indentedOnce(problems, schema as SchemaNode, document) };
}
