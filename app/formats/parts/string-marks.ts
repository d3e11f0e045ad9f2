import { isUtf8 } from 'node:buffer';
import { BACKSLASH, FIRST_BEYOND_ASCII, QUOTE, SPACE } from '../../records/ascii.ts';
import { NO_TEXT } from './decode-fault.ts';

/** By a byte of a string: 1 where JSON escapes it, 2 beyond ASCII. */
const MARKS = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= FIRST_BEYOND_ASCII ? 2 : byte < SPACE || byte === QUOTE || byte === BACKSLASH ? 1 : 0,
);

/** Checks a string in UTF-8. @returns whether JSON has to escape a part of it @throws DecodeFault for other bytes */
export function hasEscapesIn(bytes: Buffer, from: number, to: number): boolean {
  let marks = 0;
  for (let at = from; at < to; at += 1) {
    marks |= MARKS[bytes[at] ?? 0] ?? 0;
  }
  if (marks > 1 && !isUtf8(bytes.subarray(from, to))) {
    throw NO_TEXT;
  }
  return (marks & 1) === 1;
}
