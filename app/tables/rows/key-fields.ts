import type { DeadLetterReason } from '../../../contract/dead-letter-reasons.ts';
import type { FieldReader, Taken } from '../../formats/parts/field-reader.ts';
import type { RecordCursor } from '../../records/record-batch.ts';
import { DocumentFields } from '../json/document-fields.ts';
import { EnvelopeFields } from '../json/envelope-fields.ts';
import type { TableMapping } from '../mapping/table-mapping.ts';
import type { ColumnPlan, PlannedColumn } from './column-plan.ts';
import { TypedColumn } from './row-column.ts';
import type { FieldRefusal, RowText } from './row-text.ts';

/** Why a record key cannot be read. */
interface KeyFault {
  readonly reason: DeadLetterReason;
  readonly words: string;
}

/** What columns take of record keys. */
export interface KeyFields {
  /** Reads the key of a record as far as columns take it, before any is written. @returns why it cannot be read */
  read(record: RecordCursor): KeyFault | null;
  /** Writes a column that takes the key, or a part of it. */
  write(row: RowText, planned: PlannedColumn, record: RecordCursor): FieldRefusal;
  /** Writes a column of the table's key that a value has no field for. */
  writeOfTableKey(row: RowText, planned: PlannedColumn, record: RecordCursor): KeyFault | FieldRefusal;
}

const KEY_IS_NOT_JSON = 'its key is not JSON, and columns take fields of it';

/** Keys whose format is not set: text where a column takes the whole, and JSON where it takes a field. */
export class TextKey implements KeyFields {
  readonly #plan: ColumnPlan;
  /** `null` where no column takes a field. */
  readonly #fields: DocumentFields | EnvelopeFields | null;

  constructor(plan: ColumnPlan, { envelope }: TableMapping) {
    const Fields = envelope === undefined ? DocumentFields : EnvelopeFields;
    this.#plan = plan;
    this.#fields = plan.keys.length === 0 ? null : new Fields(plan.keys);
  }

  read({ batch, keyAt, keyLength }: RecordCursor): KeyFault | null {
    const isRead =
      this.#fields === null || keyLength < 0 || this.#fields.read(batch.bytes, keyAt, keyAt + keyLength) === null;
    return isRead ? null : { reason: 'invalid_json', words: KEY_IS_NOT_JSON };
  }

  write(row: RowText, { column, path }: PlannedColumn, { batch, keyAt, keyLength }: RecordCursor): FieldRefusal {
    return path < 0
      ? row.bytes(column, batch.bytes, keyAt, keyLength)
      : row.json(column, keyLength < 0 ? undefined : this.#fields?.of(path));
  }

  writeOfTableKey(row: RowText, { column, inRecordKey }: PlannedColumn, record: RecordCursor): FieldRefusal {
    return this.#plan.recordKey.write(row, column, inRecordKey, record);
  }
}

/**
 * Keys that have a format. As {@link RecordKey} they also give values to the columns of the table's key where a value
 * has none: by the name of a field where the key is an object; else the whole, for a key of one column.
 */
export class DecodedKey implements KeyFields {
  readonly #fields: FieldReader;
  readonly #plan: ColumnPlan;
  /** By the places of the columns: a key has another schema than the value. */
  readonly #typed: readonly TypedColumn[];

  /** @param fields a reader of {@link takenOf} */
  constructor(fields: FieldReader, plan: ColumnPlan, { columns, envelope }: TableMapping) {
    this.#fields = fields;
    this.#plan = plan;
    this.#typed = columns.map((column) => new TypedColumn(column, envelope));
  }

  /** All that a table takes: fields of its columns, fields of the columns of its key, the whole. */
  static takenOf({ keys, recordKey }: ColumnPlan, { envelope }: TableMapping): Taken {
    return { paths: [...keys, ...recordKey.paths, []], ...(envelope !== undefined && { envelope }) };
  }

  read(record: RecordCursor): KeyFault | null {
    return this.#plan.takesKey ? this.#read(record) : null;
  }

  write(row: RowText, { column, nth, path }: PlannedColumn, { batch, keyAt, keyLength }: RecordCursor): FieldRefusal {
    if (keyLength < 0) {
      return path < 0 ? row.bytes(column, batch.bytes, keyAt, keyLength) : row.json(column, undefined);
    }
    return this.#write(row, nth, path < 0 ? this.#whole : path);
  }

  writeOfTableKey(
    row: RowText,
    { column, nth, inRecordKey }: PlannedColumn,
    record: RecordCursor,
  ): KeyFault | FieldRefusal {
    const fault = this.#plan.takesKey ? null : this.#read(record);
    if (fault !== null) {
      return fault;
    }
    const { recordKey, keys } = this.#plan;
    const isObject = record.keyLength >= 0 && this.#fields.kind === 'object';
    if (isObject) {
      return this.#write(row, nth, keys.length + inRecordKey);
    }
    return record.keyLength >= 0 && recordKey.isSingle
      ? this.#write(row, nth, this.#whole)
      : row.json(column, undefined);
  }

  #read(record: RecordCursor): KeyFault | null {
    const { batch, keyAt, keyLength } = record;
    const reason = keyLength < 0 ? null : this.#fields.read(batch.bytes, keyAt, keyAt + keyLength, record);
    return reason === null ? null : { reason, words: this.#fields.words ?? KEY_IS_NOT_JSON };
  }

  get #whole(): number {
    return this.#plan.keys.length + this.#plan.recordKey.paths.length;
  }

  #write(row: RowText, nth: number, place: number): FieldRefusal {
    const typed = this.#typed[nth]?.by(this.#fields.units[place]);
    if (typed === undefined) {
      throw new RangeError('a column that the table does not have');
    }
    return row.json(typed, this.#fields.of(place));
  }
}
