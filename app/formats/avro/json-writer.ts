import { COLON, COMMA, LIST_BEGIN, LIST_END, OBJECT_BEGIN, OBJECT_END, QUOTE } from '../../records/ascii.ts';
import { isOfEpoch, isoOfEpoch, timeOfDayText } from '../../tables/json/time-text.ts';
import type { TextScratch } from '../parts/text-scratch.ts';
import type { AvroCursor } from './avro-cursor.ts';
import { type AvroType, MAP_KEY } from './avro-type.ts';
import { floatAt, writeDecimal, writeDuration, writeFloat, writeInteger, writeUuid } from './scalar-writer.ts';

/**
 * Writes values of Avro as JSON: records with their fields in the order of the schema, decimals and longs as numbers
 * with all digits, bytes in base64, NaN and the infinities as strings. Points in time and times of day are ISO 8601.
 */
export class JsonWriter {
  readonly #cursor: AvroCursor;
  readonly #scratch: TextScratch;
  /** Whether units are left to the one that reads the JSON: in a list whose items have one. */
  #isRaw = false;

  constructor(cursor: AvroCursor, scratch: TextScratch) {
    this.#cursor = cursor;
    this.#scratch = scratch;
  }

  /**
   * Writes the value at the cursor, which was passed over as a part before.
   *
   * @param isRaw whether what counts time since a point of it stays a number
   */
  write(type: AvroType, isRaw: boolean): void {
    this.#isRaw = isRaw;
    this.#write(type);
  }

  #write(type: AvroType): void {
    const [cursor, scratch] = [this.#cursor, this.#scratch];
    switch (type.kind) {
      case 'record':
        this.#record(type);
        return;
      case 'array':
      case 'map':
        this.#items(type);
        return;
      case 'union':
        this.#write(cursor.oneOf(type.branches));
        return;
      case 'null':
        scratch.ascii('null');
        return;
      case 'boolean':
        scratch.ascii(cursor.boolean() ? 'true' : 'false');
        return;
      case 'int':
      case 'long':
        this.#integer(type);
        return;
      case 'decimal':
        writeDecimal(cursor, scratch, type);
        return;
      default:
        this.#string(type);
    }
  }

  #record({ fields }: AvroType): void {
    const scratch = this.#scratch;
    let mark = OBJECT_BEGIN;
    for (const { json, type } of fields) {
      scratch.byte(mark);
      scratch.copy(json);
      this.#write(type);
      mark = COMMA;
    }
    if (mark === OBJECT_BEGIN) {
      scratch.byte(OBJECT_BEGIN);
    }
    scratch.byte(OBJECT_END);
  }

  #items({ kind, items }: AvroType): void {
    const [cursor, scratch] = [this.#cursor, this.#scratch];
    const isMap = kind === 'map';
    let isFirst = true;
    scratch.byte(isMap ? OBJECT_BEGIN : LIST_BEGIN);
    for (let left = cursor.block(); left > 0; left = cursor.block()) {
      for (; left > 0; left -= 1) {
        if (!isFirst) {
          scratch.byte(COMMA);
        }
        isFirst = false;
        if (isMap) {
          this.#write(MAP_KEY);
          scratch.byte(COLON);
        }
        this.#write(items);
      }
    }
    scratch.byte(isMap ? OBJECT_END : LIST_END);
  }

  #integer(type: AvroType): void {
    const { unit } = type;
    const scratch = this.#scratch;
    const before = scratch.length;
    writeInteger(this.#cursor, scratch, type);
    if (unit === undefined || this.#isRaw) {
      return;
    }
    const written = scratch.length - before;
    const digits = scratch.bytes.toString('latin1', scratch.end - written, scratch.end);
    const iso = isOfEpoch(unit)
      ? isoOfEpoch(digits, unit)
      : unit.startsWith('time-')
        ? timeOfDayText(digits, unit)
        : null;
    if (iso !== null) {
      scratch.end -= written;
      scratch.ascii(`"${iso}"`);
    }
  }

  /** What is between quotes. */
  #string(type: AvroType): void {
    const [cursor, scratch] = [this.#cursor, this.#scratch];
    if (type.kind === 'float' || type.kind === 'double') {
      this.#float(type);
      return;
    }
    scratch.byte(QUOTE);
    switch (type.kind) {
      case 'string':
        this.#content(cursor.string());
        break;
      case 'enum':
        scratch.copy(cursor.oneOf(type.symbols));
        break;
      case 'uuid':
        writeUuid(cursor, scratch);
        break;
      case 'duration':
        writeDuration(cursor, scratch);
        break;
      default:
        cursor.spanOf(type);
        scratch.base64(cursor.bytes, cursor.from, cursor.to);
    }
    scratch.byte(QUOTE);
  }

  #float(type: AvroType): void {
    const scratch = this.#scratch;
    const value = floatAt(this.#cursor, type);
    const isNumber = Number.isFinite(value);
    if (!isNumber) {
      scratch.byte(QUOTE);
    }
    writeFloat(scratch, value, type);
    if (!isNumber) {
      scratch.byte(QUOTE);
    }
  }

  /** The string that the cursor has read. @param hasEscapes whether something of it has to be escaped */
  #content(hasEscapes: boolean): void {
    const { bytes, from, to } = this.#cursor;
    if (hasEscapes) {
      this.#scratch.escaped(bytes, from, to);
    } else {
      this.#scratch.copy(bytes, from, to);
    }
  }
}
