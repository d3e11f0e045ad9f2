import { DEAD_LETTER_REASON, type DeadLetterReason } from '../../../contract/dead-letter-reasons.ts';
import type { FieldReader } from '../../formats/parts/field-reader.ts';
import type { Refusal } from '../../store/tables/table.ts';
import { contentOf, isString, type JsonSlice } from '../json/json-slice.ts';
import type { TableMapping } from '../mapping/table-mapping.ts';
import type { ColumnPlan } from '../rows/column-plan.ts';

/** Why a record is no row; without a column it is about the record as a whole. */
export interface Fault {
  readonly reason: DeadLetterReason;
  readonly column?: string;
  /** @default the words of the reason */
  readonly words?: string;
}

/** A fault in words that name the table and the column, and never quote the record. */
export function refusalOf({ reason, column, words = DEAD_LETTER_REASON[reason] }: Fault, table: string): Refusal {
  const place = column === undefined ? table : `${table}, column "${column}"`;
  const target = { target: table, ...(column !== undefined && { targetColumn: column }) };
  return { reason, error: `not for ${place}: ${words}`, ...target };
}

/**
 * What becomes of a record that is no dead letter: a row, a row that says what is deleted, unless that is newer or
 * whatever it is, or nothing. `unmatched`: nothing, as the table does not take the record.
 */
export type Operation = 'row' | 'delete' | 'delete older' | 'none' | 'unmatched';

const undecodable = (words: string): Fault => ({ reason: 'undecodable', words });

const NO_OPERATION = undecodable('its value is no change event: op is none of c, r, u, d and t');
const NO_ROW = undecodable('its value is no change event: after is no object');

/** A table that was emptied: the event has no key. */
const TRUNCATE: Fault = { reason: 'truncate' };

const NO_VALUE: Fault = { reason: 'no_value' };
const NOT_AN_OBJECT: Fault = {
  reason: 'value_does_not_fit',
  words: 'its value is no JSON object, and columns take fields of it',
};

/** Says what records do to a table. */
export class Operations {
  readonly #plan: ColumnPlan;
  readonly #key: TableMapping['key'];
  readonly #isOfDebezium: boolean;
  /** What a record does whose field says that it deletes. What Debezium says of a row that is deleted is no version. */
  readonly #byField: Operation;

  constructor(plan: ColumnPlan, { key, envelope }: TableMapping) {
    this.#plan = plan;
    this.#key = key;
    this.#isOfDebezium = envelope !== undefined && envelope.format !== 'connect';
    this.#byField = key?.version === undefined || this.#isOfDebezium ? 'delete' : 'delete older';
  }

  /** What is wrong with the form of a record, before its key is read. */
  faultOf(value: FieldReader | null, hasValue: boolean): Fault | null {
    if (!this.#plan.takesNames || (hasValue && value?.kind === 'object')) {
      return null;
    }
    if (hasValue) {
      return NOT_AN_OBJECT;
    }
    return this.#key === null && !this.#plan.isEvent ? NO_VALUE : null;
  }

  /** @param value the fields of the record's value; `null`: no column takes any */
  of(value: FieldReader | null, hasValue: boolean): Operation | Fault {
    return this.#plan.isEvent ? this.#ofEvent(value, hasValue) : this.#ofRow(value, hasValue);
  }

  /**
   * Whether conditions on fields say nothing of a record: it deletes by the record key, and the fields that it has are
   * none of its row; or it is an event without a row, which is a dead letter.
   */
  isWithoutRow(value: FieldReader | null, hasValue: boolean): boolean {
    if (this.#key === null) {
      return false;
    }
    const isEventWithRow = !this.#plan.isEvent || value?.kindOf(this.#plan.after) === 'object';
    return !hasValue || !isEventWithRow || (this.#isOfDebezium && this.of(value, hasValue) === 'delete');
  }

  #ofRow(value: FieldReader | null, hasValue: boolean): Operation {
    const key = this.#key;
    if (key === null || (hasValue && typeof key.delete === 'string')) {
      return 'row';
    }
    if (hasValue) {
      return isTrue(value?.of(this.#plan.deleted)) ? this.#byField : 'row';
    }
    return key.delete === 'never' ? 'none' : 'delete';
  }

  /** Of a tombstone in a table of events nothing is left to say. */
  #ofEvent(value: FieldReader | null, hasValue: boolean): Operation | Fault {
    const { operation, after } = this.#plan;
    if (!hasValue) {
      return this.#key === null ? 'none' : 'delete';
    }
    return this.#key === null
      ? ofHistory(value?.of(operation))
      : ofChange(value?.of(operation), value?.kindOf(after) === 'object');
  }
}

/** What a string says, for less work where it is one letter, as in events; `null`: all else. An escape is longer. */
function wordOf(field: JsonSlice | undefined): string | null {
  if (field === undefined || !isString(field)) {
    return null;
  }
  const { bytes, start, end, kind } = field;
  const quotes = kind === 'text' ? 0 : 1;
  return end - start !== 1 + 2 * quotes ? contentOf(field) : String.fromCharCode(bytes[start + quotes] ?? 0);
}

/**
 * What a change event does to the table. `before` plays no part: unless the source has REPLICA IDENTITY FULL, what it
 * says of columns beyond the key is made up.
 */
function ofChange(operation: JsonSlice | undefined, hasRow: boolean): Operation | Fault {
  switch (wordOf(operation)) {
    case 'c':
    case 'r':
    case 'u':
      return hasRow ? 'row' : NO_ROW;
    case 'd':
      return 'delete';
    case 't':
      return TRUNCATE;
    default:
      return NO_OPERATION;
  }
}

/** Of a table without a key each event is a row. */
const ofHistory = (operation: JsonSlice | undefined): Operation | Fault =>
  ['c', 'r', 'u', 'd', 't'].includes(wordOf(operation) ?? '') ? 'row' : NO_OPERATION;

/** JSON's true, or the text of it: Debezium's ExtractNewRecordState writes `"__deleted": "true"`. */
const isTrue = (field: JsonSlice | undefined): boolean =>
  field?.kind === 'true' || (field !== undefined && isString(field) && contentOf(field) === 'true');
