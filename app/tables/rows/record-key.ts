import type { DeadLetterReason } from '../../../contract/dead-letter-reasons.ts';
import type { RecordCursor } from '../../records/record-batch.ts';
import { DocumentFields, documentKind } from '../json/document-fields.ts';
import { EnvelopeFields } from '../json/envelope-fields.ts';
import type { FieldPath, MappedColumn, TableEnvelope } from '../mapping/table-mapping.ts';
import { type RowColumn, rowColumn, TypedColumn } from './row-column.ts';
import type { RowText } from './row-text.ts';

/** The name of the field, of an object that has no others around it. */
const fieldNameOf = (path: FieldPath): FieldPath => path.filter((part) => typeof part === 'string').slice(-1);

/**
 * Values of a table's key columns where a record's value has none, as a tombstone's: the record key's field of the same
 * name where it is a JSON object; else, for a key of one column, the record key itself. A JSON string is taken for its
 * content, as Kafka Connect's JsonConverter writes it.
 */
export class RecordKey {
  readonly #fields: DocumentFields;
  readonly #whole = new DocumentFields([[]]);
  /** Of keys that may have a schema around them: the fields, and behind them the whole. */
  readonly #enveloped: EnvelopeFields | null;
  readonly #typed: readonly TypedColumn[];
  /** Of the columns that take a part of a value. */
  readonly #names: readonly string[];
  /** The same as columns that take the record key: messages about its bytes name it. */
  readonly #ofKey: readonly RowColumn[];
  /** Of the columns that take a part of a value: the fields that have the same of a key. */
  readonly paths: readonly FieldPath[];
  /** Whether the table's key is one column, so that a whole record key may be its value. */
  readonly isSingle: boolean;

  /**
   * @param columns the key's, with their paths in a value for those that take a part of it
   * @param envelope what is around values and keys. @default nothing is
   */
  constructor(columns: readonly MappedColumn[], envelope?: TableEnvelope) {
    const ofKey = columns.flatMap((column) =>
      column.source.kind === 'field'
        ? { ...column, source: { kind: 'key', path: fieldNameOf(column.source.path) } as const }
        : [],
    );
    const paths = ofKey.map(({ source }) => source.path);
    this.paths = paths;
    this.#fields = new DocumentFields(paths);
    this.#enveloped = envelope === undefined ? null : new EnvelopeFields([...paths, []]);
    this.#typed = columns.flatMap((column) =>
      column.source.kind === 'field' ? new TypedColumn(column, envelope) : [],
    );
    this.#names = ofKey.map(({ name }) => name);
    this.#ofKey = ofKey.map((column) => rowColumn(column));
    this.isSingle = columns.length === 1;
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
    if (this.#enveloped !== null) {
      return this.#writeEnveloped(this.#enveloped, row, place, record);
    }
    const { bytes } = record.batch;
    const kind = documentKind(bytes, keyAt, keyAt + keyLength);
    if (kind === 'object' && this.#fields.read(bytes, keyAt, keyAt + keyLength) === null) {
      return row.json(column, this.#fields.of(place));
    }
    if (!this.isSingle) {
      return row.json(column, undefined);
    }
    if (kind === 'string' && this.#whole.read(bytes, keyAt, keyAt + keyLength) === null) {
      return row.json(column, this.#whole.of(0));
    }
    return row.bytes(this.#ofKey[place] ?? column, bytes, keyAt, keyLength);
  }

  /** A key that is no JSON is text, which is the whole of a key of one column. */
  #writeEnveloped(
    fields: EnvelopeFields,
    row: RowText,
    place: number,
    { batch, keyAt, keyLength }: RecordCursor,
  ): DeadLetterReason | null {
    const isJson = fields.read(batch.bytes, keyAt, keyAt + keyLength) === null;
    const taken = isJson && fields.kind === 'object' ? place : this.#names.length;
    const column = this.#typed[place]?.by(isJson ? fields.units[taken] : undefined);
    if (column === undefined) {
      throw new RangeError('a column that is not of the key');
    }
    if (isJson && (taken === place || this.isSingle)) {
      return row.json(column, fields.of(taken));
    }
    return this.isSingle
      ? row.bytes(this.#ofKey[place] ?? column, batch.bytes, keyAt, keyLength)
      : row.json(column, undefined);
  }
}
