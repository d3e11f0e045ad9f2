import type { ColumnSource } from '../../../settings/sections/column-source.ts';
import type { Condition } from '../../../settings/sections/tables/table-conditions.ts';
import type { TableEnvelope } from '../../../settings/sections/tables/table-envelope.ts';
import type { TableKey } from '../../../settings/sections/tables/table-key.ts';
import type { Unit } from '../../../settings/sections/tables.ts';

export type { ColumnSource, FieldPath } from '../../../settings/sections/column-source.ts';
export type { Condition } from '../../../settings/sections/tables/table-conditions.ts';
export type { TableEnvelope } from '../../../settings/sections/tables/table-envelope.ts';
export type { TableKey } from '../../../settings/sections/tables/table-key.ts';
export type { Unit } from '../../../settings/sections/tables.ts';

/** Whether values are change events of Debezium, flattened or not: it sends placeholders of large values. */
export const isOfDebezium = (envelope: TableEnvelope | undefined): envelope is TableEnvelope =>
  envelope !== undefined && envelope.format !== 'connect';

/**
 * How the text of a value is read: a unit of the settings, or what a schema says alone. `debezium`: as Debezium writes
 * values without a unit.
 */
export type ValueUnit = Unit | `bits(${number})` | 'debezium';

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
      /** Of a domain: the same of what it is made of, with its modifier. */
      readonly base?: string;
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
   * Whether COPY takes its marker DEFAULT for the column: it has a default, by itself or by its domain, or is an
   * identity. Before PostgreSQL 16 it takes none. In a table with a key, an identity, a column of the key and that of
   * the version have none.
   */
  readonly hasDefault: boolean;
}

/** A column of the stage that rows come to first, as SQL. */
interface StageColumn {
  readonly name: string;
  /** With its modifier; of a domain that is NOT NULL the type that it is made of, as rows of deletes have no value. */
  readonly type: string;
  /** `null` for a type without one. */
  readonly collation: string | null;
  /** `null` where COPY needs none. */
  readonly default: string | null;
}

/** How rows come to a table that COPY alone is not enough for. */
export interface TableStage {
  /** The mapping's columns, in their order. */
  readonly columns: readonly StageColumn[];
  /** By the key's columns: the operator by which their index compares, as SQL. Left out: `=` of pg_catalog. */
  readonly equality: Readonly<Record<string, string>>;
  /** The operator by which versions are compared, not older than, as SQL. Left out: rows have no version. */
  readonly notOlder?: string;
  /** OID of the table, which locks of its key are about. */
  readonly tableOid: number;
  /** Whether a column that is GENERATED ALWAYS AS IDENTITY is written. */
  readonly overridesIdentity: boolean;
  /** Whether row triggers before INSERT may drop a row. */
  readonly mayDropRows: boolean;
  /** Whether foreign keys refer to other rows, in whose order rows have to come. Left out: none does. */
  readonly hasReferences?: true;
}

/** A user's table that records of some topics go to, checked against the catalog. */
export interface TableMapping {
  readonly schema: string;
  readonly table: string;
  readonly topics: readonly string[];
  readonly columns: readonly MappedColumn[];
  /** `null`: rows are appended. */
  readonly key: TableKey | null;
  /** `null`: rows are copied straight into the table. With a key, or under row-level security, there is one. */
  readonly stage: TableStage | null;
  /** What is around the rows. Left out: the value is the row. */
  readonly envelope?: TableEnvelope;
  /** What a record needs for the table to take it; all of it. Left out: nothing. */
  readonly when?: readonly Condition[];
  /** Whether a record that no table of its topic takes is a dead letter. Left out: it is counted. */
  readonly refusesUnmatched?: true;
}
