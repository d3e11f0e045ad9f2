import { COLON, POINT, QUOTE } from '../../records/ascii.ts';
import {
  FEW_BYTES,
  FEW_DIGITS,
  MOST_DECIMAL_BYTES,
  MOST_SCALE,
  twosComplement,
} from '../../tables/json/number-text.ts';
import { isoOfEpoch } from '../../tables/json/time-text.ts';
import { NO_DECIMAL, NO_NUMBER } from '../parts/decode-fault.ts';
import type { TextScratch } from '../parts/text-scratch.ts';
import type { MessageParts } from './message-parts.ts';
import type { ProtoCursor } from './proto-cursor.ts';
import type { MessageType, ProtoField } from './proto-type.ts';
import { exactInteger, integerAt } from './scalar-text.ts';

/** What writes the values of fields, where those of a message are found. */
interface FieldWriter {
  readonly cursor: ProtoCursor;
  readonly scratch: TextScratch;
  readonly parts: MessageParts;
  field(field: ProtoField, slot: number): void;
}

/** UTC. */
const Z = 'Z'.charCodeAt(0);
const NANOS = 1_000_000_000;
const NANO_DIGITS = 9;
const MILLION = 1_000_000;
/** The years from 0 to 9999, in seconds since 1970. */
const FIRST_SECOND = -62_167_219_200;
const LAST_SECOND = 253_402_300_799;

/** Writes a message of a well-known type, whose values are in the slots from `base` on. */
export function writeWellKnown(writer: FieldWriter, { wellKnown, fields }: MessageType, base: number): void {
  switch (wellKnown) {
    case 'timestamp':
      writeTimestamp(writer, fields, base);
      return;
    case 'duration':
      writeGoogleDuration(writer, fields, base);
      return;
    case 'value':
      writeValue(writer, fields, base);
      return;
    case 'date':
      writeQuoted(writer.scratch, dateText(writer, fields, base));
      return;
    case 'timeOfDay':
      writeQuoted(writer.scratch, timeText(writer, fields, base));
      return;
    case 'decimal':
      writeGoogleDecimal(writer, base);
      return;
    default:
      // A wrapper, a Struct and a ListValue are their only field.
      writeFirst(writer, fields, base);
  }
}

function writeFirst(writer: FieldWriter, [field]: readonly ProtoField[], base: number): void {
  if (field !== undefined) {
    writer.field(field, base);
  }
}

function writeQuoted(scratch: TextScratch, text: string): void {
  scratch.byte(QUOTE);
  scratch.ascii(text);
  scratch.byte(QUOTE);
}

/** An integer of a message; 0 where it is absent. A bigint where a number does not hold it. */
function integerOf(writer: FieldWriter, { kind }: ProtoField, slot: number): number | bigint {
  const { cursor, parts } = writer;
  if (parts.isEmpty(slot) || (kind !== 'int64' && kind !== 'int32')) {
    return 0;
  }
  const nth = parts.last(slot);
  cursor.within(parts.start(nth), parts.end(nth));
  const value = integerAt(cursor, kind);
  return Number.isNaN(value) ? exactInteger(cursor, kind) : value;
}

const integers = (writer: FieldWriter, fields: readonly ProtoField[], base: number): readonly (number | bigint)[] =>
  fields.map((field, place) => integerOf(writer, field, base + place));

const isNanos = (nanos: number | bigint): nanos is number => typeof nanos === 'number' && nanos >= 0 && nanos < NANOS;

/** Nanoseconds in digits, whatever the parts are. */
const nanosOf = (seconds: number | bigint, nanos: number | bigint): bigint =>
  BigInt(seconds) * BigInt(NANOS) + BigInt(nanos);

/** ISO 8601, with as many groups of three digits behind the second as there are. */
function writeTimestamp(writer: FieldWriter, fields: readonly ProtoField[], base: number): void {
  const { scratch } = writer;
  const [first, second] = fields;
  const seconds = first === undefined ? 0 : integerOf(writer, first, base);
  const nanos = second === undefined ? 0 : integerOf(writer, second, base + 1);
  const isUsual = typeof seconds === 'number' && isNanos(nanos) && seconds >= FIRST_SECOND && seconds <= LAST_SECOND;
  if (!isUsual) {
    writeQuoted(scratch, isoOfEpoch(String(nanosOf(seconds, nanos)), 'epoch-nanos') ?? '');
    return;
  }
  scratch.byte(QUOTE);
  writeSeconds(scratch, seconds);
  if (nanos > 0) {
    const digits = nanos % MILLION === 0 ? 3 : nanos % 1_000 === 0 ? 6 : NANO_DIGITS;
    scratch.byte(POINT);
    scratch.padded(nanos / 10 ** (NANO_DIGITS - digits), digits);
  }
  scratch.byte(Z);
  scratch.byte(QUOTE);
}

const DAY_SECONDS = 86_400;

/** The day that was written last: those of records that follow each other are mostly the same. */
let [knownDay, knownDate] = [Number.NaN, Buffer.alloc(0)];

/** Date and time of the day. */
function writeSeconds(scratch: TextScratch, seconds: number): void {
  const day = Math.floor(seconds / DAY_SECONDS);
  const ofDay = seconds - day * DAY_SECONDS;
  if (day !== knownDay) {
    const iso = new Date(day * DAY_SECONDS * 1_000).toISOString();
    [knownDay, knownDate] = [day, Buffer.from(iso.slice(0, iso.indexOf('T') + 1), 'latin1')];
  }
  const minutes = Math.floor(ofDay / 60);
  const hours = Math.floor(minutes / 60);
  scratch.copy(knownDate);
  scratch.padded(hours, 2);
  scratch.byte(COLON);
  scratch.padded(minutes - hours * 60, 2);
  scratch.byte(COLON);
  scratch.padded(ofDay - minutes * 60, 2);
}

/** Seconds, as PostgreSQL's interval reads a number without a unit. */
function writeGoogleDuration(writer: FieldWriter, fields: readonly ProtoField[], base: number): void {
  const [seconds = 0, nanos = 0] = integers(writer, fields, base);
  if (nanos === 0) {
    writer.scratch.ascii(String(seconds));
    return;
  }
  const total = nanosOf(seconds, nanos);
  const digits = String(total < 0n ? -total : total).padStart(NANO_DIGITS + 1, '0');
  const fraction = digits.slice(-NANO_DIGITS).replace(/0+$/, '');
  const point = fraction === '' ? '' : '.';
  writer.scratch.ascii(`${total < 0n ? '-' : ''}${digits.slice(0, -NANO_DIGITS)}${point}${fraction}`);
}

/** Any JSON: the one field that is set; the first one means null, as none does. */
function writeValue(writer: FieldWriter, fields: readonly ProtoField[], base: number): void {
  const [isNull, ...others] = fields;
  const field = others.find(({ place }) => !writer.parts.isEmpty(base + place));
  if (isNull === undefined || field === undefined) {
    writer.scratch.ascii('null');
  } else {
    writer.field(field, base + field.place);
  }
}

const padded = (value: number | bigint, digits: number): string => String(value).padStart(digits, '0');

function dateText(writer: FieldWriter, fields: readonly ProtoField[], base: number): string {
  const [year = 0, month = 0, day = 0] = integers(writer, fields, base);
  return `${padded(year, 4)}-${padded(month, 2)}-${padded(day, 2)}`;
}

function timeText(writer: FieldWriter, fields: readonly ProtoField[], base: number): string {
  const [hours = 0, minutes = 0, seconds = 0, nanos = 0] = integers(writer, fields, base);
  const fraction = nanos === 0 ? '' : `.${padded(nanos, NANO_DIGITS)}`;
  return `${padded(hours, 2)}:${padded(minutes, 2)}:${padded(seconds, 2)}${fraction}`;
}

/** Places of the fields of Confluent's decimal. */
const DIGITS = 0;
const SCALE = 2;

function writeGoogleDecimal({ cursor, parts, scratch }: FieldWriter, base: number): void {
  let scale = 0;
  if (!parts.isEmpty(base + SCALE)) {
    const nth = parts.last(base + SCALE);
    cursor.within(parts.start(nth), parts.end(nth));
    scale = integerAt(cursor, 'int32');
  }
  const nth = parts.last(base + DIGITS);
  const [start, end] = parts.isEmpty(base + DIGITS) ? [0, 0] : [parts.start(nth), parts.end(nth)];
  if (start === end) {
    throw NO_DECIMAL;
  }
  if (end - start > MOST_DECIMAL_BYTES || Math.abs(scale) > MOST_SCALE) {
    throw NO_NUMBER;
  }
  const [isShort, isPlain] = [end - start <= FEW_BYTES, scale >= 0 && scale <= FEW_DIGITS];
  if (isShort && isPlain) {
    scratch.decimal(cursor.bytes.readIntBE(start, end - start), scale);
  } else {
    scratch.ascii(twosComplement(cursor.bytes.subarray(start, end), scale) ?? '');
  }
}
