import { DEAD_LETTER_REASON, type DeadLetterReason } from '../../../contract/dead-letter-reasons.ts';
import type { TopicPartition } from '../../records/record.ts';
import type { RecordCursor } from '../../records/record-batch.ts';
import type { Records } from '../../records/records.ts';
import type { Memory } from '../../store/copy/row-memory.ts';
import { type EncodedRecords, type Refusal, Rows } from '../../store/tables/table.ts';
import { DocumentFields, documentKind } from '../json/document-fields.ts';
import { EnvelopeFields } from '../json/envelope-fields.ts';
import { contentOf, type JsonSlice } from '../json/json-slice.ts';
import type { FieldPath, TableMapping } from '../mapping/table-mapping.ts';
import { ColumnPlan, type PlannedColumn, rowPath, writeHeader } from '../rows/column-plan.ts';
import { CopyText } from '../rows/copy-text.ts';
import { KeptColumns } from '../rows/kept-columns.ts';
import { RowText } from '../rows/row-text.ts';
import { eventOperation, type Fault, type Operation } from './change-event.ts';
import { DELETE, UPSERT } from './stage-columns.ts';

/** Limits of the rows. */
interface RowLimits {
  /** Bytes; a record with a larger value is a dead letter. */
  readonly maxValueBytes: number;
  /** Whether the COPY says `DEFAULT '\D'`, as PostgreSQL 16 and later can. */
  readonly takesDefaults: boolean;
}

/** What is called with fields that are in no column. */
export interface UnmappedFields {
  /** Fields of a topic's values that are not looked for: other tables take them. A path of no parts: all. */
  mapped(topic: string): readonly FieldPath[];
  /** Called with each of the others once, as far as {@link JsonScanner} keeps them. */
  report(topic: string, name: string | null): void;
}

const ALL_MAPPED: UnmappedFields = { mapped: () => [[]], report: () => undefined };

/**
 * Encodes records as rows of a mapping's columns, for one COPY in text format. A record that is no row is a dead letter
 * whose words name the table and the column and never quote the record; the others are rows.
 */
export class TableEncoder {
  readonly #mapping: TableMapping;
  readonly #name: string;
  readonly #limits: RowLimits;
  readonly #plan: ColumnPlan;
  readonly #unmapped: UnmappedFields;
  /** By topic: another topic may go into other tables as well. */
  readonly #valueOf = new Map<string, ValueFields>();
  /** Of the topic that is encoded; `null` where no column takes a part of the value. */
  #value: ValueFields | null = null;
  /** The same where an envelope is around the row. */
  #enveloped: EnvelopeFields | null = null;
  /** Whether columns take parts of the value: those of a row that is deleted are in the record key. */
  #hasRow = false;
  readonly #key: ValueFields | null;
  readonly #kept: KeptColumns | null;
  /** Whether a value that is no object has none of the fields that columns take. */
  readonly #takesNames: boolean;
  /** Of the rows so far; a stage orders them by it. */
  #rows = 0;

  /** @param unmapped @default no field is looked for that no column takes */
  constructor(mapping: TableMapping, limits: RowLimits, unmapped: UnmappedFields = ALL_MAPPED) {
    const plan = new ColumnPlan(mapping);
    this.#mapping = mapping;
    this.#name = `${mapping.schema}.${mapping.table}`;
    this.#limits = limits;
    this.#plan = plan;
    this.#unmapped = unmapped;
    const KeyFields = mapping.envelope === undefined ? DocumentFields : EnvelopeFields;
    this.#key = plan.keys.length === 0 ? null : new KeyFields(plan.keys);
    this.#kept = KeptColumns.of(mapping);
    this.#takesNames = plan.values.some(([first]) => typeof first === 'string');
  }

  encode({ topic, partition }: TopicPartition, records: Records, memory?: Memory): EncodedRecords {
    const text = new CopyText(records.bytes, memory);
    const row = new RowText(text, this.#limits.takesDefaults);
    const place = { topic: Buffer.from(topic, 'utf8'), partition };
    const starts = new Uint32Array(records.length + 1);
    let unmappedFields = 0;
    const value = this.#fieldsOf(topic);
    this.#value = value;
    this.#enveloped = value instanceof EnvelopeFields ? value : null;
    this.#kept?.begin();
    const refused = new Map<number, Refusal>();
    const deletes = new Set<number>();
    records.forEach((record, index) => {
      const start = text.end;
      const operation = this.#read(record);
      const fault = typeof operation === 'object' ? operation : this.#writeRow(row, place, record, operation);
      if (fault === null) {
        unmappedFields += value !== null && record.valueLength >= 0 ? value.unmapped : 0;
      } else {
        text.takeBack(start);
        this.#kept?.takeBack();
        refused.set(index, this.#refusal(fault));
      }
      if (fault === null && operation !== 'none') {
        this.#endRow(text, operation === 'delete');
      }
      if (operation === 'delete') {
        deletes.add(index);
      }
      starts[index + 1] = text.end;
    });
    const rows = new Rows(text.slice(0, text.end), starts, deletes, this.#kept?.ofBatch);
    return { rows, refused, unmappedFields };
  }

  #endRow(text: CopyText, isDelete: boolean): void {
    if (this.#mapping.stage !== null) {
      this.#rows += 1;
      text.text(String(this.#rows));
      text.text(isDelete ? DELETE : UPSERT);
      this.#kept?.write(text);
    }
    text.endRow();
  }

  #fieldsOf(topic: string): ValueFields | null {
    const { envelope } = this.#mapping;
    if (this.#plan.values.length === 0 && envelope === undefined) {
      return null;
    }
    const known = this.#valueOf.get(topic);
    if (known !== undefined) {
      return known;
    }
    const report = (name: string | null) => this.#unmapped.report(topic, name);
    const row = rowPath(envelope);
    const mapped = this.#unmapped.mapped(topic).map((path) => (path.length === 0 ? path : [...row, ...path]));
    const Fields = envelope === undefined ? DocumentFields : EnvelopeFields;
    const fields = new Fields(this.#plan.values, { mapped, onUnmapped: report, row });
    this.#valueOf.set(topic, fields);
    return fields;
  }

  #refusal({ reason, column, words = DEAD_LETTER_REASON[reason] }: Fault): Refusal {
    const place = column === undefined ? this.#name : `${this.#name}, column "${column}"`;
    const target = { target: this.#name, ...(column !== undefined && { targetColumn: column }) };
    return { reason, error: `not for ${place}: ${words}`, ...target };
  }

  /** Reads value and key, as far as columns take parts of them. */
  #read(record: RecordCursor): Fault | Operation {
    const { valueAt, valueLength, keyAt, keyLength } = record;
    const { bytes } = record.batch;
    const valueEnd = valueAt + valueLength;
    const hasBytes = valueLength >= 0;
    if (valueLength > this.#limits.maxValueBytes) {
      return { reason: 'value_too_large' };
    }
    const reason = hasBytes && this.#value !== null ? this.#value.read(bytes, valueAt, valueEnd) : null;
    if (reason !== null) {
      return { reason };
    }
    const hasValue = hasBytes && this.#enveloped?.kind !== 'null';
    if (this.#takesNames && !hasValue && this.#mapping.key === null && !this.#plan.isEvent) {
      return { reason: 'no_value' };
    }
    if (
      this.#takesNames &&
      hasValue &&
      (this.#enveloped?.kind ?? documentKind(bytes, valueAt, valueEnd)) !== 'object'
    ) {
      return { reason: 'value_does_not_fit', words: NOT_AN_OBJECT };
    }
    if (this.#key !== null && keyLength >= 0 && this.#key.read(bytes, keyAt, keyAt + keyLength) !== null) {
      return { reason: 'invalid_json', words: KEY_IS_NOT_JSON };
    }
    const operation = this.#plan.isEvent ? this.#operationOfEvent(hasValue) : this.#operationOf(hasValue);
    this.#hasRow = hasValue && !(operation === 'delete' && this.#kept !== null);
    return operation;
  }

  #operationOf(hasValue: boolean): Operation {
    const { key } = this.#mapping;
    if (key === null || (hasValue && typeof key.delete === 'string')) {
      return 'row';
    }
    if (hasValue) {
      return isTrue(this.#value?.of(this.#plan.deleted)) ? 'delete' : 'row';
    }
    return key.delete === 'never' ? 'none' : 'delete';
  }

  /** Of a tombstone in a table of events nothing is left to say. */
  #operationOfEvent(hasValue: boolean): Operation | Fault {
    const { operation, after } = this.#plan;
    const isHistory = this.#mapping.key === null;
    return hasValue
      ? eventOperation(this.#value?.of(operation), this.#value?.of(after), isHistory)
      : isHistory
        ? 'none'
        : 'delete';
  }

  #writeRow(row: RowText, place: RowPlace, record: RecordCursor, operation: Operation): Fault | null {
    if (operation === 'none') {
      return null;
    }
    for (const planned of this.#plan.columns) {
      if (operation === 'delete' && !planned.isOfKey) {
        row.absent();
        continue;
      }
      const reason = this.#writeField(row, planned, place, record);
      if (reason !== null) {
        return { reason, column: planned.column.name };
      }
    }
    return null;
  }

  #writeField(
    row: RowText,
    planned: PlannedColumn,
    { topic, partition }: RowPlace,
    record: RecordCursor,
  ): DeadLetterReason | null {
    const { column, path } = planned;
    switch (column.source.kind) {
      case 'field':
      case 'event':
        return this.#writeFieldOfValue(row, planned, record);
      case 'key':
        return path < 0
          ? row.bytes(column, record.batch.bytes, record.keyAt, record.keyLength)
          : row.json(column, record.keyLength < 0 ? undefined : this.#key?.of(path));
      case 'header':
        return writeHeader(row, planned, record);
      case 'topic':
        return row.bytes(column, topic, 0, topic.length);
      case 'partition':
        return row.number(column, partition);
      case 'offset':
        return row.number(
          column,
          exactly(record.offsetNumber, () => record.offset),
        );
      case 'timestamp':
        return row.timestamp(
          column,
          exactly(record.milliseconds, () => record.timestamp),
        );
    }
  }

  #writeFieldOfValue(row: RowText, planned: PlannedColumn, record: RecordCursor): DeadLetterReason | null {
    const { column, path, inRecordKey } = planned;
    const field = this.#hasRow ? this.#value?.of(path) : undefined;
    if (field === undefined && inRecordKey >= 0) {
      return this.#plan.recordKey.write(row, column, inRecordKey, record);
    }
    if (this.#enveloped === null) {
      return row.json(column, field);
    }
    if (field !== undefined && this.#kept?.isKept(planned, field)) {
      return this.#kept.keep(row, planned);
    }
    return row.json(planned.typed.by(this.#enveloped.units[path]), field);
  }
}

/** The same for all rows of a partition; the topic in UTF-8. */
interface RowPlace {
  readonly topic: Buffer;
  readonly partition: number;
}

/** A number where it is exact. */
const exactly = (value: number, exact: () => bigint): number | bigint => (Number.isNaN(value) ? exact() : value);

type ValueFields = DocumentFields | EnvelopeFields;

const NOT_AN_OBJECT = 'its value is no JSON object, and columns take fields of it';
const KEY_IS_NOT_JSON = 'its key is not JSON, and columns take fields of it';

/** JSON's true, or the text of it: Debezium's ExtractNewRecordState writes `"__deleted": "true"`. */
const isTrue = (field: JsonSlice | undefined): boolean =>
  field?.kind === 'true' || (field?.kind === 'string' && contentOf(field) === 'true');
