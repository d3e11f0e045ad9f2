import type { FieldPath, ValueUnit } from '../tables/mapping/table-mapping.ts';

/** What values are, as far as columns care; bytes come as base64. */
export type SchemaKind = 'string' | 'number' | 'boolean' | 'object' | 'list' | 'bytes';

/** What a schema says of the values at a path. */
export interface SchemaPart {
  /** What they may be beside null; none: anything. */
  readonly kinds: readonly SchemaKind[];
  readonly isNullable: boolean;
  readonly unit: ValueUnit | undefined;
  /** Names of their fields, where they have some. */
  readonly fields: readonly string[];
}

/** What a schema says, by paths; `undefined` where it has nothing. */
export type SchemaOutline = (path: FieldPath) => SchemaPart | undefined;
