import type { AvroCursor } from './avro-cursor.ts';
import { type AvroType, DOUBLE_BYTES, FLOAT_BYTES, MAP_KEY } from './avro-type.ts';

/** Bytes as JSON, estimated: of a number or word with a comma; of quotes and a comma; of an escape beside its byte. */
const NUMBER_BYTES = 24;
const AROUND = 3;
const ESCAPED_BYTES = 2;
/** Characters of base64 for a byte, and digits of a decimal. */
const PER_BYTE = 4 / 3;
const DIGITS_PER_BYTE = 2.5;

/** Moves behind a value that no column takes. */
export function passValue(cursor: AvroCursor, type: AvroType): void {
  switch (type.kind) {
    case 'string':
    case 'bytes':
      cursor.span();
      return;
    case 'union':
      passValue(cursor, cursor.oneOf(type.branches));
      return;
    case 'record':
      passRecord(cursor, type);
      return;
    case 'array':
    case 'map':
      passItems(cursor, type, passValue);
      return;
    case 'decimal':
      passDecimal(cursor, type);
      return;
    default:
      passSmall(cursor, type);
  }
}

/** The same within a part that is taken as JSON: what has to be true of all of it is checked, and how large it is. */
export function passPart(cursor: AvroCursor, type: AvroType): void {
  switch (type.kind) {
    case 'string':
      cursor.takeJson((cursor.string() ? ESCAPED_BYTES : 1) * (cursor.to - cursor.from) + AROUND);
      return;
    case 'bytes':
      cursor.span();
      cursor.takeJson((cursor.to - cursor.from) * PER_BYTE + AROUND);
      return;
    case 'union':
      passPart(cursor, cursor.oneOf(type.branches));
      return;
    case 'record':
      passFields(cursor, type);
      return;
    case 'array':
    case 'map':
      passItems(cursor, type, passPart);
      return;
    case 'decimal':
      cursor.decimal(type);
      cursor.takeJson((cursor.to - cursor.from) * DIGITS_PER_BYTE + Math.abs(cursor.scale) + AROUND);
      return;
    default:
      cursor.takeJson(NUMBER_BYTES + type.size * PER_BYTE);
      passSmall(cursor, type);
  }
}

function passRecord(cursor: AvroCursor, { fields }: AvroType): void {
  const start = cursor.enter();
  for (const field of fields) {
    passValue(cursor, field.type);
  }
  cursor.leave(start);
}

function passFields(cursor: AvroCursor, { fields }: AvroType): void {
  const start = cursor.enter();
  for (const field of fields) {
    cursor.takeJson(field.json.length);
    passPart(cursor, field.type);
  }
  cursor.leave(start);
}

function passItems(cursor: AvroCursor, { kind, items }: AvroType, pass: typeof passValue): void {
  const start = cursor.enter();
  for (let left = cursor.block(); left > 0; left = cursor.block()) {
    for (; left > 0; left -= 1) {
      const before = cursor.at;
      if (kind === 'map') {
        pass(cursor, MAP_KEY);
      }
      pass(cursor, items);
      cursor.endItem(before);
    }
  }
  cursor.leave(start);
}

function passDecimal(cursor: AvroCursor, { form, size }: AvroType): void {
  if (form === 'fixed') {
    cursor.skip(size);
    return;
  }
  if (form === 'variable') {
    cursor.int();
  }
  cursor.span();
}

/** What has a length that is not in the bytes. */
function passSmall(cursor: AvroCursor, { kind, size, symbols }: AvroType): void {
  switch (kind) {
    case 'int':
      cursor.int();
      return;
    case 'long':
      cursor.long();
      return;
    case 'boolean':
      cursor.boolean();
      return;
    case 'float':
      cursor.skip(FLOAT_BYTES);
      return;
    case 'double':
      cursor.skip(DOUBLE_BYTES);
      return;
    case 'enum':
      cursor.oneOf(symbols);
      return;
    default:
      passSized(cursor, size);
  }
}

function passSized(cursor: AvroCursor, size: number): void {
  if (size === 0) {
    cursor.nothing();
  } else {
    cursor.skip(size);
  }
}
