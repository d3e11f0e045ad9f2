/** A text with its placeholders replaced, and the names that are not known and have no default. */
export interface ResolvedText {
  readonly text: string;
  readonly missing: readonly string[];
}

/** Placeholders stand at most this deep in the defaults of others: the work for a text grows with it. */
export const DEEPEST_PLACEHOLDER = 16;

/** Whether placeholders stand in each other deeper than {@link DEEPEST_PLACEHOLDER}, closed or not. */
export function isNestedTooDeep(text: string): boolean {
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

function resolveOne(content: string, lookup: (name: string) => string | undefined): ResolvedText {
  const colon = content.indexOf(':');
  const name = (colon < 0 ? content : content.slice(0, colon)).trim();
  const value = lookup(name);
  if (value !== undefined) {
    return { text: value, missing: [] };
  }
  return colon < 0 ? { text: '', missing: [name] } : resolvePlaceholders(content.slice(colon + 1), lookup);
}

/**
 * Replaces `${NAME}` and `${NAME:default}`; the default may hold placeholders. A backslash before it (`\${NAME}`) keeps a
 * placeholder as text, and so does a missing closing brace. What a name stands for is not searched for placeholders: a
 * password may hold any characters.
 *
 * @param text one that is not {@link isNestedTooDeep}
 */
export function resolvePlaceholders(text: string, lookup: (name: string) => string | undefined): ResolvedText {
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
