import type { DeadLetterReason } from '../../../contract/dead-letter-reasons.ts';
import type { RecordCursor } from '../../records/record-batch.ts';
import { isEqual } from '../json/field-tree.ts';
import {
  type ColumnSource,
  type FieldPath,
  isOfDebezium,
  type MappedColumn,
  type TableEnvelope,
  type TableMapping,
} from '../mapping/table-mapping.ts';
import { RecordKey } from './record-key.ts';
import { type RowColumn, rowColumn, TypedColumn } from './row-column.ts';
import type { RowText } from './row-text.ts';

/** A column, and where its value is looked for. */
export interface PlannedColumn {
  /** Its place among the columns. */
  readonly nth: number;
  readonly column: RowColumn;
  /** The same as the schema of a record says, where a schema may be around it. */
  readonly typed: TypedColumn;
  /** Of its path, among those of the value or of the key; -1 where it has none. */
  readonly path: number;
  /** The same of the field of the row that its path leads into; {@link path} where it is the field itself. */
  readonly field: number;
  /** Whether it is one of the table's key, and its place in {@link RecordKey}; -1: it is not there. */
  readonly isOfKey: boolean;
  /** Whether its value says which of two rows is newer. */
  readonly isVersion: boolean;
  readonly inRecordKey: number;
  /** The name of the header that it takes. */
  readonly header: Buffer;
}

/** Where the field of a condition is among the parts of the value, and the field of the row that it is in. */
type ConditionPlaces = Readonly<Record<'place' | 'field', number>>;

const NO_HEADER = Buffer.alloc(0);

/** Path of the row in a change event. */
const AFTER: FieldPath = ['after'];

/** Path of the object whose fields are the row's, from the whole value on. */
export const rowPath = (envelope: TableEnvelope | undefined): FieldPath =>
  envelope?.format === 'debezium' ? AFTER : [];

/** Where a table's columns find their values. */
export class ColumnPlan {
  readonly columns: readonly PlannedColumn[];
  readonly recordKey: RecordKey;
  /** Of parts of the value, and of a key that is JSON. A path of no parts is the whole value. */
  readonly values: FieldPath[] = [];
  readonly keys: FieldPath[] = [];
  /** Among those of the value: the field that says that a record deletes; -1: none does. */
  readonly deleted: number;
  /** Among those of the value: what a change event does, and its row; -1 where it is no such event. */
  readonly operation: number;
  readonly after: number;
  /** Among those of the value: the fields that conditions look at, in their order. */
  readonly conditions: readonly ConditionPlaces[];
  /** Whether a value that is no object has none of the fields that columns take. */
  readonly takesNames: boolean;
  readonly #row: FieldPath;

  /** Whether columns take the record key, or parts of it. */
  readonly takesKey: boolean;

  /** Whether values are change events. */
  get isEvent(): boolean {
    return this.operation >= 0;
  }

  constructor({ columns, key, envelope, when = [] }: TableMapping) {
    const keyColumns = columns.filter(({ name }) => key?.columns.includes(name));
    this.#row = rowPath(envelope);
    this.recordKey = new RecordKey(keyColumns, envelope);
    this.columns = columns.map((column, nth) => ({
      nth,
      column: rowColumn(column),
      typed: new TypedColumn(column, envelope),
      ...this.#pathsOf(column, envelope),
      isOfKey: keyColumns.includes(column),
      isVersion: column.name === key?.version,
      inRecordKey: this.recordKey.placeOf(column),
      header: column.source.kind === 'header' ? Buffer.from(column.source.name, 'utf8') : NO_HEADER,
    }));
    this.takesKey = columns.some(({ source }) => source.kind === 'key');
    this.deleted = key === null || typeof key.delete === 'string' ? -1 : this.values.push(key.delete) - 1;
    const isEvent = envelope?.format === 'debezium';
    this.operation = isEvent ? this.values.push(['op']) - 1 : -1;
    this.after = isEvent ? this.values.push(AFTER) - 1 : -1;
    this.takesNames = this.values.some(([first]) => typeof first === 'string');
    this.conditions = when.flatMap(({ source }) => {
      const place = source.kind === 'field' ? this.#pathOf({ source }) : -1;
      return place < 0 ? [] : { place, field: this.#fieldOf(place, source, envelope) };
    });
  }

  #pathsOf(column: MappedColumn, envelope: TableEnvelope | undefined): Pick<PlannedColumn, 'path' | 'field'> {
    const path = this.#pathOf(column);
    return { path, field: this.#fieldOf(path, column.source, envelope) };
  }

  /** Debezium sends placeholders of whole fields. */
  #fieldOf(path: number, source: ColumnSource, envelope: TableEnvelope | undefined): number {
    const isPart = isOfDebezium(envelope) && source.kind === 'field' && source.path.length > 1;
    return isPart ? this.values.push([...this.#row, ...source.path.slice(0, 1)]) - 1 : path;
  }

  #pathOf({ source }: Pick<MappedColumn, 'source'>): number {
    switch (source.kind) {
      case 'field':
        // The whole value is the event, and no path leads out of its row.
        return this.values.push(source.path.length === 0 ? [] : [...this.#row, ...source.path]) - 1;
      case 'event':
        return this.values.push(source.path) - 1;
      case 'key':
        return source.path.length === 0 ? -1 : this.keys.push(source.path) - 1;
      default:
        return -1;
    }
  }
}

/** The same for all rows of a partition; the topic in UTF-8. */
export interface RowPlace {
  readonly topic: Buffer;
  readonly partition: number;
}

/** A number where it is exact. */
const exactly = (value: number, exact: () => bigint): number | bigint => (Number.isNaN(value) ? exact() : value);

/** Writes a column that takes a header, or what Kafka says of the record. */
export function writeOfKafka(
  row: RowText,
  planned: PlannedColumn,
  { topic, partition }: RowPlace,
  record: RecordCursor,
): DeadLetterReason | null {
  const { column } = planned;
  switch (column.source.kind) {
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
    default:
      return writeHeader(row, planned, record);
  }
}

const NO_SUCH_HEADER = -2;

/**
 * Where the value of the last header of a name is in the record's batch; a name that is no UTF-8 is never the one.
 *
 * @returns a length of -1 for NULL, of -2 where the record has no such header
 */
export function lastHeader(header: Buffer, record: RecordCursor): { readonly at: number; readonly length: number } {
  const { bytes } = record.batch;
  const reader = record.headerReader();
  let [at, length] = [0, NO_SUCH_HEADER];
  for (let left = record.headerCount; left > 0; left -= 1) {
    const nameLength = reader.skipField();
    const isNamed = isEqual(header, bytes, reader.at - nameLength, reader.at);
    const valueLength = reader.skipField();
    if (isNamed) {
      [at, length] = [reader.at - valueLength, valueLength];
    }
  }
  return { at, length };
}

/** Writes the value of the last header of the column's name. */
function writeHeader(row: RowText, { column, header }: PlannedColumn, record: RecordCursor): DeadLetterReason | null {
  const { at, length } = lastHeader(header, record);
  return length === NO_SUCH_HEADER ? row.missing(column) : row.bytes(column, record.batch.bytes, at, length);
}
