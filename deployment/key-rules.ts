import type { Rule } from '../settings/check.ts';
import type { Problem } from '../settings/problem.ts';
import type { ConsumerFile } from './consumer-file.ts';

/** cdk8s takes an object with such a key for an instance of a class, and throws (its `sanitizeValue`). */
const UNRENDERABLE = 'constructor';

/** The parts that have maps whose keys are the user's and become keys of an object. */
const PARTS = ['pods', 'monitoring', 'networkPolicy', 'scaling', 'database', 'kafka'] as const;

/** Becomes a list. */
const ENVIRONMENT = 'pods.environment';

function keyProblems(value: unknown, path: string): Problem[] {
  if (Array.isArray(value)) {
    return value.flatMap((item, index) => keyProblems(item, `${path}[${index}]`));
  }
  if (typeof value !== 'object' || value === null || path === ENVIRONMENT) {
    return [];
  }
  return Object.entries(value).flatMap(([key, inner]) => {
    const place = `${path}.${key}`;
    return key === UNRENDERABLE ? [unrenderable(place)] : keyProblems(inner, place);
  });
}

const unrenderable = (path: string): Problem => ({
  path,
  message: 'has a name that cdk8s cannot render',
  allowed: `any other name; with a prefix it can be had: example.com/${UNRENDERABLE}`,
});

/** Labels and the like may have any name that Kubernetes allows, but for one. */
const namesAreRendered: Rule<ConsumerFile> = {
  reads: PARTS,
  find: (file) => PARTS.flatMap((part) => keyProblems(file[part], part)),
};

export const KEY_RULES: readonly Rule<ConsumerFile>[] = [namesAreRendered];
