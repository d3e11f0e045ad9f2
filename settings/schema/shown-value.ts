import { distance } from 'fastest-levenshtein';
import { childSchema, type SchemaNode } from './schema.ts';

/*
 * What a message shows of a wrong configuration. One slip of the indentation or of a quote puts a password at any key,
 * or makes a key of it: the place alone does not show what may be shown, so the text itself has to be harmless.
 *
 * - numbers of at most ten digits, true, false and nothing
 * - texts of at most 20 characters, all of them short words (at most eight letters in one case), short numbers with or
 *   without a unit, and . , : / _ - + * between them, with at most ten digits in all
 * - texts that differ from what is allowed there in at most two characters
 * - keys that the schema knows at any place, and keys of letters alone that differ from one in at most two letters
 * - other keys by the same rules as texts, as camelCase too, with words of up to 13 letters
 *
 * All else is masked, and so is everything at a place that the schema marks as a secret. The place in the file is shown
 * always, so a person finds what is not shown.
 */

/** Is written wherever a secret would be. */
export const MASK = '******';

const LONGEST_TEXT = 20;
const LONGEST_KEY = 40;
const MOST_DIGITS = 10;

/** Lists and maps are shown up to here: a person recognises them by their beginning. */
const MOST_ITEMS = 10;
const DEEPEST = 3;

const WORD = /^(?:[A-Z]?[a-z]{1,8}|[A-Z]{1,8})$/;
const NUMBER = /^\d{1,10}(?:e\d|[A-Za-z]{1,8})?$/;
/** As ISO 8601, Go and Spring write them: `PT5M`, `1h30m`. */
const DURATION = /^(?:PT)?(?:\d{1,4}[A-Za-z]{1,2}){1,3}$/;
const KEY_WORD = /^(?:[A-Z]?[a-z]{1,13}|[A-Z]{1,13})$/;
const CAMEL = /^[A-Za-z][a-z]{1,7}(?:[A-Z][a-z]{1,7}){0,4}$/;

const hasFewDigits = (text: string): boolean => text.replaceAll(/\D/g, '').length <= MOST_DIGITS;

/** Whether a text differs so little from a known one that there is room for no secret in it. */
const isNearly = (text: string, known: readonly string[]): boolean =>
  text.length <= LONGEST_KEY && known.some((name) => distance(text, name) <= Math.min(2, Math.floor(name.length / 3)));

/**
 * A colon between two words may be between a user and a password; a blank is taken between a number and its unit.
 */
function isHarmless(text: string): boolean {
  const isApart = text.length <= LONGEST_TEXT && !/[a-z]:[a-z]/i.test(text);
  const parts = isApart ? text.replace(/^(\d+) (?=[A-Za-z]+$)/, '$1-').split(/[.,:/_+*-]/) : undefined;
  return (
    hasFewDigits(text) &&
    (parts?.every((part) => part === '' || [WORD, NUMBER, DURATION].some((form) => form.test(part))) ?? false)
  );
}

function isName(key: string): boolean {
  const parts = key.length > LONGEST_KEY ? undefined : key.split(/[._/-]/);
  return (
    hasFewDigits(key) &&
    (parts?.every((part) => CAMEL.test(part) || KEY_WORD.test(part) || /^\d{0,5}$/.test(part)) ?? false)
  );
}

/** @param known texts that are public, such as the choices that were there. @default none */
export function shownText(text: string, known: readonly string[] = []): string {
  return isHarmless(text) || isNearly(text, known) ? text : MASK;
}

/** A name that a user chose or mistyped. @param known names that are public. @default none */
export function shownKey(key: string, known: readonly string[] = []): string {
  return isName(key) || isNearly(key, known) ? key : MASK;
}

/** A value as a message may show it, lists and maps shortened. @param known texts that are public. @default none */
export function shownValue(value: unknown, known: readonly string[] = [], depth = 0): unknown {
  if (typeof value === 'string') {
    return shownText(value, known);
  }
  if (typeof value !== 'object' || value === null) {
    return typeof value === 'boolean' || String(value).length <= MOST_DIGITS ? value : MASK;
  }
  if (depth === DEEPEST) {
    return MASK;
  }
  if (Array.isArray(value)) {
    return value.slice(0, MOST_ITEMS).map((item) => shownValue(item, known, depth + 1));
  }
  const entries = Object.entries(value).slice(0, MOST_ITEMS);
  return Object.fromEntries(entries.map(([key, item]) => [shownKey(key), shownValue(item, known, depth + 1)]));
}

/** A slip of the keyboard in a name; a password of letters alone that is so near to one is none. */
const LETTERS = /^[A-Za-z]+(?:[.-][A-Za-z]+)*$/;

/** Names near which a password may be: whoever needs one quickly takes such a word and changes a letter. */
const SECRET_NAME = /pass|secret|token|credential/i;

/** By schema: every key at any place in it. */
const KEYS = new WeakMap<SchemaNode, ReadonlySet<string>>();

function addKeys(node: SchemaNode, found: Set<string>): void {
  for (const [key, child] of Object.entries(node.properties ?? {})) {
    found.add(key);
    addKeys(child, found);
  }
  const inner = [node.items, ...(node.anyOf ?? []), ...Object.values(node.patternProperties ?? {})];
  for (const child of [
    ...inner,
    typeof node.additionalProperties === 'object' ? node.additionalProperties : undefined,
  ]) {
    if (child !== undefined) {
      addKeys(child, found);
    }
  }
}

function keysOf(root: SchemaNode): ReadonlySet<string> {
  const known = KEYS.get(root);
  if (known !== undefined) {
    return known;
  }
  const found = new Set<string>();
  addKeys(root, found);
  KEYS.set(root, found);
  return found;
}

/** Whether a key is one that some schema has elsewhere, or a slip of one. */
function isKeyElsewhere(key: string, schemas: readonly SchemaNode[]): boolean {
  const known = schemas.map(keysOf);
  return (
    known.some((keys) => keys.has(key)) ||
    (LETTERS.test(key) &&
      known.some((keys) =>
        isNearly(
          key,
          [...keys].filter((name) => !SECRET_NAME.test(name)),
        ),
      ))
  );
}

/**
 * A problem's path, the keys masked that no schema knows, or nearly knows, and that are no harmless names.
 *
 * @param more schemas of parts that the root knows as maps only. @default none
 */
export function shownPath(root: SchemaNode, path: string, more: readonly SchemaNode[] = []): string {
  const schemas = [root, ...more];
  let node: SchemaNode | undefined = root;
  const shown = path.split('.').map((part) => {
    const [, key = part, index = ''] = /^(.*?)((?:\[\d+\])*)$/s.exec(part) ?? [];
    const known: readonly string[] = Object.keys(node?.properties ?? {});
    const child: SchemaNode | undefined = node === undefined ? undefined : childSchema(node, key);
    node = index === '' ? child : child?.items;
    return known.includes(key) || isKeyElsewhere(key, schemas) ? part : `${shownKey(key, known)}${index}`;
  });
  return shown.join('.');
}
