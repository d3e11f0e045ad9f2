import { escapeIdentifier, type PoolClient } from 'pg';
import { TABLE_NAMES } from '../../store/tables/own-tables.ts';
import { CATALOG } from './catalog-query.ts';
import { type TypeRow, Types } from './column-types.ts';
import type { ColumnType } from './table-mapping.ts';

/** A table as the settings name it. */
export interface TableName {
  readonly schema: string;
  readonly table: string;
}

/** A column as it is in the catalog. */
export interface CatalogColumn {
  readonly name: string;
  readonly type: ColumnType;
  /** The type in it, or in its elements or attributes, that no text can be read for; `null` without one. */
  readonly typeWithoutInput: string | null;
  /** The operator by which two values are compared, not less than, as SQL; `null` for a type without an order. */
  readonly notLess: string | null;
  /** By the column, or by its domain. */
  readonly isNotNull: boolean;
  /** A default of the column or of its domain, or an identity: what `COPY` has for its marker DEFAULT. */
  readonly hasDefault: boolean;
  readonly isGenerated: boolean;
  readonly identity: 'always' | 'by default' | null;
  /** The type of a column that takes any value of this one, and NULL, as SQL. */
  readonly nullableType: string;
  /** Whether the role may make a table with such a column. */
  readonly isTypeUsable: boolean;
  /** As SQL; `null` for a type without one. */
  readonly collation: string | null;
  /** What a column of {@link nullableType} needs to have the same default, as SQL; `null` without one. */
  readonly defaultExpression: string | null;
  /** Whether the role may name it in an INSERT. */
  readonly isInsertable: boolean;
  /** Whether the role may read it. */
  readonly isSelectable: boolean;
  /** Whether the role may change it in rows that are there. */
  readonly isUpdatable: boolean;
  /** A sequence that the default takes numbers from, and that the role may not use; `null` without one. */
  readonly forbiddenSequence: string | null;
}

/** A unique index, or an exclusion constraint that is one. */
export interface UniqueIndex {
  readonly name: string;
  /** The constraint that it belongs to; `null` without one. */
  readonly constraint: string | null;
  readonly isPrimary: boolean;
  readonly isValid: boolean;
  /** Whether a row that it refuses is refused at once: not so in a constraint that is DEFERRABLE. */
  readonly isImmediate: boolean;
  readonly isPartial: boolean;
  readonly isExclusion: boolean;
  /** Those that have to be unique, not those of INCLUDE. */
  readonly columns: readonly {
    /** `null` for an expression. */
    readonly name: string | null;
    readonly isOtherCollation: boolean;
    /** Whether the operator class is not the default of the type. */
    readonly isOtherClass: boolean;
    /** The operator that compares two values, as SQL; `null` for one of pg_catalog. */
    readonly equality: string | null;
  }[];
}

/** What a name of the settings is in the catalog. */
export interface CatalogRelation {
  readonly oid: number;
  /** `relkind` of pg_class: `r` for a table, `p` for a partitioned one. */
  readonly kind: string;
  readonly isUnlogged: boolean;
  /** Partitions, at any depth, that are not committed with the offset or do not outlive a crash. */
  readonly unsafePartitions: readonly string[];
  /** Whether it is a table that this program keeps its own rows in, or a partition of one. */
  readonly isOwn: boolean;
  /** Whether policies of row-level security apply to the role. */
  readonly hasRowSecurity: boolean;
  /** Whether the role may insert into it as a whole, and not only into some columns. */
  readonly isInsertable: boolean;
  /** Whether the role may delete rows. */
  readonly isDeletable: boolean;
  /** Enabled rules, which COPY passes by and other statements do not. */
  readonly rules: readonly string[];
  /** Columns of the partition key; none for a table that is not partitioned. */
  readonly partitionedBy: readonly string[];
  readonly uniqueIndexes: readonly UniqueIndex[];
  /** Foreign keys that are enforced, without those to the table itself. */
  readonly foreignKeys: readonly string[];
  /** Whether a foreign key refers to the table itself. */
  readonly refersToItself: boolean;
  /** Enabled row triggers before INSERT, of partitions too: what may drop a row or put another in its place. */
  readonly rowTriggers: readonly string[];
  /** Of all that is compared before a COPY. */
  readonly fingerprint: string;
  /** The same for a COPY into a stage. */
  readonly stagedFingerprint: string;
  readonly columns: readonly CatalogColumn[];
}

/** The catalog's answer for one name. */
export interface CatalogTable extends TableName {
  /** `server_version_num`: 160003 is 16.3. */
  readonly serverVersion: number;
  readonly role: string;
  readonly database: string;
  /** Whether the role may make temporary tables. */
  readonly mayMakeTemporary: boolean;
  readonly hasSchema: boolean;
  readonly maySeeSchema: boolean;
  readonly relation: CatalogRelation | null;
  /** Tables that may have been meant, where there is none of this name; those of the same schema come first. */
  readonly others: readonly TableName[];
}

type ColumnRow = Omit<CatalogColumn, 'type' | 'typeWithoutInput' | 'notLess' | 'nullableType' | 'isTypeUsable'> & {
  /** With the modifier and the schema. */
  readonly sqlType: string;
  readonly typeOid: number;
  readonly typeName: string;
};

type RelationRow = Omit<CatalogRelation, 'columns'> & { readonly columns: readonly ColumnRow[] };

type TableRow = Omit<CatalogTable, 'relation'> & {
  readonly relation: RelationRow | null;
  readonly types: readonly TypeRow[] | null;
};

function relationOf({ columns, ...relation }: RelationRow, types: Types): CatalogRelation {
  return {
    ...relation,
    columns: columns.map(({ typeOid, typeName, sqlType, ...column }) => ({
      ...column,
      ...types.nullable(typeOid, { sqlType, defaultExpression: column.defaultExpression }),
      type: types.type(typeOid, typeName),
      typeWithoutInput: types.withoutInput(typeOid),
      notLess: types.notLess(typeOid),
      isNotNull: column.isNotNull || types.isNotNull(typeOid),
      hasDefault: column.hasDefault || (!column.isGenerated && types.hasDefault(typeOid)),
    })),
  };
}

/**
 * What the catalog says of each name, in their order. Only the catalog is read (PostgreSQL documentation, chapter
 * "System Catalogs"), which every role may do.
 *
 * @param ownSchema `database.schema`
 */
export async function readCatalog(
  client: Pick<PoolClient, 'query'>,
  names: readonly TableName[],
  ownSchema: string,
): Promise<readonly CatalogTable[]> {
  const { rows } = await client.query<TableRow>(CATALOG, [
    names.map(({ schema }) => schema),
    names.map(({ table }) => table),
    escapeIdentifier(ownSchema),
    [...TABLE_NAMES, 'schema_migrations'],
  ]);
  // Of names that have no table the first row has the others for all.
  const others = rows.find((row) => row.others.length > 0)?.others ?? [];
  return rows.map(({ types, relation, ...table }) => ({
    ...table,
    relation: relation && relationOf(relation, new Types(types ?? [])),
    others: relation === null ? others : [],
  }));
}
