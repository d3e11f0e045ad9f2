import { ABSENT_LABELS, FOREIGN_KEYS } from './differences.ts';
import { familyShapes } from './exposition-shape.ts';

/** Keys with values that are part of the contract; other keys have to agree in type alone. */
const EXACT_KEYS = new Set([
  'status',
  'error',
  'path',
  'href',
  'templated',
  'name',
  'statistic',
  'tag',
  'baseUnit',
  'groups',
  'database',
  'validationQuery',
  'exists',
]);

const FOREIGN = new Set(FOREIGN_KEYS.flatMap(({ keys }) => keys));

/** Sections of the info with names and texts of each product's own. */
const FREE_SECTIONS = new Set(['app', 'build', 'os', 'garbageCollectors']);

/** The part of a body that has to be as captured. */
export function bodyShape(body: string, contentType: unknown): unknown {
  if (body === '') {
    return 'empty';
  }
  const type = String(contentType);
  if (type.includes('json')) {
    return shapeOf(JSON.parse(body));
  }
  if (type.startsWith('text/html')) {
    return /^<(html|!doctype html)[ >]/.test(body) ? 'page' : 'no page';
  }
  return type.includes('version=') ? familyShapes(body) : body;
}

/** Keys in their order, values of EXACT_KEYS, types of the others; for a list, the distinct shapes of its items. */
function shapeOf(value: unknown, key = '', isFree = false): unknown {
  if (Array.isArray(value)) {
    const isExact = EXACT_KEYS.has(key) && !isFree;
    return isExact
      ? value
      : [
          ...new Set(
            value.filter(isHere).map((item) => JSON.stringify(shapeOf(item, '', isFree || FREE_SECTIONS.has(key)))),
          ),
        ].sort();
  }
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value)
      .filter(([name]) => !FOREIGN.has(name) || key === 'build')
      .map(([name, item]) => [name, shapeOf(item, name, isFree || FREE_SECTIONS.has(name))]);
  }
  if (key === 'timestamp') {
    return String(value).replace(/\d/g, '0');
  }
  return EXACT_KEYS.has(key) && !isFree && !isDiskPath(key, value) ? value : typeof value;
}

/** Whether an item of a list of tags is a tag that this consumer has, too. */
const isHere = (item: unknown): boolean =>
  !(typeof item === 'object' && item !== null && 'tag' in item && ABSENT_LABELS.names.has(String(item.tag)));

/** `path` is the requested path in an error, and a folder of the machine in diskSpace. */
const isDiskPath = (key: string, value: unknown): boolean =>
  key === 'path' && String(value).startsWith('/') && !/^\/(actuator|$)/.test(String(value));
