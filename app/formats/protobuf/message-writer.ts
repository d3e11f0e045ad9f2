import { COLON, COMMA, LIST_BEGIN, LIST_END, OBJECT_BEGIN, OBJECT_END, QUOTE } from '../../records/ascii.ts';
import { kindAt } from '../../tables/json/json-lexer.ts';
import type { ValueKind } from '../../tables/json/json-slice.ts';
import { mostJson, TOO_LARGE } from '../parts/decode-fault.ts';
import { hasEscapesIn } from '../parts/string-marks.ts';
import type { TextScratch } from '../parts/text-scratch.ts';
import { isPacked, type MessageParts } from './message-parts.ts';
import type { ProtoCursor } from './proto-cursor.ts';
import type { MessageType, ProtoField } from './proto-type.ts';
import { booleanAt, symbolAt, writeNumber, zeroOf } from './scalar-text.ts';
import { writeWellKnown } from './well-known.ts';

/** What a field that is looked for counts as, in bytes of JSON: a message of few bytes may have thousands of them. */
const FIELD_BYTES = 16;

/**
 * Writes messages as JSON: fields by their names, in the order of the schema, numbers with all digits, bytes in base64,
 * enums by name, NaN and the infinities as strings. A field that is absent is left out; one without presence is its
 * zero, and lists and maps are empty. Well-known types are written as what they mean.
 */
export class MessageWriter {
  readonly cursor: ProtoCursor;
  readonly scratch: TextScratch;
  readonly parts: MessageParts;
  /** Of the bytes that parts of a value may have as JSON, what is left. */
  #room = 0;

  constructor(cursor: ProtoCursor, scratch: TextScratch, parts: MessageParts) {
    this.cursor = cursor;
    this.scratch = scratch;
    this.parts = parts;
  }

  /** Before the parts of a value of so many bytes. */
  begin(bytes: number): void {
    this.#room = mostJson(bytes);
  }

  /** Writes the part of a value that is in a slot, in one piece of the scratch memory. @returns what it is */
  part(field: ProtoField, slot: number): ValueKind {
    const { scratch } = this;
    scratch.begin();
    this.field(field, slot);
    this.#room -= scratch.length;
    return kindAt(scratch.bytes, scratch.start);
  }

  /** Writes all values of a field, which are in a slot; of one that has none its zero. */
  field(field: ProtoField, slot: number): void {
    const { shape, message } = field;
    if (shape === 'list') {
      this.#list(field, slot);
    } else if (shape === 'map') {
      this.#map(field, slot);
    } else if (message !== null) {
      this.message(message, slot);
    } else if (this.parts.isEmpty(slot)) {
      this.scratch.copy(zeroOf(field));
    } else {
      this.#scalarIn(field, this.parts.last(slot));
    }
    this.#requireRoom(0);
  }

  /** Writes the message whose pieces are in a slot. */
  message(type: MessageType, slot: number): void {
    const { cursor, parts } = this;
    const { size } = parts;
    cursor.enter();
    this.#requireRoom(type.fields.length * FIELD_BYTES);
    const base = parts.scan(type, slot);
    if (type.wellKnown === null) {
      this.#fields(type, base);
    } else {
      writeWellKnown(this, type, base);
    }
    parts.give(base, size);
    cursor.leave();
  }

  /** @param more that the work counts as, beside what was written */
  #requireRoom(more: number): void {
    this.#room -= more;
    if (this.scratch.length > this.#room) {
      throw TOO_LARGE;
    }
  }

  #fields({ fields }: MessageType, base: number): void {
    const { scratch } = this;
    let mark = OBJECT_BEGIN;
    for (const field of fields) {
      const slot = base + field.place;
      if (!field.hasPresence || !this.parts.isEmpty(slot)) {
        scratch.byte(mark);
        scratch.copy(field.json);
        this.field(field, slot);
        mark = COMMA;
      }
    }
    if (mark === OBJECT_BEGIN) {
      scratch.byte(OBJECT_BEGIN);
    }
    scratch.byte(OBJECT_END);
  }

  #list(field: ProtoField, slot: number): void {
    const { parts, scratch } = this;
    let mark = LIST_BEGIN;
    for (let nth = parts.first(slot); nth >= 0; nth = parts.next(nth)) {
      if (isPacked(field, parts.wire(nth))) {
        mark = this.#packed(field, nth, mark);
      } else {
        scratch.byte(mark);
        this.#item(field, nth);
        mark = COMMA;
      }
    }
    if (mark === LIST_BEGIN) {
      scratch.byte(LIST_BEGIN);
    }
    scratch.byte(LIST_END);
  }

  /** @returns the mark before the item behind */
  #packed(field: ProtoField, nth: number, before: number): number {
    const { cursor, parts, scratch } = this;
    let mark = before;
    cursor.within(parts.start(nth), parts.end(nth));
    while (cursor.at < cursor.end) {
      scratch.byte(mark);
      this.#scalar(field);
      this.#requireRoom(0);
      mark = COMMA;
    }
    return mark;
  }

  #item(field: ProtoField, nth: number): void {
    const { parts } = this;
    if (field.message === null) {
      this.#scalarIn(field, nth);
      this.#requireRoom(0);
      return;
    }
    const { size } = parts;
    const slot = parts.take(1);
    parts.add(slot, parts.start(nth), parts.end(nth), parts.wire(nth));
    this.message(field.message, slot);
    parts.give(slot, size);
  }

  #map({ message: entry }: ProtoField, slot: number): void {
    const { parts, scratch } = this;
    const [key, value] = entry?.fields ?? [];
    let mark = OBJECT_BEGIN;
    for (let nth = parts.first(slot); nth >= 0 && entry !== null; nth = parts.next(nth)) {
      const { size } = parts;
      const base = parts.scanOne(entry, nth);
      scratch.byte(mark);
      if (key !== undefined && value !== undefined) {
        this.#key(key, base);
        scratch.byte(COLON);
        this.field(value, base + 1);
      }
      parts.give(base, size);
      mark = COMMA;
    }
    if (mark === OBJECT_BEGIN) {
      scratch.byte(OBJECT_BEGIN);
    }
    scratch.byte(OBJECT_END);
  }

  /** Names in JSON are strings. */
  #key(key: ProtoField, slot: number): void {
    if (key.kind === 'string') {
      this.field(key, slot);
      return;
    }
    this.scratch.byte(QUOTE);
    this.field(key, slot);
    this.scratch.byte(QUOTE);
  }

  #scalarIn(field: ProtoField, nth: number): void {
    this.cursor.within(this.parts.start(nth), this.parts.end(nth));
    this.#scalar(field);
  }

  /** Writes the value at the cursor; of a string or bytes all up to the cursor's end. */
  #scalar(field: ProtoField): void {
    const { cursor, scratch } = this;
    const { kind } = field;
    switch (kind) {
      case 'string':
      case 'bytes':
        scratch.byte(QUOTE);
        this.#content(kind);
        scratch.byte(QUOTE);
        return;
      case 'bool':
        scratch.ascii(booleanAt(cursor));
        return;
      case 'enum':
        this.#symbol(field);
        return;
      case 'message':
        return;
      default:
        this.#number(kind);
    }
  }

  #content(kind: 'string' | 'bytes'): void {
    const { cursor, scratch } = this;
    const { bytes, at, end } = cursor;
    if (kind === 'bytes') {
      scratch.base64(bytes, at, end);
    } else if (hasEscapesIn(bytes, at, end)) {
      scratch.escaped(bytes, at, end);
    } else {
      scratch.copy(bytes, at, end);
    }
    cursor.at = end;
  }

  #symbol(field: ProtoField): void {
    const { cursor, scratch } = this;
    const symbol = symbolAt(cursor, field);
    if (symbol === undefined) {
      scratch.integer(cursor.low | 0);
      return;
    }
    scratch.byte(QUOTE);
    scratch.copy(symbol);
    scratch.byte(QUOTE);
  }

  #number(kind: Parameters<typeof writeNumber>[2]): void {
    const { cursor, scratch } = this;
    const isFloat = kind === 'float' || kind === 'double';
    const isWord = isFloat && !isOfJson(cursor, kind);
    if (isWord) {
      scratch.byte(QUOTE);
    }
    writeNumber(cursor, scratch, kind);
    if (isWord) {
      scratch.byte(QUOTE);
    }
  }
}

/** Whether the float or double at the cursor is a number of JSON: not all bits of its exponent are set. */
function isOfJson({ bytes, at, end }: ProtoCursor, kind: 'float' | 'double'): boolean {
  const [size, mask] = kind === 'float' ? [4, 0x7f80] : [8, 0x7ff0];
  return at + size > end || (bytes.readUInt16LE(at + size - 2) & mask) !== mask;
}
