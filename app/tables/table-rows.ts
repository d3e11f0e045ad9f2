import { DEAD_LETTER_REASON, type DeadLetterReason } from '../../contract/dead-letter-reasons.ts';
import type { StreamRecord, TopicPartition } from '../records/record.ts';
import type { Records } from '../records/records.ts';
import { EncodedRows, type Refusal, type TableRows } from '../store/row-target.ts';
import { CopyText } from './copy-text.ts';
import { DocumentFields, isObject } from './document-fields.ts';
import { contentOf, type JsonSlice } from './json-slice.ts';
import { RecordKey } from './record-key.ts';
import { RowText } from './row-text.ts';
import { DELETE, UPSERT } from './stage.ts';
import type { FieldPath, MappedColumn, TableMapping } from './table-mapping.ts';

/** Limits of the rows. */
interface RowLimits {
  /** Bytes; a record with a larger value is a dead letter. */
  readonly maxValueBytes: number;
  /** Whether the COPY says `DEFAULT '\D'`, as PostgreSQL 16 and later can. */
  readonly takesDefaults: boolean;
}

/** Why a record is no row; without a column it is about the record as a whole. */
interface Fault {
  readonly reason: DeadLetterReason;
  readonly column?: string;
  /** @default the words of the reason */
  readonly words?: string;
}

/** The field of a value that says that its record deletes. */
const DELETED = Symbol('deleted');

/** What takes a part of a document. */
type Taker = MappedColumn | typeof DELETED;

/** Columns that take a part of the value, or of a key that is JSON; a path of no parts is the whole value, or the key's bytes. */
function pathsOf({ columns, key }: TableMapping, kind: 'field' | 'key'): Map<Taker, FieldPath> {
  const paths = new Map<Taker, FieldPath>();
  for (const column of columns) {
    if (column.source.kind === kind && (kind === 'field' || column.source.path.length > 0)) {
      paths.set(column, column.source.path);
    }
  }
  if (kind === 'field' && key !== null && typeof key.delete !== 'string') {
    paths.set(DELETED, key.delete);
  }
  return paths;
}

/** What becomes of a record that is no dead letter: a row, a row that says what is deleted, or nothing. */
type Operation = 'row' | 'delete' | 'none';

/** What tells of fields that are in no column. */
export interface UnmappedFields {
  /** Fields of a topic's values that are not looked for: other tables take them. A path of no parts: all. */
  mapped(topic: string): readonly FieldPath[];
  /** Told of each of the others once, as far as {@link JsonScanner} keeps them. */
  tell(topic: string, name: string | null): void;
}

const ALL_MAPPED: UnmappedFields = { mapped: () => [[]], tell: () => undefined };

/**
 * Encodes records as rows of a mapping's columns, for one COPY in text format. A record that is no row is a dead letter
 * whose words name the table and the column and never quote the record; the others are rows.
 */
export class TableEncoder {
  readonly #mapping: TableMapping;
  readonly #name: string;
  readonly #limits: RowLimits;
  /** Empty where no column takes a part of the value. */
  readonly #values: ReadonlyMap<Taker, FieldPath>;
  readonly #unmapped: UnmappedFields;
  /** By topic: another topic may go into other tables as well. */
  readonly #valueOf = new Map<string, DocumentFields<Taker>>();
  /** Of the topic that is encoded. */
  #value: DocumentFields<Taker> | null = null;
  readonly #key: DocumentFields<Taker> | null;
  readonly #recordKey: RecordKey;
  readonly #keyColumns: ReadonlySet<MappedColumn>;
  /** Whether a value that is no object has none of the fields that columns take. */
  readonly #takesNames: boolean;
  /** Of the rows so far; a stage orders them by it. */
  #rows = 0;

  /** @param unmapped @default no field is looked for that no column takes */
  constructor(mapping: TableMapping, limits: RowLimits, unmapped: UnmappedFields = ALL_MAPPED) {
    const [values, keys] = [pathsOf(mapping, 'field'), pathsOf(mapping, 'key')];
    const keyColumns = mapping.columns.filter(({ name }) => mapping.key?.columns.includes(name));
    this.#mapping = mapping;
    this.#name = `${mapping.schema}.${mapping.table}`;
    this.#limits = limits;
    this.#values = values;
    this.#unmapped = unmapped;
    this.#key = keys.size === 0 ? null : new DocumentFields(keys);
    this.#recordKey = new RecordKey(keyColumns);
    this.#keyColumns = new Set(keyColumns);
    this.#takesNames = [...values.values()].some(([first]) => typeof first === 'string');
  }

  encode(place: TopicPartition, records: Records): TableRows {
    const text = new CopyText(records.bytes);
    const row = new RowText(text, this.#limits.takesDefaults);
    const starts = new Uint32Array(records.length + 1);
    let unmappedFields = 0;
    const value = this.#fieldsOf(place.topic);
    this.#value = value;
    const refused = new Map<number, Refusal>();
    const deletes = new Set<number>();
    let index = 0;
    for (const record of records) {
      const start = text.end;
      const operation = this.#read(record);
      const fault = typeof operation === 'object' ? operation : this.#writeRow(row, place, record, operation);
      if (fault === null) {
        unmappedFields += value !== null && record.value !== null ? value.unmapped : 0;
      } else {
        text.takeBack(start);
        refused.set(index, this.#refusal(fault));
      }
      if (fault === null && operation !== 'none') {
        this.#endRow(text, operation === 'delete');
      }
      if (operation === 'delete') {
        deletes.add(index);
      }
      index += 1;
      starts[index] = text.end;
    }
    return { rows: new EncodedRows(text.slice(0, text.end), starts, deletes), refused, unmappedFields };
  }

  #endRow(text: CopyText, isDelete: boolean): void {
    if (this.#mapping.stage !== null) {
      this.#rows += 1;
      text.text(String(this.#rows));
      text.text(isDelete ? DELETE : UPSERT);
    }
    text.endRow();
  }

  #fieldsOf(topic: string): DocumentFields<Taker> | null {
    if (this.#values.size === 0) {
      return null;
    }
    const known = this.#valueOf.get(topic);
    if (known !== undefined) {
      return known;
    }
    const tell = (name: string | null) => this.#unmapped.tell(topic, name);
    const fields = new DocumentFields(this.#values, { mapped: this.#unmapped.mapped(topic), onUnmapped: tell });
    this.#valueOf.set(topic, fields);
    return fields;
  }

  #refusal({ reason, column, words = DEAD_LETTER_REASON[reason] }: Fault): Refusal {
    const place = column === undefined ? this.#name : `${this.#name}, column "${column}"`;
    const target = { target: this.#name, ...(column !== undefined && { targetColumn: column }) };
    return { reason, error: `not for ${place}: ${words}`, ...target };
  }

  /** Reads value and key, as far as columns take parts of them. */
  #read(record: StreamRecord): Fault | Operation {
    const { value, key } = record;
    if (value !== null && value.length > this.#limits.maxValueBytes) {
      return { reason: 'value_too_large' };
    }
    if (this.#value !== null && value !== null) {
      const reason = this.#value.read(value);
      if (reason !== null) {
        return { reason };
      }
    }
    if (this.#takesNames && value === null && this.#mapping.key === null) {
      return { reason: 'no_value' };
    }
    if (this.#takesNames && value !== null && !isObject(value)) {
      return { reason: 'value_does_not_fit', words: NOT_AN_OBJECT };
    }
    if (this.#key !== null && key !== null && this.#key.read(key) !== null) {
      return { reason: 'invalid_json', words: KEY_IS_NOT_JSON };
    }
    return this.#operationOf(record);
  }

  #operationOf({ value }: StreamRecord): Operation {
    const { key } = this.#mapping;
    if (key === null || (value !== null && typeof key.delete === 'string')) {
      return 'row';
    }
    if (value !== null) {
      return isTrue(this.#value?.of(DELETED)) ? 'delete' : 'row';
    }
    return key.delete === 'never' ? 'none' : 'delete';
  }

  #writeRow(row: RowText, place: TopicPartition, record: StreamRecord, operation: Operation): Fault | null {
    if (operation === 'none') {
      return null;
    }
    for (const column of this.#mapping.columns) {
      if (operation === 'delete' && !this.#keyColumns.has(column)) {
        row.absent();
        continue;
      }
      const reason = this.#writeField(row, column, place, record);
      if (reason !== null) {
        return { reason, column: column.name };
      }
    }
    return null;
  }

  #writeField(
    row: RowText,
    column: MappedColumn,
    { topic, partition }: TopicPartition,
    record: StreamRecord,
  ): DeadLetterReason | null {
    const { source } = column;
    const { key, headers, offset, timestamp } = record;
    switch (source.kind) {
      case 'field':
        return this.#writeFieldOfValue(row, column, record);
      case 'key':
        return source.path.length === 0
          ? row.bytes(column, key)
          : row.json(column, key === null ? undefined : this.#key?.of(column));
      case 'header':
        return row.bytes(column, headers.findLast((header) => header.key === source.name)?.value);
      case 'topic':
        return row.bytes(column, Buffer.from(topic));
      case 'partition':
        return row.number(column, partition);
      case 'offset':
        return row.number(column, offset);
      case 'timestamp':
        return row.timestamp(column, timestamp);
    }
  }

  #writeFieldOfValue(row: RowText, column: MappedColumn, { value, key }: StreamRecord): DeadLetterReason | null {
    const field = value === null ? undefined : this.#value?.of(column);
    return field === undefined && this.#recordKey.has(column)
      ? this.#recordKey.write(row, column, key)
      : row.json(column, field);
  }
}

const NOT_AN_OBJECT = 'its value is no JSON object, and columns take fields of it';
const KEY_IS_NOT_JSON = 'its key is not JSON, and columns take fields of it';

/** JSON's true, or the text of it: Debezium's ExtractNewRecordState writes `"__deleted": "true"`. */
const isTrue = (field: JsonSlice | undefined): boolean =>
  field?.kind === 'true' || (field?.kind === 'string' && contentOf(field) === 'true');
