import { DEAD_LETTER_REASON, type DeadLetterReason } from '../../../contract/dead-letter-reasons.ts';
import type { FieldReader } from '../../formats/parts/field-reader.ts';
import type { RecordCursor } from '../../records/record-batch.ts';
import type { Refusal } from '../../store/tables/table.ts';
import { contentOf, isString, type JsonSlice, sentJson } from '../json/json-slice.ts';
import { isOfDebezium, type TableMapping } from '../mapping/table-mapping.ts';
import { type ColumnPlan, lastHeader } from '../rows/column-plan.ts';
import { Placeholders } from '../rows/kept-columns.ts';

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
    this.#isOfDebezium = isOfDebezium(envelope);
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

/** A header, and the bytes of the values that match. */
interface HeaderCondition {
  readonly name: Buffer;
  readonly values: readonly Buffer[];
}

/** A part of the value, by its place among those that are read, and the texts that match. */
interface FieldCondition {
  readonly place: number;
  /** Place of the field of the row that the part is in. */
  readonly field: number;
  readonly values: ReadonlySet<string>;
}

/** A large value that an update did not change, and a condition on it. */
const UNKNOWN_CONDITION: Fault = {
  reason: 'missing_value',
  words: 'a condition of when is on a large value that Debezium did not send, as the update did not change it',
};

/** What records need for a table to take them. Each record is judged alone, by nothing but itself. */
export class Conditions {
  readonly #headers: readonly HeaderCondition[];
  /** On what a change event does. */
  readonly #operations: readonly FieldCondition[];
  readonly #fields: readonly FieldCondition[];
  /** What a record does to the table. */
  readonly #effects: Operations;
  /** `null` where the envelope is none of Debezium. */
  readonly #placeholders: Placeholders | null;

  private constructor({ when = [], envelope }: TableMapping, plan: ColumnPlan, operations: Operations) {
    this.#effects = operations;
    this.#placeholders = isOfDebezium(envelope) ? new Placeholders(envelope.unavailableValue) : null;
    this.#headers = when.flatMap(({ source, values }) =>
      source.kind === 'header'
        ? { name: Buffer.from(source.name, 'utf8'), values: values.map((value) => Buffer.from(value, 'utf8')) }
        : [],
    );
    this.#operations = when.flatMap(({ source, values }) =>
      source.kind === 'event' ? { place: plan.operation, field: plan.operation, values: new Set(values) } : [],
    );
    const ofFields = when.filter(({ source }) => source.kind === 'field');
    this.#fields = plan.conditions.map((places, nth) => ({ ...places, values: new Set(ofFields[nth]?.values) }));
  }

  /** @returns `null` where the table takes all records */
  static of(mapping: TableMapping, plan: ColumnPlan, operations: Operations): Conditions | null {
    return mapping.when === undefined ? null : new Conditions(mapping, plan, operations);
  }

  /** Asked before anything of the record is read: of another table's record nothing is wrong here. */
  holdForHeaders(record: RecordCursor): boolean {
    return this.#headers.every(({ name, values }) => {
      const { bytes } = record.batch;
      const { at, length } = lastHeader(name, record);
      return length >= 0 && values.some((value) => bytes.compare(value, 0, value.length, at, at + length) === 0);
    });
  }

  /**
   * Whether the table takes the record. A field that the source did not send is not known to match, and not known not
   * to: unless another condition refuses the record, it is a dead letter.
   *
   * @param value the fields of the record's value, where it has one
   */
  ofValue(value: FieldReader | null, hasValue: boolean): 'hold' | 'unmatched' | Fault {
    const fails = ({ place, values }: FieldCondition): boolean => {
      const text = hasValue ? textOf(value?.of(place)) : null;
      return text === null || !values.has(text);
    };
    if (this.#operations.some(fails)) {
      return 'unmatched';
    }
    const failed = this.#effects.isWithoutRow(value, hasValue) ? [] : this.#fields.filter(fails);
    if (failed.length === 0) {
      return 'hold';
    }
    const isUnsent = ({ field }: FieldCondition) => hasValue && this.#placeholders?.includes(value?.of(field)) === true;
    return failed.every(isUnsent) ? UNKNOWN_CONDITION : 'unmatched';
  }
}

/** As a column of text would get it; `null` for NULL, an object or a list. */
function textOf(field: JsonSlice | undefined): string | null {
  if (field === undefined || field.kind === 'null' || field.kind === 'object' || field.kind === 'list') {
    return null;
  }
  return isString(field) ? contentOf(field) : sentJson(field);
}
