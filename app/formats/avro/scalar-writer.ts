import { QUOTE } from '../../records/ascii.ts';
import type { ValueKind } from '../../tables/json/json-slice.ts';
import { FEW_BYTES, FEW_DIGITS, twosComplement } from '../../tables/json/number-text.ts';
import { floatText } from '../parts/float-text.ts';
import type { TextScratch } from '../parts/text-scratch.ts';
import type { AvroCursor } from './avro-cursor.ts';
import { type AvroType, DOUBLE_BYTES, DURATION_BYTES, FLOAT_BYTES, UUID_BYTES } from './avro-type.ts';

/** Writes the int or long at the cursor. */
export function writeInteger(cursor: AvroCursor, scratch: TextScratch, { kind }: AvroType): void {
  const { at } = cursor;
  const value = kind === 'int' ? cursor.int() : cursor.long();
  if (Number.isNaN(value)) {
    scratch.ascii(String(cursor.exactAt(at)));
  } else {
    scratch.integer(value);
  }
}

/** Reads the float or double at the cursor. */
export function floatAt(cursor: AvroCursor, { kind }: AvroType): number {
  const { bytes } = cursor;
  return kind === 'float' ? bytes.readFloatLE(cursor.skip(FLOAT_BYTES)) : bytes.readDoubleLE(cursor.skip(DOUBLE_BYTES));
}

/** Writes the number that {@link floatAt} has read. */
export const writeFloat = (scratch: TextScratch, value: number, { kind }: AvroType): void =>
  scratch.ascii(floatText(value, kind === 'float'));

/** Writes all digits of the decimal at the cursor. */
export function writeDecimal(cursor: AvroCursor, scratch: TextScratch, type: AvroType): void {
  cursor.decimal(type);
  const { bytes, from, to, scale } = cursor;
  if (to - from <= FEW_BYTES && scale >= 0 && scale <= FEW_DIGITS) {
    scratch.decimal(bytes.readIntBE(from, to - from), scale);
    return;
  }
  scratch.ascii(twosComplement(bytes.subarray(from, to), scale) ?? '');
}

/** Writes the 16 bytes of a UUID in five groups (RFC 9562, section 4). */
export function writeUuid(cursor: AvroCursor, scratch: TextScratch): void {
  const at = cursor.skip(UUID_BYTES);
  const hex = cursor.bytes.toString('hex', at, at + UUID_BYTES);
  scratch.ascii(hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'));
}

/** Writes months, days and milliseconds as ISO 8601 has a duration, which PostgreSQL's interval reads. */
export function writeDuration(cursor: AvroCursor, scratch: TextScratch): void {
  const at = cursor.skip(DURATION_BYTES);
  const [months, days, milliseconds] = [0, 4, 8].map((behind) => cursor.bytes.readUInt32LE(at + behind));
  scratch.ascii(`P${months}M${days}DT`);
  scratch.decimal(milliseconds ?? 0, 3);
  scratch.ascii('S');
}

/** Writes the text of the value at the cursor, bytes in quotes. @returns what it is */
export function writeScalar(cursor: AvroCursor, scratch: TextScratch, type: AvroType): ValueKind {
  switch (type.kind) {
    case 'int':
    case 'long':
      writeInteger(cursor, scratch, type);
      return 'number';
    case 'decimal':
      writeDecimal(cursor, scratch, type);
      return 'number';
    case 'float':
    case 'double': {
      const value = floatAt(cursor, type);
      writeFloat(scratch, value, type);
      return Number.isFinite(value) ? 'number' : 'text';
    }
    case 'uuid':
      writeUuid(cursor, scratch);
      return 'text';
    case 'duration':
      writeDuration(cursor, scratch);
      return 'text';
    default:
      cursor.spanOf(type);
      scratch.byte(QUOTE);
      scratch.base64(cursor.bytes, cursor.from, cursor.to);
      scratch.byte(QUOTE);
      return 'string';
  }
}
