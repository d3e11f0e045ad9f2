type Section = Readonly<Record<string, unknown>>;

const isSection = (value: unknown): value is Section =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const below = (path: string, key: string): string => {
  const isPlain = /^[A-Za-z_][\w-]*$/.test(key);
  return isPlain ? `${path}${path === '' ? '' : '.'}${key}` : `${path}[${JSON.stringify(key)}]`;
};

/** Kubernetes tells the items of a list apart by their names, where they have any: one more in front changes no other. */
const itemKey = (item: unknown, index: number): string =>
  isSection(item) && typeof item['name'] === 'string' ? item['name'] : String(index);

/**
 * A value as lines that each say where they are and what is there, so that a difference between two values needs no
 * lines around it: `spec.template.spec.containers[consumer].image: "registry/x:1"`. A text of several lines is one line
 * for each of them, behind a bar.
 */
export function fieldLines(value: unknown, path = ''): string[] {
  if (isSection(value) && Object.keys(value).length > 0) {
    return Object.entries(value).flatMap(([key, child]) => fieldLines(child, below(path, key)));
  }
  if (Array.isArray(value) && value.length > 0) {
    return value.flatMap((item: unknown, index) => fieldLines(item, `${path}[${itemKey(item, index)}]`));
  }
  if (typeof value === 'string' && value.includes('\n')) {
    return value
      .replace(/\n$/, '')
      .split('\n')
      .map((line) => `${path} | ${line}`);
  }
  return [`${path}: ${JSON.stringify(value)}`];
}
