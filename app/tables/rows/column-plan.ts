import type { DeadLetterReason } from '../../../contract/dead-letter-reasons.ts';
import type { RecordCursor } from '../../records/record-batch.ts';
import { DocumentFields, documentKind } from '../json/document-fields.ts';
import { isEqual } from '../json/field-tree.ts';
import type { FieldPath, MappedColumn, TableMapping } from '../mapping/table-mapping.ts';
import { type RowColumn, type RowText, rowColumn } from './row-text.ts';

/** A column, and where its value is looked for. */
export interface PlannedColumn {
  readonly column: RowColumn;
  /** Of its path, among those of the value or of the key; -1 where it has none. */
  readonly path: number;
  /** Whether it is one of the table's key, and its place in {@link RecordKey}; -1: it is not there. */
  readonly isOfKey: boolean;
  readonly inRecordKey: number;
  /** The name of the header that it takes. */
  readonly header: Buffer;
}

const NO_HEADER = Buffer.alloc(0);

/** Where a table's columns find their values. */
export class ColumnPlan {
  readonly columns: readonly PlannedColumn[];
  readonly recordKey: RecordKey;
  /** Of parts of the value, and of a key that is JSON. A path of no parts is the whole value. */
  readonly values: FieldPath[] = [];
  readonly keys: FieldPath[] = [];
  /** Among those of the value: the field that says that a record deletes; -1: none does. */
  readonly deleted: number;

  constructor({ columns, key }: TableMapping) {
    const keyColumns = columns.filter(({ name }) => key?.columns.includes(name));
    this.recordKey = new RecordKey(keyColumns);
    this.columns = columns.map((column) => ({
      column: rowColumn(column),
      path: this.#pathOf(column),
      isOfKey: keyColumns.includes(column),
      inRecordKey: this.recordKey.placeOf(column),
      header: column.source.kind === 'header' ? Buffer.from(column.source.name, 'utf8') : NO_HEADER,
    }));
    this.deleted = key === null || typeof key.delete === 'string' ? -1 : this.values.push(key.delete) - 1;
  }

  #pathOf({ source }: MappedColumn): number {
    switch (source.kind) {
      case 'field':
        return this.values.push(source.path) - 1;
      case 'key':
        return source.path.length === 0 ? -1 : this.keys.push(source.path) - 1;
      default:
        return -1;
    }
  }
}

const NO_SUCH_HEADER = -2;

/** Writes the value of the last header of the column's name; a name that is no UTF-8 is never the column's. */
export function writeHeader(
  row: RowText,
  { column, header }: PlannedColumn,
  record: RecordCursor,
): DeadLetterReason | null {
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
  return length === NO_SUCH_HEADER ? row.missing(column) : row.bytes(column, bytes, at, length);
}

/** The name of the field, of an object that has no others around it. */
const fieldNameOf = (path: FieldPath): FieldPath => path.filter((part) => typeof part === 'string').slice(-1);

/**
 * Values of a table's key columns where a record's value has none, as a tombstone's: the record key's field of the same
 * name where it is a JSON object; else, for a key of one column, the record key itself. A JSON string is read as its
 * content, as Kafka Connect's JsonConverter writes it.
 */
class RecordKey {
  readonly #fields: DocumentFields;
  readonly #whole = new DocumentFields([[]]);
  /** Of the columns that take a part of a value. */
  readonly #names: readonly string[];
  /** The same as columns that take the record key: messages about its bytes name it. */
  readonly #ofKey: readonly RowColumn[];
  readonly #isSingle: boolean;

  /** @param columns the key's, with their paths in a value for those that take a part of it */
  constructor(columns: readonly MappedColumn[]) {
    const ofKey = columns.flatMap((column) =>
      column.source.kind === 'field'
        ? { ...column, source: { kind: 'key', path: fieldNameOf(column.source.path) } as const }
        : [],
    );
    this.#fields = new DocumentFields(ofKey.map(({ source }) => source.path));
    this.#names = ofKey.map(({ name }) => name);
    this.#ofKey = ofKey.map(rowColumn);
    this.#isSingle = columns.length === 1;
  }

  /** The place of a column that takes from the record key what the value lacks; -1 for the others. */
  placeOf({ name }: MappedColumn): number {
    return this.#names.indexOf(name);
  }

  /** Writes a column by its {@link placeOf}; the answer says why it has no value. */
  write(row: RowText, column: RowColumn, place: number, record: RecordCursor): DeadLetterReason | null {
    const { keyAt, keyLength } = record;
    if (keyLength < 0) {
      return row.json(column, undefined);
    }
    const { bytes } = record.batch;
    const kind = documentKind(bytes, keyAt, keyAt + keyLength);
    if (kind === 'object' && this.#fields.read(bytes, keyAt, keyAt + keyLength) === null) {
      return row.json(column, this.#fields.of(place));
    }
    if (!this.#isSingle) {
      return row.json(column, undefined);
    }
    if (kind === 'string' && this.#whole.read(bytes, keyAt, keyAt + keyLength) === null) {
      return row.json(column, this.#whole.of(0));
    }
    return row.bytes(this.#ofKey[place] ?? column, bytes, keyAt, keyLength);
  }
}
