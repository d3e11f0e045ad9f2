import { isUtf8 } from 'node:buffer';
import type { DeadLetterReason } from '../../../contract/dead-letter-reasons.ts';
import { MOST_DIMENSIONS } from '../json/connect-schema.ts';
import { contentOf, isString, itemsOf, type JsonSlice, membersOf, sentJson } from '../json/json-slice.ts';
import { withoutExponent } from '../json/number-text.ts';
import { isOfTime } from '../json/time-text.ts';
import type { ColumnType, ValueUnit } from '../mapping/table-mapping.ts';
import { hexInput, otherName, textByUnit, textOfContent, textOfDigits, type UnitText } from './unit-text.ts';

/** Why a value has no text for its column. */
export class NoText {
  readonly reason: DeadLetterReason;

  constructor(reason: DeadLetterReason) {
    this.reason = reason;
  }
}

/** What PostgreSQL's input function gets; `null` is NULL. */
export type ColumnText = string | null | NoText;

const DOES_NOT_FIT = new NoText('value_does_not_fit');
const NUL = new NoText('nul_character');
/** Half a surrogate pair: jsonb refuses it as no JSON, and UTF-8 has no bytes for it. */
const HALF_A_PAIR = new NoText('invalid_json');

/**
 * The text of a JSON value for a column: of a string its content, of a number its digits, of `true` and `false` that
 * word, of an object or list its JSON. These are the rules of `jsonb_populate_record` (PostgreSQL documentation,
 * "JSON Functions and Operators"), but:
 *
 * - text and json keep what was sent, where jsonb writes numbers, objects and lists anew;
 * - a string for bytea is base64, or hex with that unit, as JSON has no bytes; all else is refused;
 * - a number is no date or time without a unit, and with one nothing but a number is;
 * - dates and times that depend on the clock are refused, as a replay would store others: `now`, `today`, ...
 */
export function textOfJson(type: ColumnType, unit: ValueUnit | undefined, value: JsonSlice): ColumnText {
  if (value.kind === 'null') {
    return null;
  }
  if (isString(value) && (type.kind !== 'json' || unit !== undefined)) {
    return stringText(type, unit, contentOf(value));
  }
  if (unit !== undefined && !isWhole(type)) {
    return textWithUnit(type, unit, value);
  }
  if (type.kind === 'json') {
    return sentJson(value);
  }
  if (type.kind === 'array') {
    return value.kind === 'list' ? arrayText(type, unit, value) : DOES_NOT_FIT;
  }
  if (type.kind === 'composite') {
    return value.kind === 'object' ? compositeText(type.attributes, value) : DOES_NOT_FIT;
  }
  if (value.kind === 'number') {
    return textOfNumber(type, unit, sentJson(value));
  }
  return type.kind !== 'bytea' ? sentJson(value) : DOES_NOT_FIT;
}

const textWithUnit = (type: ColumnType, unit: ValueUnit, value: JsonSlice): ColumnText =>
  value.kind === 'list' && isListOfTimes(type, unit)
    ? timesText(unit, value, 0)
    : checked(type, textByUnit(type, unit, value));

/** Types whose text is made of that of their elements. */
const isWhole = ({ kind }: ColumnType): boolean => kind === 'array' || kind === 'composite';

/** What PostgreSQL's text has no room for. */
const faultIn = (text: string): NoText | null =>
  text.includes('\0') ? NUL : SURROGATE.test(text) ? HALF_A_PAIR : null;

/** @param text `null`: the value is none of its unit */
function checked(type: ColumnType, text: UnitText): ColumnText {
  if (text === null) {
    return DOES_NOT_FIT;
  }
  return faultIn(text) ?? (hasTimes(type) && OF_THE_CLOCK.test(text) ? DOES_NOT_FIT : text);
}

/** The same of text that is no JSON, such as a header's: it counts as a string's content. */
export function textOfBytes(type: ColumnType, unit: ValueUnit | undefined, bytes: Buffer): ColumnText {
  if (type.kind === 'bytea' && unit === undefined) {
    return hexInput(bytes);
  }
  if (!isUtf8(bytes)) {
    return new NoText('invalid_utf8');
  }
  const text = bytes.toString('utf8');
  return type.kind === 'json' && unit !== 'json' && !text.includes('\0')
    ? JSON.stringify(text)
    : stringText(type, unit, text);
}

/** JSON may have them as escapes. */
const SURROGATE = /\p{Surrogate}/u;

function stringText(type: ColumnType, unit: ValueUnit | undefined, content: string): ColumnText {
  const isPlain = isWhole(type) || (unit === undefined && type.kind !== 'bytea');
  return isPlain
    ? checked(type, content)
    : (faultIn(content) ?? checked(type, textOfContent(type, unit ?? 'base64', content)));
}

/** What PostgreSQL reads as another time each day, in any case and between whatever is no letter. */
const OF_THE_CLOCK = /(?<![a-z])(?:now|today|tomorrow|yesterday)(?![a-z])/i;

/** Types of kind `other` that have dates or times within. */
const RANGES_OF_TIMES = /^(?:date|ts|tstz)(?:multi)?range$/;

/** Whether text for this type may have a date or time in it. */
export function hasTimes(type: ColumnType): boolean {
  switch (type.kind) {
    case 'date':
    case 'time':
    case 'timestamp':
      return true;
    case 'array':
      return hasTimes(type.element);
    case 'composite':
      return type.attributes.some((attribute) => hasTimes(attribute.type));
    default:
      return RANGES_OF_TIMES.test(otherName(type));
  }
}

/** The same of a number by its digits, which may be none of JSON: a record's offset. */
export function textOfNumber(type: ColumnType, unit: ValueUnit | undefined, digits: string): ColumnText {
  if (unit !== undefined) {
    return isWhole(type) ? DOES_NOT_FIT : (textOfDigits(type, unit, digits) ?? DOES_NOT_FIT);
  }
  switch (type.kind) {
    case 'date':
    case 'time':
    case 'timestamp':
    case 'bytea':
    case 'array':
    case 'composite':
      return DOES_NOT_FIT;
    case 'numeric':
    case 'float':
    case 'text':
    case 'json':
      return digits;
    case 'integer':
      return isWithoutExponent(digits) ? digits : (withoutExponent(digits) ?? DOES_NOT_FIT);
    default:
      return isWithoutExponent(digits) ? digits : (withoutExponent(digits) ?? digits);
  }
}

/** Whether a number is written as numeric_out would. */
const isWithoutExponent = (digits: string): boolean => !/[eE]|^-0/.test(digits);

/**
 * A list as an array literal (documentation, "Array Input"). The way down to the first element says how many dimensions
 * there are; the lists of one depth have one length.
 */
function arrayText(
  type: ColumnType & { readonly kind: 'array' },
  unit: ValueUnit | undefined,
  list: JsonSlice,
): ColumnText {
  let rows: readonly JsonSlice[] = [list];
  const lengths: number[] = [];
  let isDeeper = true;
  while (isDeeper) {
    const lists = rows.map((row) => (row.kind === 'list' ? itemsOf(row) : null));
    const length = lists[0]?.length ?? 0;
    if (lengths.length === MOST_DIMENSIONS || lists.some((items) => items?.length !== length)) {
      return DOES_NOT_FIT;
    }
    lengths.push(length);
    rows = lists.flatMap((items) => items ?? []);
    isDeeper = rows[0]?.kind === 'list';
  }
  if (rows.length === 0) {
    return '{}';
  }
  const elements: string[] = [];
  for (const row of rows) {
    const text = textOfJson(type.element, unit, row);
    if (text instanceof NoText) {
      return text;
    }
    elements.push(text === null ? 'NULL' : `"${text.replace(/["\\]/g, '\\$&')}"`);
  }
  return nested(elements, lengths, type.delimiter);
}

/** Whether a list keeps its form, and its items are texts by a unit. */
const isListOfTimes = ({ kind }: ColumnType, unit: ValueUnit): boolean =>
  (kind === 'json' || kind === 'text') && isOfTime(unit);

/** A list of numbers that count time as JSON, with the points in time or times of day that they mean. */
function timesText(unit: ValueUnit, list: JsonSlice, depth: number): ColumnText {
  const items: string[] = [];
  for (const item of itemsOf(list)) {
    const text =
      item.kind === 'number'
        ? textByUnit(JSON_TYPE, unit, item)
        : item.kind === 'list' && depth < MOST_DIMENSIONS
          ? timesText(unit, item, depth + 1)
          : sentJson(item);
    if (text === null || text instanceof NoText) {
      return DOES_NOT_FIT;
    }
    items.push(text);
  }
  return `[${items.join()}]`;
}

const JSON_TYPE: ColumnType = { kind: 'json', name: 'jsonb' };

/** Elements in their order as lists of lists of these lengths, outermost first. */
function nested(elements: readonly string[], lengths: readonly number[], delimiter: string): string {
  let parts = elements;
  for (const length of lengths.toReversed()) {
    const wider: string[] = [];
    for (let at = 0; at < parts.length; at += length) {
      wider.push(`{${parts.slice(at, at + length).join(delimiter)}}`);
    }
    parts = wider;
  }
  return parts.join('');
}

/** An object as a row literal (documentation, "Composite Type Input and Output Syntax"), by the names of attributes. */
function compositeText(
  attributes: readonly { readonly name: string; readonly type: ColumnType }[],
  object: JsonSlice,
): ColumnText {
  const members = membersOf(object);
  const fields: string[] = [];
  for (const { name, type } of attributes) {
    const member = members.get(name);
    const text = member === undefined ? null : textOfJson(type, undefined, member);
    if (text instanceof NoText) {
      return text;
    }
    fields.push(text === null ? '' : `"${text.replace(/["\\]/g, '$&$&')}"`);
  }
  return `(${fields.join(',')})`;
}
