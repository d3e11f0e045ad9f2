/**
 * The largest file of a configuration: the limit of Kubernetes for a ConfigMap or Secret, which bounds time and memory.
 */
export const LARGEST_FILE_BYTES = 1_048_576;

/** A map of plain data: a section of a document. */
export type Section = Readonly<Record<string, unknown>>;

/** Whether a value is a map, and no list. */
export const isSection = (value: unknown): value is Section =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The section at a key; empty where there is none, or no map. */
export const sectionOf = (parent: Section, key: string): Section => (isSection(parent[key]) ? parent[key] : {});

/** Keys and list positions from the document's root to one value. */
export type SettingPath = readonly (string | number)[];

/** A path as it is shown: `kafka.brokers[0]`. */
export function formatPath(path: SettingPath): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === 'number') {
      return `${text}[${part}]`;
    }
    return text === '' ? part : `${text}.${part}`;
  }, '');
}

/** The value at a path, or `undefined` where the path leaves the document. */
export function valueAt(root: unknown, path: SettingPath): unknown {
  return path.reduce<unknown>(
    (value, part) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, part)
        ? (value as Record<string | number, unknown>)[part]
        : undefined,
    root,
  );
}
