import { DecodeFault } from '../parts/decode-fault.ts';
import type { ProtoCursor } from './proto-cursor.ts';
import { type MessageType, type ProtoField, WIRE, WIRE_OF } from './proto-type.ts';

const NO_OCCURRENCE = -1;
const FEW = 256;

/** A larger array with the same numbers. */
function grown(numbers: Int32Array, size: number) {
  const larger = new Int32Array(Math.max(numbers.length * 2, size));
  larger.set(numbers);
  return larger;
}

/**
 * Where the values of fields are in a message, in the order of its bytes: a field may be there often, in any place.
 * Each slot has a list of them. Slots and what is in them are taken and given back as on a stack.
 */
class Occurrences {
  #first = new Int32Array(FEW);
  #last = new Int32Array(FEW);
  #slots = 0;
  #starts = new Int32Array(FEW);
  #ends = new Int32Array(FEW);
  #wires = new Int32Array(FEW);
  #nexts = new Int32Array(FEW);
  #size = 0;

  /** Forgets all. @param slots that are there from now on, all of them empty */
  begin(slots: number): void {
    this.#slots = 0;
    this.#size = 0;
    this.take(slots);
  }

  /** How many values there are, for {@link give}. */
  get size(): number {
    return this.#size;
  }

  /** More slots. @returns the first of them */
  take(count: number): number {
    const base = this.#slots;
    this.#slots += count;
    if (this.#slots > this.#first.length) {
      this.#first = grown(this.#first, this.#slots);
      this.#last = grown(this.#last, this.#slots);
    }
    this.forget(base, this.#slots);
    return base;
  }

  /** Gives back all slots from one on, and all values but so many. */
  give(base: number, size: number): void {
    this.#slots = base;
    this.#size = size;
  }

  add(slot: number, start: number, end: number, wire: number): void {
    const nth = this.#size;
    if (nth === this.#starts.length) {
      this.#starts = grown(this.#starts, nth + 1);
      this.#ends = grown(this.#ends, nth + 1);
      this.#wires = grown(this.#wires, nth + 1);
      this.#nexts = grown(this.#nexts, nth + 1);
    }
    this.#size = nth + 1;
    this.#starts[nth] = start;
    this.#ends[nth] = end;
    this.#wires[nth] = wire;
    this.#nexts[nth] = NO_OCCURRENCE;
    if (this.isEmpty(slot)) {
      this.#first[slot] = nth;
    } else {
      this.#nexts[this.#last[slot] ?? 0] = nth;
    }
    this.#last[slot] = nth;
  }

  /** Empties the slots from `first` up to `end`. */
  forget(first: number, end: number): void {
    // Few: a loop costs less than a call of fill().
    for (let slot = first; slot < end; slot += 1) {
      this.#first[slot] = NO_OCCURRENCE;
    }
  }

  isEmpty(slot: number): boolean {
    return this.#first[slot] === NO_OCCURRENCE;
  }

  /** The first value of a slot; negative: it has none. */
  first(slot: number): number {
    return this.#first[slot] ?? NO_OCCURRENCE;
  }

  /** The last value of a slot that is not empty. */
  last(slot: number): number {
    return this.#last[slot] ?? NO_OCCURRENCE;
  }

  /** The value behind one; negative: it was the last one. */
  next(nth: number): number {
    return this.#nexts[nth] ?? NO_OCCURRENCE;
  }

  start(nth: number): number {
    return this.#starts[nth] ?? 0;
  }

  end(nth: number): number {
    return this.#ends[nth] ?? 0;
  }

  wire(nth: number): number {
    return this.#wires[nth] ?? 0;
  }
}

const WRONG_WIRE = new DecodeFault('a field has bytes that its type cannot have');

/**
 * Requires that a value of a wire type is one of the field, or several of a list, packed.
 *
 * @throws DecodeFault where it is none: the bytes are of another schema
 */
export function requireWire({ shape, kind, wire: own }: ProtoField, wire: number): void {
  if (wire === own) {
    return;
  }
  const isGroup = wire === WIRE.group && kind === 'message' && shape !== 'map';
  if (!isGroup && !(wire === WIRE.length && shape === 'list')) {
    throw WRONG_WIRE;
  }
}

/** Whether the bytes of a list's value are any number of its items. */
export const isPacked = ({ kind }: Pick<ProtoField, 'kind'>, wire: number): boolean =>
  wire === WIRE.length && WIRE_OF[kind] !== WIRE.length;

/** Finds the values of the fields of a message, which are in any order, and of which the message is in many pieces. */
export class MessageParts extends Occurrences {
  readonly #cursor: ProtoCursor;

  constructor(cursor: ProtoCursor) {
    super();
    this.#cursor = cursor;
  }

  /** Finds the values in all pieces of a message. @returns the slot of its first field */
  scan(type: MessageType, pieces: number): number {
    const base = this.take(type.fields.length);
    for (let piece = this.first(pieces); piece >= 0; piece = this.next(piece)) {
      this.#scanPiece(type, base, piece);
    }
    return base;
  }

  /** The same of a message that is one piece. */
  scanOne(type: MessageType, piece: number): number {
    const base = this.take(type.fields.length);
    this.#scanPiece(type, base, piece);
    return base;
  }

  #scanPiece(type: MessageType, base: number, piece: number): void {
    const cursor = this.#cursor;
    cursor.within(this.start(piece), this.end(piece));
    while (cursor.at < cursor.end) {
      cursor.tag();
      const { number, wire } = cursor;
      const field = type.field(number);
      cursor.skip();
      if (field !== undefined) {
        if (wire !== field.wire) {
          requireWire(field, wire);
        }
        for (const rival of field.rivals) {
          this.forget(base + rival, base + rival + 1);
        }
        this.add(base + field.place, cursor.from, cursor.to, wire);
      }
    }
  }
}
