import type { DeadLetterReason } from '../../../contract/dead-letter-reasons.ts';
import { contentOf, isString, type JsonSlice, type ValueKind } from '../json/json-slice.ts';

/** Why a record is no row; without a column it is about the record as a whole. */
export interface Fault {
  readonly reason: DeadLetterReason;
  readonly column?: string;
  /** @default the words of the reason */
  readonly words?: string;
}

/** What becomes of a record that is no dead letter: a row, a row that says what is deleted, or nothing. */
export type Operation = 'row' | 'delete' | 'none';

const undecodable = (words: string): Fault => ({ reason: 'undecodable', words });

const NO_OPERATION = undecodable('its value is no change event: op is none of c, r, u, d and t');
const NO_ROW = undecodable('its value is no change event: after is no object');

/** A table that was emptied: the event has no key. */
const TRUNCATE: Fault = { reason: 'truncate' };

/** What a string says, for less work where it is one letter, as in each event: an escape is longer. */
function letterOf(operation: JsonSlice): string {
  const { bytes, start, end, kind } = operation;
  const quotes = kind === 'text' ? 0 : 1;
  return end - start !== 1 + 2 * quotes ? contentOf(operation) : String.fromCharCode(bytes[start + quotes] ?? 0);
}

/**
 * What a change event does to the table. `before` plays no part: unless the source has REPLICA IDENTITY FULL, what it
 * says of columns beyond the key is made up.
 *
 * @param operation its `op`
 * @param after what its row is; `undefined`: it has none
 * @param isHistory whether the table has no key, so that every event is a row
 */
export function eventOperation(
  operation: JsonSlice | undefined,
  after: ValueKind | undefined,
  isHistory: boolean,
): Operation | Fault {
  switch (operation !== undefined && isString(operation) ? letterOf(operation) : null) {
    case 'c':
    case 'r':
    case 'u':
      return isHistory || after === 'object' ? 'row' : NO_ROW;
    case 'd':
      return isHistory ? 'row' : 'delete';
    case 't':
      return isHistory ? 'row' : TRUNCATE;
    default:
      return NO_OPERATION;
  }
}
