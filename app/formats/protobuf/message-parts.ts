import { DecodeFault } from '../parts/decode-fault.ts';
import { Occurrences } from './occurrences.ts';
import type { ProtoCursor } from './proto-cursor.ts';
import { type MessageType, type ProtoField, WIRE, WIRE_OF } from './proto-type.ts';

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
