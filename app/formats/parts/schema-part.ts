import type { FieldPath, ValueUnit } from '../../tables/mapping/table-mapping.ts';

/** What values are, as far as columns care; bytes come as base64. */
export type SchemaKind = 'string' | 'number' | 'boolean' | 'object' | 'list' | 'bytes';

/** What a schema says of the values at a path. */
export interface SchemaPart {
  /** What they may be beside null; none: anything. */
  readonly kinds: readonly SchemaKind[];
  readonly isNullable: boolean;
  /** Whether what is around them may lack them. Left out: they are always there. */
  readonly isOptional?: boolean;
  readonly unit: ValueUnit | undefined;
  /** The type of PostgreSQL that takes them and is made for them, as SQL. Left out: kinds and unit are all there is. */
  readonly sqlType?: string | undefined;
  /** All strings that they may be. Left out: any. */
  readonly symbols?: readonly string[] | undefined;
  /** Names of their fields, where they have some. */
  readonly fields: readonly string[];
}

/** What a schema says, by paths; `undefined` where it has nothing. */
export type SchemaOutline = (path: FieldPath) => SchemaPart | undefined;
