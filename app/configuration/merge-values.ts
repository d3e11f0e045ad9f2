import { formatPath, isSection, type SettingPath } from '../../settings/document.ts';
import type { Problem } from '../../settings/problem.ts';

/** One setting as one source gives it. */
export interface SettingValue {
  /** The schema's own keys; for keys that it does not know, the written ones. */
  readonly path: SettingPath;
  /** Converted to the schema's type where that was possible. */
  readonly value: unknown;
  /** The value's place, for messages: `application.yml:3:9`, `environment variable SERVER_PORT`. */
  readonly source: string;
  /** The same for each item of a list, where the items have places of their own. */
  readonly itemSources?: readonly string[];
  /** Problems found while reading; the value is not merged then. */
  readonly problems?: readonly Problem[];
}

/** The settings of all sources as one document, and the source of each value. */
export interface MergedValues {
  readonly document: unknown;
  /** Problems of the values that won; those of overridden values do not matter. */
  readonly problems: readonly Problem[];
  readonly sources: ReadonlyMap<string, string>;
}

type MutableSection = Record<string | number, unknown>;

// Without a prototype, a key such as __proto__ is a key like any other.
const emptySection = (): MutableSection => Object.create(null) as MutableSection;

const isEmptySection = (value: unknown): boolean => isSection(value) && Object.keys(value).length === 0;

/**
 * Puts a value into the document; below a text in the place of a section nothing is put: the check reports the text.
 */
function put(root: MutableSection, path: SettingPath, value: unknown): void {
  const last = path.at(-1) ?? '';
  let section = root;
  for (const key of path.slice(0, -1)) {
    section[key] ??= emptySection();
    const next = section[key];
    if (!isSection(next)) {
      return;
    }
    section = next as MutableSection;
  }
  if (!(isEmptySection(value) && isSection(section[last]))) {
    section[last] = isEmptySection(value) ? emptySection() : value;
  }
}

/**
 * Merges values, later ones over earlier ones; a list replaces a list.
 *
 * @param values the defaults are not among them: the schema's check fills those in.
 */
export function mergeValues(values: readonly SettingValue[]): MergedValues {
  const winners = new Map(values.map((value) => [formatPath(value.path), value]));
  const sources = new Map<string, string>();
  const document = emptySection();
  const whole = winners.get('');
  for (const [path, { path: segments, value, source, itemSources, problems }] of winners) {
    sources.set(path, source);
    for (const [index, itemSource] of (itemSources ?? []).entries()) {
      sources.set(`${path}[${index}]`, itemSource);
    }
    if (problems === undefined && segments.length > 0) {
      put(document, segments, value);
    }
  }
  return {
    document: whole === undefined ? document : whole.value,
    problems: [...winners.values()].flatMap(({ problems }) => problems ?? []),
    sources,
  };
}
