import type { Static, TSchema } from 'typebox';
import { compileSchema } from './compile-schema.ts';
import type { Problem } from './problem.ts';
import type { SchemaNode } from './schema-node.ts';
import { schemaProblems } from './schema-problems.ts';

/** What a check says: the complete value, deeply frozen, or everything that is wrong. */
export type Checked<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** A condition that no single value's schema can state. */
export interface Rule<T> {
  /** Paths of the values it looks at: the rule is asked only when none of them is a problem already. */
  readonly reads: readonly string[];
  /** All that is wrong; empty when the values fit. Secrets in `given` are the rule's own duty to mask. */
  readonly find: (value: T) => readonly Problem[];
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(deepFreeze);
  }
  return value;
}

const concerns = (path: string, problem: string): boolean =>
  problem === '' ||
  path === problem ||
  [`.`, `[`].some((next) => path.startsWith(problem + next) || problem.startsWith(path + next));

/**
 * Checks a value against a schema and rules, and fills in the schema's defaults.
 *
 * @param input plain data, such as a parsed YAML document; it is not changed. `undefined` and `null` count as an empty map.
 * @param rules asked after the schema. @default none
 * @returns the complete, deeply frozen value, or all problems at once; it never throws for a wrong input.
 */
export function checkAgainst<S extends TSchema>(
  schema: S,
  input: unknown,
  rules: readonly Rule<Static<S>>[] = [],
): Checked<Static<S>> {
  const document: unknown = structuredClone(input ?? {});
  const validate = compileSchema(schema);
  validate(document);
  const problems = schemaProblems(validate.errors ?? [], schema as SchemaNode, document);
  const value = document as Static<S>;
  const askable = rules.filter(({ reads }) => !problems.some(({ path }) => reads.some((read) => concerns(read, path))));
  problems.push(...askable.flatMap(({ find }) => find(value)));
  return problems.length === 0 ? { ok: true, value: deepFreeze(value) } : { ok: false, problems };
}
