import type { DeadLetterReason } from '../../../contract/dead-letter-reasons.ts';
import type { JsonSlice } from '../json/json-slice.ts';
import type { TableMapping } from '../mapping/table-mapping.ts';
import type { PlannedColumn } from './column-plan.ts';
import type { CopyText } from './copy-text.ts';
import { Placeholders } from './placeholders.ts';
import type { RowText } from './row-text.ts';

/** Columns of a row that keep what the table has, as the source sent placeholders of them. */
export class KeptColumns {
  readonly #placeholders: Placeholders;
  /** How many there are; 0 where the table has no key, and so no row that something could be kept of. */
  readonly #columns: number;
  #ofRow: number[] = [];
  #ofBatch = new Set<number>();

  private constructor(unavailableValue: string, columns: number) {
    this.#placeholders = new Placeholders(unavailableValue);
    this.#columns = columns;
  }

  /** @returns `null` where the envelope is none of Debezium */
  static of({ envelope, columns, key }: TableMapping): KeptColumns | null {
    const isOfDebezium = envelope !== undefined && envelope.format !== 'connect';
    return isOfDebezium ? new KeptColumns(envelope.unavailableValue, key === null ? 0 : columns.length) : null;
  }

  /** Before the first row of a batch. */
  begin(): void {
    this.#ofRow = [];
    this.#ofBatch = new Set();
  }

  /** Places of the columns that some row of the batch keeps. */
  get ofBatch(): ReadonlySet<number> {
    return this.#ofBatch;
  }

  isKept({ column }: PlannedColumn, value: JsonSlice): boolean {
    return column.source.kind === 'field' && this.#placeholders.includes(value);
  }

  /**
   * Writes the field of a column that is kept. @returns why it cannot be: a key and a version have to be there, and a
   * row to keep it of
   */
  keep(row: RowText, { nth, isOfKey, isVersion }: PlannedColumn): DeadLetterReason | null {
    if (isOfKey || isVersion || this.#columns === 0) {
      return 'missing_value';
    }
    this.#ofRow.push(nth);
    this.#ofBatch.add(nth);
    row.absent();
    return null;
  }

  /** Forgets what a row keeps that is taken back. */
  takeBack(): void {
    this.#ofRow = [];
  }

  /** Writes which columns the row keeps, a bit for each: the last field of a row that a stage takes. */
  write(text: CopyText): void {
    if (this.#ofRow.length === 0) {
      text.null();
      return;
    }
    const kept = new Set(this.#ofRow);
    text.text(Array.from({ length: this.#columns }, (_, nth) => (kept.has(nth) ? '1' : '0')).join(''));
    this.#ofRow = [];
  }
}
