import type { DeadLetterReason } from '../../contract/dead-letter-reasons.ts';
import { DocumentFields, isObject, isString } from './document-fields.ts';
import type { RowText } from './row-text.ts';
import type { FieldPath, MappedColumn } from './table-mapping.ts';

/** The name of the field, of an object that has no others around it. */
const nameOf = (path: FieldPath): FieldPath => path.filter((part) => typeof part === 'string').slice(-1);

/**
 * Values of a table's key columns where a record's value has none, as a tombstone's: the record key's field of the same
 * name where it is a JSON object; else, for a key of one column, the record key itself. A JSON string stands for its
 * content, as Kafka Connect's JsonConverter writes it.
 */
export class RecordKey {
  readonly #fields: DocumentFields<MappedColumn>;
  readonly #whole: DocumentFields<MappedColumn>;
  /** As columns that take the record key: messages about its bytes name it. */
  readonly #ofKey: ReadonlyMap<MappedColumn, MappedColumn>;
  readonly #isSingle: boolean;

  /** @param columns the key's, with their paths in a value for those that take a part of it */
  constructor(columns: readonly MappedColumn[]) {
    const paths = columns.flatMap((column) =>
      column.source.kind === 'field' ? [[column, nameOf(column.source.path)] as const] : [],
    );
    this.#fields = new DocumentFields(new Map(paths));
    this.#whole = new DocumentFields(new Map(paths.map(([column]) => [column, []])));
    this.#ofKey = new Map(paths.map(([column, path]) => [column, { ...column, source: { kind: 'key', path } }]));
    this.#isSingle = columns.length === 1;
  }

  /** Whether a column takes from the record key what the value lacks. */
  has(column: MappedColumn): boolean {
    return this.#ofKey.has(column);
  }

  /** Writes a column that {@link RecordKey.has}; the answer says why it has no value. */
  write(row: RowText, column: MappedColumn, key: Buffer | null): DeadLetterReason | null {
    if (key !== null && isObject(key) && this.#fields.read(key) === null) {
      return row.json(column, this.#fields.of(column));
    }
    if (key === null || !this.#isSingle) {
      return row.json(column, undefined);
    }
    if (isString(key) && this.#whole.read(key) === null) {
      return row.json(column, this.#whole.of(column));
    }
    return row.bytes(this.#ofKey.get(column) ?? column, key);
  }
}
