import type { Problem } from '../../settings/schema/problem.ts';
import { environmentName } from '../../settings/schema/setting-list.ts';
import { MASK, shownKey } from '../../settings/schema/shown-value.ts';

/** The value of a placeholder's name; `undefined` when the name is not set. */
export type PlaceholderLookup = (name: string) => string | undefined;

/** A text with its placeholders replaced, and the names that are not known and have no default. */
interface ResolvedText {
  readonly text: string;
  readonly missing: readonly string[];
}

/** Placeholders are nested at most this deep in the defaults of others: the work for a text grows with it. */
const DEEPEST_PLACEHOLDER = 16;

/** Whether placeholders are nested deeper than {@link DEEPEST_PLACEHOLDER}, closed or not. */
function isNestedTooDeep(text: string): boolean {
  let depth = 0;
  for (const [token] of text.matchAll(/\$\{|\}/g)) {
    depth = token === '}' ? Math.max(depth - 1, 0) : depth + 1;
    if (depth > DEEPEST_PLACEHOLDER) {
      return true;
    }
  }
  return false;
}

/** Index of the brace that closes the placeholder whose content begins at `start`; -1 when none does. */
function closingBrace(text: string, start: number): number {
  let depth = 1;
  for (let index = start; index < text.length; index += 1) {
    if (text.startsWith('${', index)) {
      depth += 1;
    } else if (text[index] === '}') {
      depth -= 1;
    }
    if (depth === 0) {
      return index;
    }
  }
  return -1;
}

function resolveOne(content: string, lookup: PlaceholderLookup): ResolvedText {
  const colon = content.indexOf(':');
  const name = (colon < 0 ? content : content.slice(0, colon)).trim();
  const value = lookup(name);
  if (value !== undefined) {
    return { text: value, missing: [] };
  }
  return colon < 0 ? { text: '', missing: [name] } : resolvePlaceholders(content.slice(colon + 1), lookup);
}

/**
 * Replaces `${NAME}` and `${NAME:default}`; the default may hold placeholders. A backslash before it (`\${NAME}`) keeps
 * a placeholder as text, and so does a missing closing brace. The value of a name is not searched for placeholders:
 * a password may hold any characters.
 *
 * @param text one that is not {@link isNestedTooDeep}
 */
export function resolvePlaceholders(text: string, lookup: PlaceholderLookup): ResolvedText {
  const missing: string[] = [];
  let resolved = '';
  let position = 0;
  for (let start = text.indexOf('${'); start >= 0; start = text.indexOf('${', position)) {
    const end = closingBrace(text, start + 2);
    if (end < 0) {
      break;
    }
    if (text[start - 1] === '\\') {
      resolved += text.slice(position, start - 1) + text.slice(start, end + 1);
    } else {
      const one = resolveOne(text.slice(start + 2, end), lookup);
      resolved += text.slice(position, start) + one.text;
      missing.push(...one.missing);
    }
    position = end + 1;
  }
  return { text: resolved + text.slice(position), missing };
}

/** @param name as it was written; it may be a part of a password that holds a dollar and braces */
function unresolved(path: string, name: string, source: string): Problem {
  const shown = shownKey(name);
  const variable = /^[A-Z0-9_]+$/.test(name) ? name : environmentName(name);
  const named = shown === MASK ? 'the environment variable of that name' : `the environment variable ${variable}`;
  const asText = `; \\\${${shown}} is the text itself`;
  return {
    path,
    message: `refers to \${${shown}}, which is not set`,
    allowed: `set ${named}, or give a default: \${${shown}:value}${shown === MASK ? asText : ''}`,
    source,
  };
}

const tooDeep = (path: string, source: string): Problem => ({
  path,
  message: `has placeholders more than ${DEEPEST_PLACEHOLDER} deep inside of each other`,
  allowed: 'a text, or a placeholder with a default',
  source,
});

/** The placeholders of a value that cannot be replaced. */
interface Unresolved {
  readonly names: Set<string>;
  isTooDeep: boolean;
}

/** Replaces the placeholders in every text of a value, and collects those that cannot be replaced. */
function resolveTexts(value: unknown, lookup: PlaceholderLookup, wrong: Unresolved): unknown {
  if (typeof value === 'string') {
    if (isNestedTooDeep(value)) {
      wrong.isTooDeep = true;
      return value;
    }
    const resolved = resolvePlaceholders(value, lookup);
    for (const name of resolved.missing) {
      wrong.names.add(name);
    }
    return resolved.text;
  }
  if (Array.isArray(value)) {
    return value.map((item) => resolveTexts(item, lookup, wrong));
  }
  return typeof value === 'object' && value !== null
    ? Object.fromEntries(Object.entries(value).map(([key, item]) => [key, resolveTexts(item, lookup, wrong)]))
    : value;
}

/**
 * Replaces the placeholders in every text of a value.
 *
 * @param place the setting and its source, for the problems: placeholders that are not set, or nested too deep
 */
export function resolveValue(
  value: unknown,
  lookup: PlaceholderLookup,
  { path, source }: { readonly path: string; readonly source: string },
): { readonly resolved: unknown; readonly problems: readonly Problem[] } {
  const wrong: Unresolved = { names: new Set(), isTooDeep: false };
  const resolved = resolveTexts(value, lookup, wrong);
  const problems = [
    ...(wrong.isTooDeep ? [tooDeep(path, source)] : []),
    ...[...wrong.names].map((name) => unresolved(path, name, source)),
  ];
  return { resolved, problems };
}
