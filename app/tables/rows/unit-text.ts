import { contentOf, type JsonSlice, membersOf, sentJson } from '../json/json-slice.ts';
import { twosComplement, withoutExponent } from '../json/number-text.ts';
import { isOfEpoch, isoOfEpoch, timeOfDayText, timeOfEpoch } from '../json/time-text.ts';
import type { ColumnType, ValueUnit } from '../mapping/table-mapping.ts';

type Kind = ColumnType['kind'];

/** Types whose value is a number that has digits. */
const NUMBERS: readonly Kind[] = ['numeric', 'float', 'integer', 'text', 'json', 'other'];
const TIMES: readonly Kind[] = ['date', 'time', 'timestamp'];

/** The name of a type that has no kind, of a domain that of what it is made of; empty where a kind says all. */
export const otherName = (type: ColumnType): string => (type.kind === 'other' ? (type.base ?? type.name) : '');

const isHstore = (type: ColumnType): boolean => /^(?:.*\.)?"?hstore"?$/.test(otherName(type));
const isBits = (type: ColumnType): boolean => /^bit(?: varying)?(?:\(|$)/.test(otherName(type));
const isPoint = (type: ColumnType): boolean => otherName(type) === 'point';
const isOfPostgis = (type: ColumnType): boolean => /^(?:.*\.)?(?:geometry|geography)(?:\(|$)/.test(otherName(type));

/** The type that decides how a unit is read: elements of an array are read one by one. */
const elementOf = (type: ColumnType): ColumnType => (type.kind === 'array' ? elementOf(type.element) : type);

/**
 * Whether a type asks for what a unit of a schema says: in `bigint` a number of seconds stays a number, and in `text`
 * what JSON has as text stays that. What a user writes is compared with the type at the start instead.
 */
export function isAskedFor(unit: ValueUnit, column: ColumnType): boolean {
  const type = elementOf(column);
  if (isOfEpoch(unit) || unit.startsWith('time-')) {
    return TIMES.includes(type.kind) || type.kind === 'text' || type.kind === 'json';
  }
  switch (unit) {
    case 'duration-micros':
      return type.kind === 'interval';
    case 'json':
      return type.kind === 'json' || isHstore(type);
    case 'point':
      return isPoint(type) || isOfPostgis(type);
    case 'base64':
    case 'hex':
      return type.kind === 'bytea';
    case 'debezium':
      return ['numeric', 'float', 'date', 'timestamp'].includes(type.kind) || isBits(type);
    default:
      return unit.startsWith('bits') ? isBits(type) || type.kind === 'text' : NUMBERS.includes(type.kind);
  }
}

/** What a value with a unit comes to: text for PostgreSQL, or `null` where it is none of the unit. */
export type UnitText = string | null;

/** The text of a value by its unit. @param type what it is for: no array or composite */
export function textByUnit(type: ColumnType, unit: ValueUnit, value: JsonSlice): UnitText {
  switch (value.kind) {
    case 'string':
    case 'text':
      return textOfContent(type, unit, contentOf(value));
    case 'number':
      return textOfDigits(type, unit, sentJson(value));
    case 'object':
      return textOfObject(type, unit, value);
    case 'list':
      return unit === 'json' ? sentJson(value) : null;
    default:
      return textOfWord(type, unit, value.kind);
  }
}

/** `true`, `false` or `null`. */
function textOfWord(type: ColumnType, unit: ValueUnit, word: string): UnitText {
  if (unit.startsWith('bits') || (unit === 'debezium' && isBits(type))) {
    return word === 'true' ? '1' : '0';
  }
  return unit === 'debezium' || unit === 'json' ? word : null;
}

/** The text of a number by its digits, which may be none of JSON: a record's offset. */
export function textOfDigits(type: ColumnType, unit: ValueUnit, digits: string): UnitText {
  const isTime = TIMES.includes(type.kind);
  if (unit === 'debezium') {
    return isTime ? null : digits;
  }
  if (isOfEpoch(unit)) {
    return isTime ? pointInTime(type, unit, digits) : quotedFor(type, isoOfEpoch(digits, unit));
  }
  if (unit.startsWith('time-')) {
    return quotedFor(type, timeOfDayText(digits, unit));
  }
  if (unit === 'duration-micros') {
    const micros = withoutExponent(digits);
    return micros !== null && /^-?[0-9]+$/.test(micros) ? `${micros} microseconds` : null;
  }
  return unit === 'json' || isOfDecimal(unit) ? digits : null;
}

/** A number that the source did not write as bytes: Connect's `decimal.format=NUMERIC`, or a decoder's digits. */
const isOfDecimal = (unit: ValueUnit): boolean => unit.startsWith('decimal(') || unit === 'variable-decimal';

const quotedFor = ({ kind }: ColumnType, text: UnitText): UnitText =>
  kind === 'json' && text !== null ? `"${text}"` : text;

/** The numbers by which Debezium sends infinity: the ends of Java's long in microseconds, others in milliseconds. */
const INFINITIES: Readonly<Partial<Record<ValueUnit, Readonly<Record<string, string>>>>> = {
  'epoch-micros': { '9223372036854775807': 'infinity', '-9223372036854775808': '-infinity' },
  'epoch-millis': { '9223372036825200000': 'infinity', '-9223372036832400000': '-infinity' },
};

/** Characters of the shortest of them: to look for others among them takes longer than to convert them. */
const INFINITY_CHARACTERS = 19;

const pointInTime = ({ kind }: ColumnType, unit: ValueUnit, digits: string): UnitText =>
  (kind === 'timestamp' && digits.length >= INFINITY_CHARACTERS ? INFINITIES[unit]?.[digits] : undefined) ??
  timeOfEpoch(digits, unit, kind === 'date' || kind === 'time' ? kind : 'timestamp');

/** The text of what a string holds. */
export function textOfContent(type: ColumnType, unit: ValueUnit, content: string): UnitText {
  if (isOfEpoch(unit) || unit.startsWith('time-') || unit === 'duration-micros') {
    return textOfDigits(type, unit, content);
  }
  if (unit === 'debezium') {
    return debeziumText(type, content);
  }
  if (unit === 'json') {
    return isHstore(type) ? hstoreText(content) : content;
  }
  return unit === 'variable-decimal' || unit === 'point'
    ? null
    : unitTextOfBytes(type, unit, unit === 'hex' ? bytesOfHex(content) : bytesOfBase64(content));
}

function unitTextOfBytes(type: ColumnType, unit: ValueUnit, bytes: Buffer | null): UnitText {
  if (bytes === null) {
    return null;
  }
  if (unit.startsWith('bits')) {
    const name = otherName(type);
    return bitsText(bytes, lengthIn(unit) ?? (name.startsWith('bit(') ? lengthIn(name) : null));
  }
  const scale = /^decimal\((-?[0-9]+)\)$/.exec(unit)?.[1];
  return scale === undefined ? hexInput(bytes) : twosComplement(bytes, Number(scale));
}

/** Bytes as bytea reads them. */
export const hexInput = (bytes: Buffer): string => `\\x${bytes.toString('hex')}`;

/** The number in brackets. */
function lengthIn(text: string): number | null {
  const length = /\(([0-9]{1,8})\)$/.exec(text)?.[1];
  return length === undefined ? null : Number(length);
}

/**
 * Digits of bits whose last byte is the first: as many as the length says, which the source cuts zeros from; without
 * one those from the first 1 on.
 *
 * @returns `null` when there are more
 */
function bitsText(bytes: Buffer, length: number | null): UnitText {
  const all = [...bytes].reverse().map((byte) => byte.toString(2).padStart(8, '0'));
  const digits = all.join('').replace(/^0+/, '');
  return length === null ? digits : digits.length > length ? null : digits.padStart(length, '0');
}

/** Pairs of hex digits, also as PostgreSQL writes a bytea. */
function bytesOfHex(content: string): Buffer | null {
  const digits = content.startsWith('\\x') ? content.slice(2) : content;
  const bytes = Buffer.from(digits, 'hex');
  return bytes.length * 2 === digits.length ? bytes : null;
}

/** Either alphabet of RFC 4648, sections 4 and 5, with or without padding: Protobuf's JSON may be any of them. */
function bytesOfBase64(content: string): Buffer | null {
  const bytes = Buffer.from(content, 'base64');
  const standard = bytes.toString('base64');
  if (standard === content) {
    return bytes;
  }
  const padding = '='.repeat((3 - (bytes.length % 3)) % 3);
  const forUrls = bytes.toString('base64url');
  const forms = [standard.slice(0, standard.length - padding.length), forUrls, forUrls + padding];
  return forms.includes(content) ? bytes : null;
}

/** Words of Java's for what numeric has words for. */
const NUMBER_WORDS: Readonly<Record<string, string>> = {
  NAN: 'NaN',
  POSITIVE_INFINITY: 'Infinity',
  NEGATIVE_INFINITY: '-Infinity',
};

/** A year of ISO 8601 that PostgreSQL does not read: with a sign, or before the year 1. */
const OTHER_YEAR = /^(?:\+([0-9]{4,})|-([0-9]{4,})|(0000))(-.*)$/s;

/** A text without a unit as Debezium writes it, where PostgreSQL writes it in another way. */
function debeziumText({ kind }: ColumnType, content: string): string {
  if (kind === 'numeric' || kind === 'float') {
    return NUMBER_WORDS[content] ?? content;
  }
  const match = kind === 'date' || kind === 'timestamp' ? OTHER_YEAR.exec(content) : null;
  if (match === null) {
    return content;
  }
  const [, later, before, , rest = ''] = match;
  // The year 0 is 1 BC, and each before it one more.
  return later === undefined ? `${String(Number(before ?? 0) + 1).padStart(4, '0')}${rest} BC` : `${later}${rest}`;
}

function textOfObject(type: ColumnType, unit: ValueUnit, object: JsonSlice): UnitText {
  switch (unit) {
    case 'variable-decimal':
      return variableDecimal(object);
    case 'point':
      return pointText(type, object);
    case 'json':
      return isHstore(type) ? hstoreText(sentJson(object)) : sentJson(object);
    default:
      return null;
  }
}

/** Bytes in two's complement, with the digits behind the point. */
function variableDecimal(object: JsonSlice): UnitText {
  const members = membersOf(object);
  const [scale, value] = [members.get('scale'), members.get('value')];
  if (scale?.kind !== 'number' || value?.kind !== 'string' || !/^-?[0-9]{1,5}$/.test(sentJson(scale))) {
    return null;
  }
  const bytes = bytesOfBase64(contentOf(value));
  return bytes && twosComplement(bytes, Number(sentJson(scale)));
}

/** Two coordinates, or the well-known binary that PostGIS takes. */
function pointText(type: ColumnType, object: JsonSlice): UnitText {
  const members = membersOf(object);
  if (isPoint(type)) {
    const [x, y] = [members.get('x'), members.get('y')];
    return x?.kind === 'number' && y?.kind === 'number' ? `(${sentJson(x)},${sentJson(y)})` : null;
  }
  const binary = members.get('wkb');
  return binary?.kind === 'string' ? (bytesOfBase64(contentOf(binary))?.toString('hex') ?? null) : null;
}

/** An object of texts as hstore reads it. */
function hstoreText(json: string): UnitText {
  const pairs = parsedJson(json);
  if (typeof pairs !== 'object' || pairs === null || Array.isArray(pairs)) {
    return null;
  }
  const quoted = (text: string): string => `"${text.replace(/["\\]/g, '\\$&')}"`;
  const entries = Object.entries(pairs).map(([name, value]) =>
    value === null ? `${quoted(name)}=>NULL` : typeof value === 'string' ? `${quoted(name)}=>${quoted(value)}` : null,
  );
  return entries.includes(null) ? null : entries.join(', ');
}

/** `undefined` for what is no JSON: the text of a user's column may be anything. */
function parsedJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
