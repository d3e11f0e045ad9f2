import type { MappedColumn, TableEnvelope, ValueUnit } from '../mapping/table-mapping.ts';
import { type RowColumn, rowColumn } from './row-column.ts';

/** A column whose values are read as the schema of each record says, unless the settings say how. */
export class TypedColumn {
  readonly #column: MappedColumn;
  /** Where a schema says nothing. */
  readonly #untyped: RowColumn;
  /** What was said last: records of one schema follow each other. */
  #unit: ValueUnit | undefined;
  #typed: RowColumn;

  constructor(column: MappedColumn, envelope: TableEnvelope | undefined) {
    this.#column = column;
    const isOfDebezium = envelope !== undefined && envelope.format !== 'connect';
    this.#untyped = rowColumn(column, isOfDebezium ? 'debezium' : undefined);
    this.#typed = this.#untyped;
  }

  /** @param unit what a schema says; `undefined`: nothing */
  by(unit: ValueUnit | undefined): RowColumn {
    if (unit !== this.#unit) {
      this.#unit = unit;
      this.#typed = unit === undefined ? this.#untyped : rowColumn(this.#column, unit);
    }
    return this.#typed;
  }
}
