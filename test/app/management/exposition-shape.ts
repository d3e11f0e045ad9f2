import { ABSENT_FAMILIES, ABSENT_LABELS } from './differences.ts';

/** The part of a family that has to be as captured: its lines without help text and values, each once. */
export type FamilyShapes = ReadonlyMap<string, readonly string[]>;

const labelNames = (labels: string): string =>
  [...labels.matchAll(/([\w.]+)="/g)]
    .map(([, name = '']) => name)
    .filter((name) => !ABSENT_LABELS.names.has(name))
    .sort()
    .join();

/** The line without help text, value and the values of its labels. */
function shapeOf(line: string): string {
  if (line.startsWith('#')) {
    return line.replace(/^# HELP (\S+) .*$/, '# HELP $1');
  }
  return line.replace(/\{(.*)\} \S+$/, (_all, labels: string) => `{${labelNames(labels)}}`);
}

const isAbsent = (family: string): boolean =>
  ABSENT_FAMILIES.some(({ names }) => names.some((name) => name.test(family)));

/** The families of a scrape in their order, those that are meant to be absent left out. */
export function familyShapes(exposition: string): FamilyShapes {
  const families = new Map<string, string[]>();
  let current: string[] = [];
  for (const line of exposition.trim().split('\n')) {
    const [, name] = /^# (?:HELP|TYPE) (\S+)/.exec(line) ?? [];
    if (name !== undefined) {
      current = families.get(name) ?? [];
      families.set(name, current);
    }
    const shape = shapeOf(line);
    if (line !== '# EOF' && !current.includes(shape)) {
      current.push(shape);
    }
  }
  return new Map([...families].filter(([name]) => !isAbsent(name)));
}
