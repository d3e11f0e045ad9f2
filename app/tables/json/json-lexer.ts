import type { DeadLetterReason } from '../../../contract/dead-letter-reasons.ts';
import {
  BACKSLASH,
  FIRST_BEYOND_ASCII,
  LOWER_CASE,
  LOWER_E,
  LOWER_U,
  MINUS,
  NINE,
  PLUS,
  POINT,
  SPACE,
  ZERO,
} from '../../records/ascii.ts';

/**
 * Negative ends: the token is not one of JSON, its number is none of PostgreSQL's numeric, or it is nested too deep.
 */
export const INVALID = -1;
const OUT_OF_RANGE = -2;
export const NESTED_TOO_DEEP = -3;

/** Why PostgreSQL's jsonb would refuse a document. */
export type JsonFault = Extract<
  DeadLetterReason,
  'invalid_json' | 'invalid_utf8' | 'nul_character' | 'number_out_of_range' | 'nesting_too_deep'
>;

const FAULTS: Readonly<Record<number, JsonFault>> = {
  [INVALID]: 'invalid_json',
  [OUT_OF_RANGE]: 'number_out_of_range',
  [NESTED_TOO_DEEP]: 'nesting_too_deep',
};

/** What a negative end means. */
export const jsonFaultOf = (end: number): JsonFault => FAULTS[end] ?? 'invalid_json';

/**
 * The byte there; behind the end 0, which is in no JSON. A document may be a part of a Buffer: all functions here read
 * up to the `end` that they get.
 */
export const byteAt = (json: Buffer, at: number, end: number): number => (at < end ? (json[at] ?? 0) : 0);

export type JsonKind = 'string' | 'number' | 'object' | 'list' | 'true' | 'false' | 'null';

const KIND_BY_BYTE: readonly JsonKind[] = Array.from({ length: 256 }, (_, byte) => {
  const kinds: Readonly<Record<string, JsonKind>> = {
    '"': 'string',
    '{': 'object',
    '[': 'list',
    t: 'true',
    f: 'false',
    n: 'null',
  };
  return kinds[String.fromCharCode(byte)] ?? 'number';
});

/** The kind of a value of a valid document, by its first byte. */
export const kindAt = (json: Buffer, start: number): JsonKind => KIND_BY_BYTE[json[start] ?? 0] ?? 'number';

/** What is 1 for the bytes of a text, 0 for others. */
function bytesOf(text: string): Uint8Array {
  const bytes = new Uint8Array(256);
  for (const byte of Buffer.from(text, 'latin1')) {
    bytes[byte] = 1;
  }
  return bytes;
}

const IS_SPACE = bytesOf(' \t\n\r');
/** What may follow a backslash, but for `u`. */
const IS_ESCAPED = bytesOf('"\\/bfnrt');
/** Where a run of characters ends: a control character has to be escaped (RFC 8259, section 7). */
const ENDS_RUN = bytesOf(`"\\${Array.from({ length: SPACE }, (_, code) => String.fromCharCode(code)).join('')}`);
const ENDS_ASCII = ENDS_RUN.map((ends, byte) => (byte < FIRST_BEYOND_ASCII ? ends : 1));

/** Where white space from there on ends. */
export function spaceEnd(json: Buffer, at: number, end: number): number {
  let behind = at;
  while (IS_SPACE[byteAt(json, behind, end)] === 1) {
    behind += 1;
  }
  return behind;
}

/** Where characters of ASCII that mean themselves end: at another one, a quote, a backslash, a control character. */
export function asciiEnd(json: Buffer, at: number, end: number): number {
  let behind = at;
  while (behind < end && ENDS_ASCII[json[behind] ?? 0] === 0) {
    behind += 1;
  }
  return behind;
}

/** The same of all characters. */
export function runEnd(json: Buffer, at: number, end: number): number {
  let behind = at;
  while (behind < end && ENDS_RUN[json[behind] ?? 0] === 0) {
    behind += 1;
  }
  return behind;
}

/** The four hexadecimal digits there; negative when they are not. */
function hexadecimal(json: Buffer, at: number, end: number): number {
  let unit = 0;
  for (let digit = at; digit < at + 4; digit += 1) {
    unit = (unit << 4) | (HEXADECIMAL[byteAt(json, digit, end)] ?? -1);
  }
  return unit;
}

const HEXADECIMAL = Int8Array.from({ length: 256 }, (_, byte) => {
  const digit = String.fromCharCode(byte);
  return /[0-9a-fA-F]/.test(digit) ? Number.parseInt(digit, 16) : -1;
});

/** The UTF-16 unit of the escape at a backslash; negative when it is no `\u` with four digits. */
const unitAt = (json: Buffer, at: number, end: number): number =>
  byteAt(json, at, end) === BACKSLASH && byteAt(json, at + 1, end) === LOWER_U
    ? hexadecimal(json, at + 2, end)
    : INVALID;

const isHighSurrogate = (unit: number): boolean => unit >> 10 === 0xd800 >> 10;
const isLowSurrogate = (unit: number): boolean => unit >> 10 === 0xdc00 >> 10;

/**
 * Where the escape at a backslash ends, with the other half of its pair. A surrogate without the other half is none.
 */
export function escapeEnd(json: Buffer, at: number, end: number): number {
  if (byteAt(json, at, end) !== BACKSLASH) {
    return INVALID;
  }
  if (IS_ESCAPED[byteAt(json, at + 1, end)] === 1) {
    return at + 2;
  }
  const unit = unitAt(json, at, end);
  if (unit < 0 || isLowSurrogate(unit)) {
    return INVALID;
  }
  if (isHighSurrogate(unit)) {
    return isLowSurrogate(unitAt(json, at + 6, end)) ? at + 12 : INVALID;
  }
  return at + 6;
}

/** Whether the escape at a backslash is `\u0000`. */
export const isNul = (json: Buffer, at: number, end: number): boolean => unitAt(json, at, end) === 0;

/** Whether a value of a valid document has a `\u0000` in it. */
export function holdsNul(json: Buffer, start: number, end: number): boolean {
  for (let at = json.indexOf('\\', start); at >= 0 && at < end; at = json.indexOf('\\', at + 2)) {
    if (isNul(json, at, end)) {
      return true;
    }
  }
  return false;
}

/**
 * The content of a string, in UTF-8, in new memory. `\u0000` is a byte 0.
 *
 * @param start of the opening quote, in a valid document
 * @param end behind the closing quote
 */
export const unescaped = (json: Buffer, start: number, end: number): Buffer =>
  Buffer.from(JSON.parse(json.toString('utf8', start, end)) as string, 'utf8');

const JSON_WORDS = ['true', 'false', 'null'].map((word) => Buffer.from(word, 'latin1'));

/** Where `true`, `false` or `null` ends. */
export function wordEnd(json: Buffer, at: number, end: number): number {
  for (const word of JSON_WORDS) {
    const behind = at + word.length;
    if (word[0] === json[at]) {
      return behind <= end && isAt(word, json, at) ? behind : INVALID;
    }
  }
  return INVALID;
}

/** A loop, as a call of compare() for so few bytes costs several times as much. */
function isAt(word: Buffer, json: Buffer, at: number): boolean {
  for (let index = 0; index < word.length; index += 1) {
    if (word[index] !== json[at + index]) {
      return false;
    }
  }
  return true;
}

function digitsEnd(json: Buffer, at: number, end: number): number {
  let behind = at;
  for (let byte = byteAt(json, behind, end); byte >= ZERO && byte <= NINE; byte = byteAt(json, behind, end)) {
    behind += 1;
  }
  return behind;
}

/** Digits after the point that a numeric can have (PostgreSQL documentation, 8.1, "Numeric Types"). */
const MOST_FRACTION_DIGITS = 16_383;
/** Digits before the point, likewise. */
const MOST_INTEGER_DIGITS = 131_072;
/** A larger exponent is refused whatever its number is, zero too: `set_var_from_str` of PostgreSQL's numeric.c. */
const LARGEST_EXPONENT = 1_073_741_823;

/** Where a number ends (RFC 8259, section 6). */
export function numberEnd(json: Buffer, at: number, end: number): number {
  const digits = byteAt(json, at, end) === MINUS ? at + 1 : at;
  const point = byteAt(json, digits, end) === ZERO ? digits + 1 : digitsEnd(json, digits, end);
  const mark = byteAt(json, point, end) === POINT ? digitsEnd(json, point + 1, end) : point;
  if (point === digits || mark === point + 1) {
    return INVALID;
  }
  if ((byteAt(json, mark, end) | LOWER_CASE) !== LOWER_E) {
    return mark - at <= MOST_FRACTION_DIGITS || isNumeric(json, { digits, point, mark, end: mark })
      ? mark
      : OUT_OF_RANGE;
  }
  const sign = byteAt(json, mark + 1, end);
  const exponent = sign === PLUS || sign === MINUS ? mark + 2 : mark + 1;
  const behind = digitsEnd(json, exponent, end);
  if (behind === exponent) {
    return INVALID;
  }
  return isNumeric(json, { digits, point, mark, end: behind }) ? behind : OUT_OF_RANGE;
}

/** Where the parts of a number are: its first digit, the end of its integer, the end of its fraction, its end. */
interface NumberParts {
  readonly digits: number;
  readonly point: number;
  readonly mark: number;
  readonly end: number;
}

/** Whether PostgreSQL's numeric takes a number, with the zeros at the end of its fraction. */
function isNumeric(json: Buffer, { digits, point, mark, end }: NumberParts): boolean {
  const exponent = mark < end ? Number(json.toString('latin1', mark + 1, end)) : 0;
  const fractionDigits = Math.max(0, mark - point - 1);
  if (exponent > LARGEST_EXPONENT || fractionDigits - exponent > MOST_FRACTION_DIGITS) {
    return false;
  }
  let first = digits;
  while (first < mark && (json[first] === ZERO || json[first] === POINT)) {
    first += 1;
  }
  const integerDigits = first < point ? point - first : point - first + 1;
  return first === mark || integerDigits + exponent <= MOST_INTEGER_DIGITS;
}
