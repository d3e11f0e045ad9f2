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
