import { formatPath, type SettingPath, valueAt } from './document.ts';
import type { Problem } from './problem.ts';
import { childSchema, isFreeMap, listBranch, mapBranch, type SchemaNode } from './schema.ts';
import { UNKNOWN_KEY, WRONG_TYPE } from './schema-problems.ts';

const MISSING = /^is missing\b/;

/** The reverse of how problems write paths. Only a key of the document has dots in it. */
function partsOf(path: string, document: unknown): SettingPath {
  const keys =
    typeof document === 'object' && document !== null && !Array.isArray(document) ? Object.keys(document) : [];
  const dotted = keys.find((key) => key.includes('.') && (path === key || path.startsWith(`${key}.`)));
  const [first, index] = /^\[(\d+)\]|^[^.[\]]+/.exec(path) ?? [];
  if (first === undefined) {
    return [];
  }
  const part = dotted ?? (index === undefined ? first : Number(index));
  const rest = path.slice((dotted ?? first).length).replace(/^\./, '');
  return [part, ...partsOf(rest, valueAt(document, [part]))];
}

/** A free name is no key of the schema: any slip would be one. */
function namedChild(node: SchemaNode | undefined, part: string | number): SchemaNode | undefined {
  if (typeof part === 'number') {
    return node && listBranch(node)?.items;
  }
  const { properties = {} } = (node && mapBranch(node)) ?? {};
  return Object.hasOwn(properties, part) ? properties[part] : undefined;
}

const nodeAt = (root: SchemaNode, path: SettingPath): SchemaNode | undefined =>
  path.reduce<SchemaNode | undefined>(namedChild, root);

/** What was checked, and against what. */
interface Checked {
  readonly root: SchemaNode;
  readonly document: unknown;
}

/** A key that does not fit where it is, by its section. */
interface Unknown {
  readonly problem: Problem;
  readonly section: SettingPath;
  readonly key: string;
}

/** Keys that are unknown, and those that a map of free names has taken, whose values are of another type. */
function unknownKeys(problems: readonly Problem[], { root, document }: Checked): readonly Unknown[] {
  return problems
    .map((problem): Unknown => {
      const parts = partsOf(problem.path, document);
      return { problem, section: parts.slice(0, -1), key: String(parts.at(-1)) };
    })
    .filter(({ problem, section }) => {
      const map = nodeAt(root, section);
      const isTaken = problem.message === WRONG_TYPE && map !== undefined && isFreeMap(mapBranch(map) ?? map);
      return problem.message === UNKNOWN_KEY || isTaken;
    });
}

/** Unknown keys of one section, and the section that they belong below. */
interface Moved {
  readonly keys: readonly Unknown[];
  readonly target: SettingPath;
}

const isKnown = (root: SchemaNode, target: SettingPath, key: string): boolean =>
  nodeAt(root, [...target, key]) !== undefined;

/** Whether a section may have the key, by its name or by a free one. */
function takes(root: SchemaNode, target: SettingPath, key: string): boolean {
  const node = nodeAt(root, target);
  return node !== undefined && childSchema(mapBranch(node) ?? node, key) !== undefined;
}

/** The keys by the sections that they are in. */
function bySection(unknown: readonly Unknown[]): readonly (readonly Unknown[])[] {
  const sections = new Set(unknown.map(({ section }) => formatPath(section)));
  return [...sections].map((name) => unknown.filter(({ section }) => formatPath(section) === name));
}

/** Whether the section of these keys has one of that name, which may fit there. */
const hasKey = ({ document }: Checked, keys: readonly Unknown[], name: string | number | undefined): boolean =>
  Object.hasOwn(Object(valueAt(document, keys[0]?.section ?? [])), name ?? '');

/**
 * The unknown keys that a missing one explains: it is among them itself, or its section is; or the section that is
 * missing has them, or a section in it that is called as theirs.
 */
function explained(checked: Checked, missing: Problem, unknown: readonly Unknown[]): Moved | undefined {
  const { root, document } = checked;
  const path = partsOf(missing.path, document);
  const above = path.slice(0, -1);
  const found = bySection(unknown).flatMap((keys) => {
    const below = (target: SettingPath): Moved => ({
      keys: keys.filter(({ key }) => isKnown(root, target, key)),
      target,
    });
    const section = keys.filter(({ key }) => key === above.at(-1) && isKnown(root, above.slice(0, -1), key));
    return [
      hasKey(checked, keys, path.at(-1)) ? below(above) : below(path),
      below([...path, ...(keys[0]?.section.slice(-1) ?? [])]),
      { keys: section, target: above.slice(0, -1) },
    ];
  });
  return found.filter(({ keys }) => keys.length > 0).toSorted((one, other) => other.keys.length - one.keys.length)[0];
}

/** Every section of a schema, but for those below free names and in lists. */
function sectionsOf(node: SchemaNode, path: SettingPath = []): readonly SettingPath[] {
  const section = mapBranch(node);
  const children = Object.entries(section?.properties ?? {});
  return section === undefined ? [] : [path, ...children.flatMap(([key, child]) => sectionsOf(child, [...path, key]))];
}

/** Two or more unknown keys of one section that one other section of the schema has, and no third one. */
function elsewhere(root: SchemaNode, unknown: readonly Unknown[]): Moved | undefined {
  const several = bySection(unknown).filter((keys) => keys.length > 1);
  const all = several.length === 0 ? [] : sectionsOf(root);
  return several.flatMap((keys) => {
    const targets = all.filter((target) => keys.every(({ key }) => isKnown(root, target, key)));
    return targets.length === 1 ? targets.map((target) => ({ keys, target })) : [];
  })[0];
}

/** Sections that are there with nothing in them, as where their keys are beside them. */
const emptySections = (problems: readonly Problem[], { document }: Checked): readonly Problem[] =>
  problems.filter(({ message, path }) => message === WRONG_TYPE && valueAt(document, partsOf(path, document)) === null);

/** The unknown keys beside an empty section that belong into it. */
function besideEmpty({ root, document }: Checked, { path }: Problem, unknown: readonly Unknown[]): Moved {
  const target = partsOf(path, document);
  const section = formatPath(target.slice(0, -1));
  const beside = unknown.filter((each) => formatPath(each.section) === section);
  return { keys: beside.filter(({ key }) => takes(root, target, key)), target };
}

/** The name of a section that is in the one before it, with its keys beside it. */
function sunkName({ root, document }: Checked, unknown: readonly Unknown[]): Moved | undefined {
  const found = unknown.flatMap((name) => {
    const target = [...name.section.slice(0, -1), name.key];
    const isName = name.section.length > 0 && isKnown(root, target.slice(0, -1), name.key);
    const isEmpty = valueAt(document, [...name.section, name.key]) === null;
    const beside = unknown.filter((each) => formatPath(each.section) === formatPath(name.section));
    const keys = isName && isEmpty ? beside.filter(({ key }) => takes(root, target, key)) : [];
    return keys.length === 0 ? [] : [{ keys: [name, ...keys.filter((each) => each !== name)], target }];
  });
  return found[0];
}

const nameOf = (path: SettingPath): string => formatPath(path) || 'the top level';

function whyMoved({ target }: Moved, missing: Problem | undefined): string {
  if (missing === undefined) {
    return `${nameOf(target)} has such keys`;
  }
  return `${missing.path} ${missing.message === WRONG_TYPE ? 'has nothing in it' : 'is missing'}`;
}

/** The problems with one in the place of those of keys that were moved. */
function joined(problems: readonly Problem[], moved: Moved, missing?: Problem): readonly Problem[] {
  const { keys, target } = moved;
  const [first, ...others] = keys.map(({ problem }) => problem);
  if (first === undefined) {
    return problems;
  }
  const { nearest: _nearest, ...problem } = first;
  const also =
    others.length === 0
      ? ''
      : `, nor is ${keys
          .slice(1)
          .map(({ key }) => key)
          .join(', ')}`;
  const one: Problem = {
    ...problem,
    message: `${UNKNOWN_KEY} here${also}, and ${whyMoved(moved, missing)}: look at the indentation`,
    allowed: 'each key below its section, indented deeper than it',
  };
  const places = new Set([target, ...keys.map(({ key }) => [...target, key])].map(formatPath));
  const isPart = (each: Problem): boolean =>
    each === missing || others.includes(each) || (each.given === undefined && places.has(each.path));
  return problems.flatMap((each) => (each === first ? one : isPart(each) ? [] : each));
}

/**
 * More problems than the keys of any section are no matter of one indentation. Each is compared with all others, so
 * this bounds the work, too.
 */
const MOST_COMPARED = 200;

/**
 * The problems, of which those that one wrong indentation makes are one. A line that is indented too deep, or not deep
 * enough, makes keys unknown where they are, and missing where they belong.
 *
 * @param document that was checked
 */
export function indentedOnce(problems: readonly Problem[], root: SchemaNode, document: unknown): readonly Problem[] {
  if (problems.length > MOST_COMPARED) {
    return problems;
  }
  const checked = { root, document };
  const unknownIn = (rest: readonly Problem[]) => unknownKeys(rest, checked);
  const join = (rest: readonly Problem[], moved: Moved | undefined, missing?: Problem) =>
    moved === undefined ? rest : joined(rest, moved, missing);
  const above = join(problems, sunkName(checked, unknownIn(problems)));
  const filled = emptySections(above, checked).reduce<readonly Problem[]>(
    (rest, empty) => join(rest, besideEmpty(checked, empty, unknownIn(rest)), empty),
    above,
  );
  const left = filled
    .filter(({ message }) => MISSING.test(message))
    .reduce<readonly Problem[]>(
      (rest, missing) => join(rest, explained(checked, missing, unknownIn(rest)), missing),
      filled,
    );
  return join(left, elsewhere(root, unknownIn(left)));
}
