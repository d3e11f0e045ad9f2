import { formatPath, isSection, type SettingPath } from '../../settings/schema/document.ts';
import type { Problem } from '../../settings/schema/problem.ts';

/** One setting as one source gives it. */
export interface SettingValue {
  /** The schema's own keys; for keys that it does not know, the written ones. */
  readonly path: SettingPath;
  /** Converted to the schema's type where that was possible. */
  readonly value: unknown;
  /** The value's place, for messages: `application.yml:3:9`, `environment variable SERVER_PORT`. */
  readonly source: string;
  /** The same for values in a list, by their paths. */
  readonly innerSources?: ReadonlyMap<string, string>;
  /** Problems found while reading values of a list, which are left out of it. */
  readonly innerProblems?: readonly Problem[];
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

/** The list of maps that contains a value; `undefined` where none does. */
function listOf({ path }: SettingValue): SettingPath | undefined {
  const index = path.findIndex((key) => typeof key === 'number');
  return index < 0 ? undefined : path.slice(0, index);
}

/** Puts a value at its place in a list, below which all positions are filled. */
function putItem(list: unknown[], [index = 0, ...path]: SettingPath, { value, problems }: SettingValue): void {
  while (list.length <= Number(index)) {
    list.push(emptySection());
  }
  const item = list[Number(index)];
  if (problems === undefined && path.length === 0) {
    list[Number(index)] = value;
  } else if (problems === undefined && isSection(item)) {
    put(item as MutableSection, path, value);
  }
}

function joinedList(path: SettingPath, values: readonly SettingValue[]): SettingValue {
  const list: unknown[] = [];
  const innerSources = new Map<string, string>();
  for (const value of values) {
    putItem(list, value.path.slice(path.length), value);
    const above = value.path.slice(path.length).map((_key, index) => value.path.slice(0, path.length + index + 1));
    const places = above.map((each) => [formatPath(each), value.source] as const);
    for (const [place, source] of [...places, ...(value.innerSources ?? [])]) {
      innerSources.set(place, innerSources.get(place) ?? source);
    }
  }
  const innerProblems = values.flatMap(({ problems = [] }) => problems);
  return { path, value: list, source: values[0]?.source ?? '', innerSources, innerProblems };
}

/**
 * The values of one source, with all values in a list of maps as one value: a list replaces a list. A position
 * that the source leaves out is an empty map, of which the check says what is missing.
 */
export function joinLists(values: readonly SettingValue[]): readonly SettingValue[] {
  const inLists = new Map<string, SettingValue[]>();
  for (const value of values) {
    const list = listOf(value);
    const path = list && formatPath(list);
    if (path !== undefined) {
      inLists.set(path, [...(inLists.get(path) ?? []), value]);
    }
  }
  const lists = [...inLists.values()].map((inList) => joinedList(listOf(inList[0] as SettingValue) ?? [], inList));
  return [...values.filter((value) => listOf(value) === undefined), ...lists];
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
  for (const [path, { path: segments, value, source, innerSources = [], problems }] of winners) {
    sources.set(path, source);
    for (const [inner, innerSource] of innerSources) {
      sources.set(inner, innerSource);
    }
    if (problems === undefined && segments.length > 0) {
      put(document, segments, value);
    }
  }
  return {
    document: whole === undefined ? document : whole.value,
    problems: [...winners.values()].flatMap(({ problems = [], innerProblems = [] }) => [...problems, ...innerProblems]),
    sources,
  };
}
