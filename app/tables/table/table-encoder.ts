import type { DeadLetterReason } from '../../../contract/dead-letter-reasons.ts';
import { type FieldReaders, JSON_READERS } from '../../formats/field-readers.ts';
import type { FieldReader } from '../../formats/parts/field-reader.ts';
import type { TopicPartition } from '../../records/record.ts';
import type { RecordCursor } from '../../records/record-batch.ts';
import type { Records } from '../../records/records.ts';
import { wordsOfJson } from '../../records/schema-prefix.ts';
import type { Memory } from '../../store/copy/row-memory.ts';
import { type EncodedRecords, type Refusal, Rows } from '../../store/tables/table.ts';
import { DocumentFields } from '../json/document-fields.ts';
import { ALL_MAPPED, type UnmappedFields } from '../json/unmapped-fields.ts';
import type { TableMapping } from '../mapping/table-mapping.ts';
import { ColumnPlan, type PlannedColumn, type RowPlace, rowPath, writeOfKafka } from '../rows/column-plan.ts';
import { CopyText } from '../rows/copy-text.ts';
import { KeptColumns } from '../rows/kept-columns.ts';
import { DecodedKey, type KeyFields, TextKey } from '../rows/key-fields.ts';
import { misfitWords } from '../rows/row-column.ts';
import { type FieldRefusal, RowText } from '../rows/row-text.ts';
import { Conditions, type Fault, type Operation, Operations, refusalOf } from './record-operation.ts';
import { DELETE, DELETE_OLDER, UPSERT } from './stage-columns.ts';

/** Limits of the rows. */
interface RowLimits {
  /** Bytes; a record with a larger value is a dead letter. */
  readonly maxValueBytes: number;
  /** Whether the COPY says `DEFAULT '\D'`, as PostgreSQL 16 and later can. */
  readonly takesDefaults: boolean;
}

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
  readonly #readers: FieldReaders;
  /** By topic: another topic may have other formats, and go into other tables as well. */
  readonly #topics = new Map<string, TopicFields>();
  /** Of the topic that is encoded. */
  #fields: TopicFields;
  /** Whether columns take parts of the value: those of a row that is deleted are in the record key. */
  #hasRow = false;
  readonly #kept: KeptColumns | null;
  readonly #operations: Operations;
  /** `null` where the table takes all records. */
  readonly #conditions: Conditions | null;
  /** Of the rows so far; a stage orders them by it. */
  #rows = 0;

  /**
   * @param unmapped @default no field is looked for that no column takes
   * @param readers of values and keys. @default values are JSON
   */
  constructor(mapping: TableMapping, limits: RowLimits, unmapped = ALL_MAPPED, readers = JSON_READERS) {
    const plan = new ColumnPlan(mapping);
    this.#mapping = mapping;
    this.#name = `${mapping.schema}.${mapping.table}`;
    this.#limits = limits;
    this.#plan = plan;
    this.#fields = { value: null, typed: null, hasOthers: false, key: new TextKey(plan, mapping) };
    this.#unmapped = unmapped;
    this.#readers = readers;
    this.#kept = KeptColumns.of(mapping);
    this.#operations = new Operations(plan, mapping);
    this.#conditions = Conditions.of(mapping, plan, this.#operations);
  }

  encode({ topic, partition }: TopicPartition, records: Records, memory?: Memory): EncodedRecords {
    const text = new CopyText(records.bytes, memory);
    const row = new RowText(text, this.#limits.takesDefaults);
    const place = { topic: Buffer.from(topic, 'utf8'), partition };
    const starts = new Uint32Array(records.length + 1);
    let unmappedFields = 0;
    this.#fields = this.#fieldsOf(topic);
    const { value } = this.#fields;
    this.#kept?.begin();
    const refused = new Map<number, Refusal>();
    const [deletes, unmatched] = [new Set<number>(), new Set<number>()];
    records.forEach((record, index) => {
      const start = text.end;
      const operation = this.#read(record);
      const fault = typeof operation === 'object' ? operation : this.#writeRow(row, place, record, operation);
      if (fault !== null) {
        text.takeBack(start);
        this.#kept?.takeBack();
        refused.set(index, refusalOf(fault, this.#name));
      } else if (operation === 'unmatched') {
        unmatched.add(index);
        unmappedFields += this.#unmappedOfOther(record);
      } else {
        unmappedFields += value !== null && record.valueLength >= 0 ? value.unmapped : 0;
        this.#endRow(text, operation);
      }
      if (operation === 'delete' || operation === 'delete older') {
        deletes.add(index);
      }
      starts[index + 1] = text.end;
    });
    const places = { deletes, unmatched, ...(this.#kept && { kept: this.#kept.ofBatch }) };
    const rows = new Rows(text.slice(0, text.end), starts, places);
    return { rows, refused, unmappedFields };
  }

  #endRow(text: CopyText, operation: Fault | Operation): void {
    if (operation === 'none') {
      return;
    }
    if (this.#mapping.stage !== null) {
      this.#rows += 1;
      text.text(String(this.#rows));
      text.text(operation === 'row' ? UPSERT : operation === 'delete' ? DELETE : DELETE_OLDER);
      this.#kept?.write(text);
    }
    text.endRow();
  }

  #fieldsOf(topic: string): TopicFields {
    const known = this.#topics.get(topic);
    if (known !== undefined) {
      return known;
    }
    const value = this.#valueOf(topic);
    const key = this.#readers.ofKey(topic, DecodedKey.takenOf(this.#plan, this.#mapping));
    const fields = {
      value,
      typed: value instanceof DocumentFields ? null : value,
      hasOthers: this.#unmapped.mapped(topic).every((path) => path.length > 0),
      key: key === null ? new TextKey(this.#plan, this.#mapping) : new DecodedKey(key, this.#plan, this.#mapping),
    };
    this.#topics.set(topic, fields);
    return fields;
  }

  #valueOf(topic: string): FieldReader | null {
    const { envelope } = this.#mapping;
    if (this.#plan.values.length === 0 && envelope === undefined) {
      return null;
    }
    const report = (name: string | null) => this.#unmapped.report(topic, name);
    const row = rowPath(envelope);
    const mapped = this.#unmapped.mapped(topic).map((path) => (path.length === 0 ? path : [...row, ...path]));
    const others = { mapped, onUnmapped: report, row };
    return this.#readers.ofValue(topic, { paths: this.#plan.values, others, ...(envelope && { envelope }) });
  }

  /** Reads value and key, as far as the table takes parts of them. */
  #read(record: RecordCursor): Fault | Operation {
    if (this.#conditions !== null && !this.#conditions.holdForHeaders(record)) {
      return 'unmatched';
    }
    const { valueLength } = record;
    if (valueLength > this.#limits.maxValueBytes) {
      return { reason: 'value_too_large' };
    }
    const hasBytes = valueLength >= 0;
    const { value, typed, key } = this.#fields;
    const fault = hasBytes && value !== null ? this.#readValue(value, record) : null;
    if (fault !== null) {
      return fault;
    }
    const hasValue = hasBytes && !(this.#mapping.envelope !== undefined && typed?.kind === 'null');
    const condition = this.#conditions?.ofValue(value, hasValue) ?? 'hold';
    if (condition !== 'hold') {
      return condition;
    }
    const keyFault = this.#operations.faultOf(value, hasValue) ?? key.read(record);
    if (keyFault !== null) {
      return keyFault;
    }
    const operation = this.#operations.of(value, hasValue);
    this.#hasRow = hasValue && !(operation === 'delete' && this.#kept !== null);
    return operation;
  }

  /**
   * Fields without a column of a record that another table takes, where this one looks for those of the topic. Whatever
   * is wrong with the record is wrong there.
   */
  #unmappedOfOther(record: RecordCursor): number {
    const { value, hasOthers } = this.#fields;
    const { valueLength } = record;
    const isRead = hasOthers && value !== null && valueLength >= 0 && valueLength <= this.#limits.maxValueBytes;
    return isRead && this.#readValue(value, record) === null ? value.unmapped : 0;
  }

  #readValue(value: FieldReader, record: RecordCursor): Fault | null {
    const { valueAt, valueLength } = record;
    const { bytes } = record.batch;
    const end = valueAt + valueLength;
    const reason = value.read(bytes, valueAt, end, record);
    if (reason === null) {
      return null;
    }
    const words = value.words ?? wordsOfJson(bytes, valueAt, end);
    return { reason, ...(words !== undefined && { words }) };
  }

  #writeRow(row: RowText, place: RowPlace, record: RecordCursor, operation: Operation): Fault | null {
    if (operation === 'none' || operation === 'unmatched') {
      return null;
    }
    const isRow = operation === 'row';
    for (const planned of this.#plan.columns) {
      if (!isRow && !planned.isOfKey && !(planned.isVersion && operation === 'delete older')) {
        row.absent();
        continue;
      }
      const refusal = this.#writeField(row, planned, place, record);
      if (refusal !== null) {
        return typeof refusal === 'string' ? this.#faultOf(refusal, planned) : refusal;
      }
    }
    return null;
  }

  #faultOf(reason: DeadLetterReason, planned: PlannedColumn): Fault {
    const { name } = planned.column;
    return { reason, column: name, ...(reason === 'value_does_not_fit' && { words: this.#misfit(planned) }) };
  }

  /** The kind of the field that was read last for a column, and what the column takes. */
  #misfit({ column, typed, path }: PlannedColumn): string {
    const { value, typed: fields } = this.#fields;
    const kind = this.#hasRow && path >= 0 && column.source.kind !== 'key' ? value?.kindOf(path) : undefined;
    return misfitWords(fields === null ? column : typed.by(fields.units[path]), kind);
  }

  /** Why PostgreSQL refused the value of a column: what its field is in the record, and what the column takes. */
  misfit({ topic }: TopicPartition, records: Records, column: string): string | undefined {
    const planned = this.#plan.columns.find((one) => one.column.name === column);
    this.#fields = this.#fieldsOf(topic);
    let words: string | undefined;
    records.forEach((record) => {
      words = planned && typeof this.#read(record) === 'string' ? this.#misfit(planned) : undefined;
    });
    return words;
  }

  #writeField(row: RowText, planned: PlannedColumn, place: RowPlace, record: RecordCursor): Fault | FieldRefusal {
    switch (planned.column.source.kind) {
      case 'field':
      case 'event':
        return this.#writeFieldOfValue(row, planned, record);
      case 'key':
        return this.#fields.key.write(row, planned, record);
      default:
        return writeOfKafka(row, planned, place, record);
    }
  }

  #writeFieldOfValue(row: RowText, planned: PlannedColumn, record: RecordCursor): Fault | FieldRefusal {
    const { column, path, field: around, inRecordKey } = planned;
    const { value, typed, key } = this.#fields;
    const field = this.#hasRow ? value?.of(path) : undefined;
    if (field === undefined && inRecordKey >= 0) {
      return key.writeOfTableKey(row, planned, record);
    }
    if (typed === null) {
      return row.json(column, field);
    }
    const large = around === path || this.#kept === null || !this.#hasRow ? field : value?.of(around);
    if (large !== undefined && this.#kept?.isKept(planned, large)) {
      return this.#kept.keep(row, planned);
    }
    return row.json(planned.typed.by(typed.units[path]), field);
  }
}

/** What reads a topic's records. */
interface TopicFields {
  /** `null` where no column takes a part of the value. */
  readonly value: FieldReader | null;
  /** The same where values may have more than JSON has: units, or something around the row. */
  readonly typed: FieldReader | null;
  /** Whether fields that no table takes are looked for. */
  readonly hasOthers: boolean;
  readonly key: KeyFields;
}
