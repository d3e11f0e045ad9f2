import { QUOTE } from '../../records/ascii.ts';
import { isEqual } from '../../tables/json/field-tree.ts';
import { type FoundParts, NO_BYTES } from '../parts/found-parts.ts';
import { hasEscapesIn } from '../parts/string-marks.ts';
import type { TextScratch } from '../parts/text-scratch.ts';
import type { ProtoCursor } from './proto-cursor.ts';
import type { FieldEntry, ValueStep } from './proto-program.ts';
import type { ProtoField } from './proto-type.ts';
import { booleanAt, NUMBER_ZERO, symbolAt, writeNumber } from './scalar-text.ts';

const EMPTY = {
  list: Buffer.from('[]', 'latin1'),
  map: Buffer.from('{}', 'latin1'),
  bytes: Buffer.from('""', 'latin1'),
} as const;

/** Takes the value at the cursor, behind its tag, as the part of its step. */
export function putScalar(
  cursor: ProtoCursor,
  scratch: TextScratch,
  found: FoundParts,
  { node, field }: ValueStep,
): void {
  switch (field.kind) {
    case 'string':
      cursor.span();
      found.putText(node, cursor, hasEscapesIn(cursor.bytes, cursor.from, cursor.to));
      return;
    case 'bool':
      found.putWord(node, booleanAt(cursor));
      return;
    case 'enum':
      putSymbol(cursor, scratch, found, { node, field });
      return;
    case 'bytes':
    case 'message':
      cursor.span();
      scratch.begin();
      scratch.byte(QUOTE);
      scratch.base64(cursor.bytes, cursor.from, cursor.to);
      scratch.byte(QUOTE);
      found.put(node, 'string', scratch.bytes, scratch.start, scratch.end);
      return;
    default: {
      scratch.begin();
      const kind = writeNumber(cursor, scratch, field.kind);
      found.put(node, kind, scratch.bytes, scratch.start, scratch.end);
    }
  }
}

function putSymbol(
  cursor: ProtoCursor,
  scratch: TextScratch,
  found: FoundParts,
  { node, field }: Pick<ValueStep, 'node' | 'field'>,
): void {
  const symbol = symbolAt(cursor, field);
  if (symbol !== undefined) {
    found.put(node, 'text', symbol, 0, symbol.length);
    return;
  }
  scratch.begin();
  scratch.integer(cursor.low | 0);
  found.put(node, 'number', scratch.bytes, scratch.start, scratch.end);
}

/** Takes what a field without presence is that is absent. */
export function putZero(found: FoundParts, node: number, { shape, kind, symbols }: ProtoField): void {
  if (shape !== 'single') {
    found.put(node, shape === 'list' ? 'list' : 'object', EMPTY[shape], 0, EMPTY[shape].length);
    return;
  }
  const symbol = symbols.get(0);
  switch (kind) {
    case 'string':
      found.put(node, 'text', NO_BYTES, 0, 0);
      return;
    case 'bytes':
      found.put(node, 'string', EMPTY.bytes, 0, EMPTY.bytes.length);
      return;
    case 'bool':
      found.putWord(node, 'false');
      return;
    default:
      if (symbol === undefined) {
        found.put(node, 'number', NUMBER_ZERO, 0, NUMBER_ZERO.length);
      } else {
        found.put(node, 'text', symbol, 0, symbol.length);
      }
  }
}

/** Reads the key of a map at the cursor, behind its tag. @returns the entry of that key */
export function entryAt(
  cursor: ProtoCursor,
  scratch: TextScratch,
  { kind }: ProtoField,
  entries: readonly FieldEntry[],
): FieldEntry | undefined {
  if (kind === 'string') {
    cursor.span();
    const { bytes, from, to } = cursor;
    return entries.find(({ key }) => isEqual(key, bytes, from, to));
  }
  scratch.begin();
  if (kind === 'bool') {
    scratch.ascii(booleanAt(cursor));
  } else if (kind !== 'bytes' && kind !== 'enum' && kind !== 'message') {
    writeNumber(cursor, scratch, kind);
  }
  const { bytes, start, end } = scratch;
  return entries.find(({ key }) => isEqual(key, bytes, start, end));
}
