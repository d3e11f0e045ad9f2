import { hasBackslash } from '../../tables/json/json-slice.ts';
import type { FoundParts } from '../parts/found-parts.ts';
import type { TextScratch } from '../parts/text-scratch.ts';
import { isPacked, MessageParts, requireWire } from './message-parts.ts';
import { MessageWriter } from './message-writer.ts';
import type { ProtoCursor } from './proto-cursor.ts';
import type { FieldEntry, MessageStep, ProtoProgram, ValueStep } from './proto-program.ts';
import { type ProtoField, WIRE, WIRE_OF } from './proto-type.ts';
import { entryAt, putScalar, putZero } from './scalar-parts.ts';

/**
 * Finds the parts of a value that its program takes. Fields are in any order: of a single one the last value counts,
 * and the pieces of a message are put together. A part that is JSON is written when all of the value was read.
 */
export class PartFinder {
  readonly #cursor: ProtoCursor;
  readonly #scratch: TextScratch;
  readonly #found: FoundParts;
  readonly #parts: MessageParts;
  readonly #writer: MessageWriter;
  /** Items so far of a list, by its node. */
  #counts = new Int32Array(0);
  /** By node, 1 for a message of which a piece was read. */
  #present = new Uint8Array(0);
  #unwritten: ValueStep[] = [];
  /** Messages that paths lead through, in the order of their first pieces. */
  #entered: ValueStep[] = [];
  /** The row of the last value, if it has one. */
  row: MessageStep | null = null;
  /** Numbers of fields of the row that the schema does not have. */
  unknown: number[] = [];

  constructor(cursor: ProtoCursor, scratch: TextScratch, found: FoundParts) {
    this.#cursor = cursor;
    this.#scratch = scratch;
    this.#found = found;
    this.#parts = new MessageParts(cursor);
    this.#writer = new MessageWriter(cursor, scratch, this.#parts);
  }

  /** Finds the parts in the bytes from `start` up to `end`. @throws DecodeFault where the schema has no such value */
  find({ root, size }: ProtoProgram, start: number, end: number): void {
    this.#parts.begin(size);
    this.#writer.begin(end - start);
    if (this.#counts.length < size) {
      this.#counts = new Int32Array(size);
      this.#present = new Uint8Array(size);
    }
    this.#counts.fill(0, 0, size);
    this.#present.fill(0, 0, size);
    this.#unwritten = [];
    this.#entered = [];
    this.row = null;
    if (this.unknown.length > 0) {
      this.unknown = [];
    }
    this.#piece(root, start, end, WIRE.length);
    this.#writeParts();
    this.#putZeros();
  }

  /** A message, or a piece of one that is put together. */
  #piece(step: ValueStep, from: number, to: number, wire: number): void {
    if (step.isPart) {
      this.#notePart(step, from, to, wire);
    }
    if (step.below === null) {
      return;
    }
    if (this.#present[step.node] !== 1) {
      this.#present[step.node] = 1;
      this.#entered.push(step);
    }
    this.#message(step.below, from, to);
  }

  #notePart(step: ValueStep, from: number, to: number, wire: number): void {
    if (this.#parts.isEmpty(step.node)) {
      this.#unwritten.push(step);
    }
    this.#parts.add(step.node, from, to, wire);
  }

  /** What is absent in the messages that are there. */
  #putZeros(): void {
    const found = this.#found;
    for (const { node, below } of this.#entered) {
      if (below !== null && this.#present[node] === 1) {
        for (const zero of below.zeros) {
          if (found.kind(zero.node) === null) {
            putZero(found, zero.node, zero.field);
          }
        }
      }
    }
  }

  #message(step: MessageStep, from: number, to: number): void {
    const cursor = this.#cursor;
    const { at, end } = cursor;
    cursor.enter();
    cursor.within(from, to);
    if (step.isRow) {
      this.row = step;
    }
    while (cursor.at < to) {
      cursor.tag();
      this.#field(step);
    }
    cursor.within(at, end);
    cursor.leave();
  }

  #field(message: MessageStep): void {
    const cursor = this.#cursor;
    const { number, wire } = cursor;
    const field = message.type.field(number);
    if (field === undefined) {
      cursor.skip();
      if (message.isRow) {
        this.unknown.push(number);
      }
      return;
    }
    if (wire !== field.wire) {
      this.#requireWire(field, wire);
    }
    const step = message.fields[field.place] ?? null;
    if (step === null) {
      cursor.skip();
      return;
    }
    for (const rival of step.rivals) {
      this.#forget(rival.node, rival.lastBelow);
    }
    switch (field.shape) {
      case 'single':
        this.#value(step);
        return;
      case 'list':
        this.#items(step);
        return;
      default:
        this.#entry(step);
    }
  }

  /** What is no value at all is that, before it is one of another type. */
  #requireWire(field: ProtoField, wire: number): void {
    const cursor = this.#cursor;
    const { at } = cursor;
    cursor.skip();
    requireWire(field, wire);
    cursor.at = at;
    cursor.wire = wire;
  }

  #forget(node: number, lastBelow: number): void {
    this.#found.forget(node, lastBelow);
    this.#parts.forget(node, lastBelow);
    this.#counts.fill(0, node, lastBelow);
    this.#present.fill(0, node, lastBelow);
  }

  /** A single value, behind its tag. */
  #value(step: ValueStep): void {
    const cursor = this.#cursor;
    if (step.field.message !== null) {
      const { wire } = cursor;
      cursor.skip();
      this.#piece(step, cursor.from, cursor.to, wire);
    } else if (step.isTaken) {
      putScalar(cursor, this.#scratch, this.#found, step);
    } else {
      cursor.skip();
    }
  }

  #items(step: ValueStep): void {
    const cursor = this.#cursor;
    const { wire, at } = cursor;
    cursor.skip();
    const { from, to } = cursor;
    if (step.isTaken) {
      this.#notePart(step, from, to, wire);
    }
    if (step.positions === null) {
      return;
    }
    const { at: behind, end } = cursor;
    if (isPacked(step.field, wire)) {
      cursor.within(from, to);
      while (cursor.at < to) {
        this.#packedItem(step);
      }
    } else {
      this.#item(step, at, wire);
    }
    cursor.within(behind, end);
  }

  #nextItem(step: ValueStep): ValueStep | undefined {
    const position = this.#counts[step.node] ?? 0;
    this.#counts[step.node] = position + 1;
    return step.positions?.get(position);
  }

  #packedItem(step: ValueStep): void {
    const item = this.#nextItem(step);
    this.#cursor.wire = WIRE_OF[step.field.kind];
    if (item === undefined) {
      this.#cursor.skip();
    } else {
      this.#value(item);
    }
  }

  #item(step: ValueStep, at: number, wire: number): void {
    const item = this.#nextItem(step);
    if (item !== undefined) {
      this.#cursor.at = at;
      this.#cursor.wire = wire;
      this.#value(item);
    }
  }

  /** An entry of a map. Its key may be behind its value. */
  #entry(step: ValueStep): void {
    const cursor = this.#cursor;
    const { wire } = cursor;
    cursor.skip();
    const { from, to, at, end } = cursor;
    if (step.isTaken) {
      this.#notePart(step, from, to, wire);
    }
    if (step.entries.length > 0) {
      cursor.within(from, to);
      const entry = this.#entryOf(step);
      if (entry !== undefined) {
        cursor.within(from, to);
        this.#entryValue(entry);
      }
      cursor.within(at, end);
    }
  }

  /** The entry whose key is in the bytes; a key that is absent is the zero of its type. */
  #entryOf({ field, entries }: ValueStep): FieldEntry | undefined {
    const cursor = this.#cursor;
    const [key] = field.message?.fields ?? [];
    const zero = key?.kind === 'string' ? '' : key?.kind === 'bool' ? 'false' : '0';
    let entry = entries.find(({ name }) => name === zero);
    while (cursor.at < cursor.end && key !== undefined) {
      cursor.tag();
      if (cursor.number === key.number) {
        requireWire(key, cursor.wire);
        entry = entryAt(cursor, this.#scratch, key, entries);
      } else {
        cursor.skip();
      }
    }
    return entry;
  }

  #entryValue({ step }: FieldEntry): void {
    const cursor = this.#cursor;
    this.#forget(step.node, step.lastBelow);
    let isAbsent = true;
    while (cursor.at < cursor.end) {
      cursor.tag();
      if (cursor.number === step.field.number) {
        requireWire(step.field, cursor.wire);
        this.#value(step);
        isAbsent = false;
      } else {
        cursor.skip();
      }
    }
    if (isAbsent && step.field.message !== null) {
      this.#piece(step, cursor.end, cursor.end, WIRE.length);
    } else if (isAbsent && step.isTaken) {
      putZero(this.#found, step.node, step.field);
    }
  }

  #writeParts(): void {
    const scratch = this.#scratch;
    for (const { node, field } of this.#unwritten) {
      if (!this.#parts.isEmpty(node)) {
        const kind = this.#writer.part(field, node);
        const { bytes, start, end } = scratch;
        const hasEscapes = kind === 'string' && hasBackslash(bytes, start, end);
        this.#found.put(node, kind, bytes, start, end, hasEscapes);
        this.#parts.forget(node, node + 1);
      }
    }
  }
}
