import {
  BACKSLASH,
  COLON,
  COMMA,
  LIST_BEGIN,
  LIST_END,
  OBJECT_BEGIN,
  OBJECT_END,
  QUOTE,
  SPACE,
} from '../../records/ascii.ts';
import { type JsonKind, kindAt } from './json-lexer.ts';

/** What a value is. `text`: the content of a string as other formats than JSON have it, without quotes and escapes. */
export type ValueKind = JsonKind | 'text';

/**
 * One value of a record in UTF-8: the bytes from `start` up to `end`, those of a string with its quotes. All but a
 * `text` is valid JSON.
 */
export interface JsonSlice {
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
  readonly kind: ValueKind;
  /**
   * Whether a string has a backslash, or a text what JSON escapes: a quote, a backslash, a control character. Of no
   * meaning for the other kinds.
   */
  readonly hasEscapes: boolean;
}

const sent = ({ bytes, start, end }: JsonSlice): string => bytes.toString('utf8', start, end);

/** The value's own JSON, as it was sent; a text, which was not sent as JSON, as a string of JSON. */
export const sentJson = (value: JsonSlice): string =>
  value.kind === 'text' ? JSON.stringify(sent(value)) : sent(value);

/** Whether a value has a {@link contentOf | content}. */
export const isString = ({ kind }: JsonSlice): boolean => kind === 'string' || kind === 'text';

/** What a string or a text says; half a surrogate pair stays one. */
export function contentOf(string: JsonSlice): string {
  if (string.kind === 'text') {
    return sent(string);
  }
  return string.hasEscapes
    ? (JSON.parse(sent(string)) as string)
    : string.bytes.toString('utf8', string.start + 1, string.end - 1);
}

/** The values of a list, in order. */
export function itemsOf({ bytes, start }: JsonSlice): JsonSlice[] {
  const items: JsonSlice[] = [];
  let at = afterBlanks(bytes, start + 1);
  while (bytes[at] !== LIST_END) {
    const item = valueAt(bytes, at);
    items.push(item);
    at = afterComma(bytes, item.end);
  }
  return items;
}

/** The values of an object by their names; of equal names the last one counts, as in jsonb. */
export function membersOf({ bytes, start }: JsonSlice): ReadonlyMap<string, JsonSlice> {
  const members = new Map<string, JsonSlice>();
  let at = afterBlanks(bytes, start + 1);
  while (bytes[at] !== OBJECT_END) {
    const name = valueAt(bytes, at);
    const colon = afterBlanks(bytes, name.end);
    const value = valueAt(bytes, afterBlanks(bytes, colon + 1));
    members.set(contentOf(name), value);
    at = afterComma(bytes, value.end);
  }
  return members;
}

function afterBlanks(bytes: Buffer, from: number): number {
  let at = from;
  while ((bytes[at] ?? QUOTE) <= SPACE) {
    at += 1;
  }
  return at;
}

/** Where the next value begins, or the end of the list or object is. */
function afterComma(bytes: Buffer, from: number): number {
  const at = afterBlanks(bytes, from);
  return bytes[at] === COMMA ? afterBlanks(bytes, at + 1) : at;
}

/** The value that begins there. */
export function valueAt(bytes: Buffer, start: number): JsonSlice {
  const kind = kindAt(bytes, start);
  if (kind === 'string') {
    const end = endOfString(bytes, start);
    return { bytes, start, end, kind, hasEscapes: hasBackslash(bytes, start, end) };
  }
  const end = kind === 'list' || kind === 'object' ? endOfContainer(bytes, start) : endOfWord(bytes, start);
  return { bytes, start, end, kind, hasEscapes: false };
}

/** Whether a string has escapes. */
export function hasBackslash(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) {
    if (bytes[at] === BACKSLASH) {
      return true;
    }
  }
  return false;
}

function endOfString(bytes: Buffer, start: number): number {
  let at = start + 1;
  while (bytes[at] !== QUOTE && at < bytes.length) {
    at += bytes[at] === BACKSLASH ? 2 : 1;
  }
  return at + 1;
}

/** Without recursion: the depth of JSON has no limit here. */
function endOfContainer(bytes: Buffer, start: number): number {
  let depth = 0;
  for (let at = start; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      at = endOfString(bytes, at) - 1;
    } else if (byte === LIST_BEGIN || byte === OBJECT_BEGIN) {
      depth += 1;
    } else if (byte === LIST_END || byte === OBJECT_END) {
      depth -= 1;
      if (depth === 0) {
        return at + 1;
      }
    }
  }
  return bytes.length;
}

function endOfWord(bytes: Buffer, start: number): number {
  let at = start;
  while (at < bytes.length && !isEndOfWord(bytes[at] ?? COMMA)) {
    at += 1;
  }
  return at;
}

const isEndOfWord = (byte: number): boolean =>
  byte <= SPACE || byte === COMMA || byte === LIST_END || byte === OBJECT_END || byte === COLON;
