import type { ValueKind } from '../../tables/json/json-slice.ts';
import { floatText } from '../parts/float-text.ts';
import { WORDS } from '../parts/found-parts.ts';
import type { TextScratch } from '../parts/text-scratch.ts';
import type { ProtoCursor } from './proto-cursor.ts';
import type { ProtoField, ProtoKind } from './proto-type.ts';

/** Kinds of values whose text are digits. */
export type NumberKind = Exclude<ProtoKind, 'bool' | 'string' | 'bytes' | 'enum' | 'message'>;

const EMPTY_TEXT = Buffer.from('""', 'latin1');
export const NUMBER_ZERO = Buffer.from('0', 'latin1');

/** As JSON, what a single value is that is absent and has no presence. */
export function zeroOf({ kind, symbols }: Pick<ProtoField, 'kind' | 'symbols'>): Buffer {
  switch (kind) {
    case 'string':
    case 'bytes':
      return EMPTY_TEXT;
    case 'bool':
      return WORDS.false;
    case 'enum': {
      const symbol = symbols.get(0);
      return symbol === undefined ? NUMBER_ZERO : Buffer.from(`"${symbol.toString('utf8')}"`, 'utf8');
    }
    default:
      return NUMBER_ZERO;
  }
}

/** Reads the boolean at the cursor. */
export function booleanAt(cursor: ProtoCursor): 'true' | 'false' {
  cursor.varint();
  return cursor.low === 0 && cursor.high === 0 ? 'false' : 'true';
}

/** Reads the number of an enum at the cursor. @returns its name; `undefined`: it has none, and is that number */
export function symbolAt(cursor: ProtoCursor, { symbols }: Pick<ProtoField, 'symbols'>): Buffer | undefined {
  cursor.varint();
  return symbols.get(cursor.low | 0);
}

const unzigzag = (word: number): number => (word >>> 1) ^ -(word & 1);

/** Half of a number in zigzag coding, and its sign. */
function unzigzag64(cursor: ProtoCursor): void {
  const { low, high } = cursor;
  const mask = -(low & 1);
  cursor.low = (((low >>> 1) | (high << 31)) ^ mask) >>> 0;
  cursor.high = ((high >>> 1) ^ mask) >>> 0;
}

/** Reads the integer of a kind at the cursor; NaN where a number does not hold it: see {@link ProtoCursor.exact}. */
export function integerAt(cursor: ProtoCursor, kind: NumberKind): number {
  switch (kind) {
    case 'int32':
      cursor.varint();
      return cursor.low | 0;
    case 'uint32':
      cursor.varint();
      return cursor.low;
    case 'sint32':
      cursor.varint();
      return unzigzag(cursor.low);
    case 'int64':
      cursor.varint();
      return cursor.signed;
    case 'uint64':
      cursor.varint();
      return cursor.unsigned;
    case 'sint64':
      cursor.varint();
      unzigzag64(cursor);
      return cursor.signed;
    case 'fixed32':
      return cursor.bytes.readUInt32LE(cursor.pass(4));
    case 'sfixed32':
      return cursor.bytes.readInt32LE(cursor.pass(4));
    case 'fixed64':
      cursor.fixed64();
      return cursor.unsigned;
    default:
      cursor.fixed64();
      return cursor.signed;
  }
}

/** All digits of the integer that {@link integerAt} has read, whatever its size. */
export const exactInteger = (cursor: ProtoCursor, kind: NumberKind): bigint =>
  kind === 'uint64' || kind === 'fixed64' ? cursor.exact : BigInt.asIntN(64, cursor.exact);

/** Reads the float or double at the cursor. */
const floatOrDoubleAt = (cursor: ProtoCursor, kind: 'float' | 'double'): number =>
  kind === 'float' ? cursor.bytes.readFloatLE(cursor.pass(4)) : cursor.bytes.readDoubleLE(cursor.pass(8));

/** Writes the number at the cursor, NaN and the infinities as those words. @returns what it is */
export function writeNumber(cursor: ProtoCursor, scratch: TextScratch, kind: NumberKind): ValueKind {
  if (kind === 'float' || kind === 'double') {
    const value = floatOrDoubleAt(cursor, kind);
    scratch.ascii(floatText(value, kind === 'float'));
    return Number.isFinite(value) ? 'number' : 'text';
  }
  const value = integerAt(cursor, kind);
  if (Number.isNaN(value)) {
    scratch.ascii(String(exactInteger(cursor, kind)));
  } else {
    scratch.integer(value);
  }
  return 'number';
}
