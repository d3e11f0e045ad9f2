/** The unit of a number in a column that takes a date or time, or the form of a string that stands for bytes. */
export type Unit =
  | 'epoch-seconds'
  | 'epoch-millis'
  | 'epoch-micros'
  | 'epoch-nanos'
  | 'epoch-days'
  | 'base64'
  | 'hex'
  | `decimal(${number})`;

/** Names and list positions from an object down to a value. */
export type FieldPath = readonly (string | number)[];

/**
 * Where a column's value comes from: a field of the record's value, the record key or a field of it, a header, or what
 * Kafka says of the record. A path of no parts is the whole.
 */
export type ColumnSource =
  | { readonly kind: 'field'; readonly path: FieldPath }
  | { readonly kind: 'key'; readonly path: FieldPath }
  | { readonly kind: 'header'; readonly name: string }
  | { readonly kind: 'topic' | 'partition' | 'offset' | 'timestamp' };

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
  /** Whether PostgreSQL has a value for a row without one: a default, an identity, a serial. */
  readonly hasDefault: boolean;
}

/** A user's table that records of some topics go to, checked against the catalog. */
export interface TableMapping {
  readonly schema: string;
  readonly table: string;
  readonly topics: readonly string[];
  readonly columns: readonly MappedColumn[];
}
