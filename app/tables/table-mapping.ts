import type { ColumnSource } from '../../settings/column-source.ts';
import type { Unit } from '../../settings/tables.ts';

export type { ColumnSource, FieldPath } from '../../settings/column-source.ts';
export type { Unit } from '../../settings/tables.ts';

/** A type of PostgreSQL as far as the text of a value depends on it; a domain has the kind of what it is made of. */
export type ColumnType =
  | {
      readonly kind:
        | 'boolean'
        | 'integer'
        | 'numeric'
        | 'float'
        | 'text'
        | 'json'
        | 'bytea'
        | 'date'
        | 'time'
        | 'timestamp'
        | 'interval'
        | 'other';
      /** As format_type shows it, for messages. */
      readonly name: string;
    }
  | { readonly kind: 'array'; readonly name: string; readonly element: ColumnType; readonly delimiter: string }
  | {
      readonly kind: 'composite';
      readonly name: string;
      readonly attributes: readonly { readonly name: string; readonly type: ColumnType }[];
    };

/** A column that is written, with the source of its values. */
export interface MappedColumn {
  readonly name: string;
  readonly type: ColumnType;
  readonly source: ColumnSource;
  /** Left out: the type says how the text of a value is read. */
  readonly unit?: Unit;
  /** Whether NULL is refused, by the column or its domain. */
  readonly isNotNull: boolean;
  /**
   * Whether COPY takes its marker DEFAULT for the column: it has a default, by itself or by its domain, or is an identity.
   * Before PostgreSQL 16 it takes none.
   */
  readonly hasDefault: boolean;
}

/** A user's table that records of some topics go to, checked against the catalog. */
export interface TableMapping {
  readonly schema: string;
  readonly table: string;
  readonly topics: readonly string[];
  readonly columns: readonly MappedColumn[];
}
