import { formatPath, type SettingPath } from '../../settings/schema/document.ts';
import { describeProblem, type Problem } from '../../settings/schema/problem.ts';
import type { SchemaNode } from '../../settings/schema/schema.ts';
import { told } from '../app/configuration/canaries.ts';

/** A mistake, the beginning of its problem, and all that has to be right before anything can be said of it. */
export interface Mistake {
  readonly at: string;
  readonly value: unknown;
  readonly problem: string;
  readonly needs: readonly string[];
}

/** A right document, what is checked about it, and what may be shown nowhere. */
export interface CheckedDocument {
  readonly schema: SchemaNode;
  readonly right: unknown;
  readonly check: (document: unknown) => readonly Problem[];
  /** Groups of mistakes that can be made together. */
  readonly mistakes: readonly (readonly Mistake[])[];
  readonly secrets: readonly string[];
}

/** One value of each kind, with a secret where there is room for one. */
const kindsWith = (secret: string): Readonly<Record<string, unknown>> => ({
  'a text': `Bag Attributes\n-----BEGIN PRIVATE KEY-----\n${secret}\n-----END PRIVATE KEY-----\n`,
  'an empty text': '',
  'a number': 26,
  'an empty list': [],
  'a list': [secret, [secret], { a: secret }],
  'an empty map': {},
  'a map': { [secret]: secret, url: secret },
});

/** A copy of the document with another value at a path, its sections made where they are missing. */
export function replaced(document: unknown, [key, ...rest]: SettingPath, value: unknown): unknown {
  if (key === undefined) {
    return value;
  }
  const isList = typeof key === 'number';
  const isFitting = typeof document === 'object' && document !== null && Array.isArray(document) === isList;
  const copy = (isFitting ? structuredClone(document) : isList ? [] : {}) as Record<string | number, unknown>;
  copy[key] = replaced(copy[key], rest, value);
  return copy;
}

const parts = (path: string): SettingPath =>
  path.split(/[.[]/).map((part) => (part.endsWith(']') ? Number(part.slice(0, -1)) : part));

/** Every place that the schema knows: sections, values, items of lists, and one free name. */
function placesOf(node: SchemaNode, path: SettingPath = []): SettingPath[] {
  const named = Object.entries(node.properties ?? {});
  const free = Object.values(node.patternProperties ?? {}).map((child) => ['custom', child] as const);
  const below = [...named, ...free].flatMap(([key, child]) => placesOf(child, [...path, key]));
  const items = node.items === undefined ? [] : placesOf(node.items, [...path, 0]);
  const branches = (node.anyOf ?? []).flatMap((branch) => placesOf(branch, path).slice(1));
  return [path, ...below, ...items, ...branches];
}

const isWithin = (path: string, place: string): boolean =>
  place === '' || path === place || ['.', '['].some((next) => path.startsWith(place + next));

/** The document with all mistakes of a group. */
const withMistakes = ({ right }: CheckedDocument, mistakes: readonly Mistake[]): unknown =>
  mistakes.reduce((document, { at, value }) => replaced(document, parts(at), value), right);

/** Those of the mistakes that nothing is said of. */
const untold = (mistakes: readonly Mistake[], texts: readonly string[]): readonly string[] =>
  mistakes.map(({ problem }) => problem).filter((problem) => !texts.some((text) => text.startsWith(problem)));

/** The groups of which not each mistake is exactly one problem; and what is wrong with the right document. */
export function falseMistakes(document: CheckedDocument): readonly unknown[] {
  const { right, check, mistakes } = document;
  const wrongGroups = mistakes.flatMap((group) => {
    const texts = check(withMistakes(document, group)).map(describeProblem);
    const missing = untold(group, texts);
    return missing.length > 0 || texts.length !== group.length ? [{ missing, texts }] : [];
  });
  return [...check(right), ...wrongGroups];
}

/** What is wrong with the answer to this value at this place, beside these mistakes. */
function faultsAt(
  document: CheckedDocument,
  path: SettingPath,
  value: unknown,
  mistakes: readonly Mistake[],
): string[] {
  const place = formatPath(path);
  const found = document.check(replaced(withMistakes(document, mistakes), path, value));
  const texts = found.map(describeProblem);
  const apart = mistakes.filter(
    ({ at, needs }) => ![at, ...needs].some((need) => isWithin(need, place) || isWithin(place, need)),
  );
  const isRefused = found.some((problem) => problem.path === place);
  const invented = texts.filter(
    (text, index) =>
      !isWithin(found[index]?.path ?? '', place) &&
      !isWithin(place, found[index]?.path ?? '') &&
      // A section that is made for the value lacks what it has to have.
      found[index]?.message !== 'is missing' &&
      untold(mistakes, [text]).length === mistakes.length,
  );
  const isOtherType = found.some(({ path: at, message }) => at === place && message === 'has the wrong type');
  const unknowable = mistakes.filter(({ needs }) => needs.some((need) => isWithin(need, place)));
  const guessed = unknowable.filter((mistake) => untold([mistake], texts).length === 0);
  return [
    ...untold(apart, texts).map((problem) => `hides: ${problem}`),
    ...(isOtherType ? guessed.map(({ problem }) => `guesses: ${problem}`) : []),
    ...(isRefused ? invented.map((text) => `invents: ${text}`) : []),
    ...told(texts.join('\n'), document.secrets).map((secret) => `shows: ${secret}`),
    ...texts.filter((text) => text.includes('cannot be checked')),
  ];
}

/**
 * All that is wrong with the answers to each kind of value at each place of the schema: another problem that is hidden or
 * invented, a secret that is shown, a rule that fails.
 *
 * @param share one of so many places is tried beside each group of mistakes, other ones for each kind. @default 1: all
 */
export function faultsOfKinds(document: CheckedDocument, share = 1): readonly string[] {
  const kinds = Object.entries(kindsWith(document.secrets[0] ?? ''));
  return placesOf(document.schema).flatMap((path, place) =>
    kinds.flatMap(([kind, value], nth) =>
      document.mistakes.flatMap((group, index) =>
        (place + nth + index) % share === 0
          ? faultsAt(document, path, value, group).map((fault) => `${kind} at ${formatPath(path)} ${fault}`)
          : [],
      ),
    ),
  );
}
