import { escapeIdentifier, type PoolClient } from 'pg';
import { TABLE_NAMES } from '../store/own-tables.ts';
import { IS_ROW_TRIGGER } from '../store/table-guard.ts';
import { FINGERPRINT } from './fingerprint-guard.ts';
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
  /** By the column, or by its domain. */
  readonly isNotNull: boolean;
  /** A default of the column or of its domain, or an identity: what `COPY` has for its marker DEFAULT. */
  readonly hasDefault: boolean;
  readonly isGenerated: boolean;
  readonly identity: 'always' | 'by default' | null;
  /** Whether the role may name it in an INSERT. */
  readonly isInsertable: boolean;
  /** A sequence that the default takes numbers from, and that the role may not use; `null` without one. */
  readonly forbiddenSequence: string | null;
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
  /** Enabled row triggers before INSERT, of partitions too: what may drop a row or put another in its place. */
  readonly rowTriggers: readonly string[];
  /** Of all that is compared before a COPY. */
  readonly fingerprint: string;
  readonly columns: readonly CatalogColumn[];
}

/** The catalog's answer for one name. */
export interface CatalogTable extends TableName {
  /** `server_version_num`: 160003 is 16.3. */
  readonly serverVersion: number;
  readonly role: string;
  readonly hasSchema: boolean;
  readonly maySeeSchema: boolean;
  readonly relation: CatalogRelation | null;
  /** Tables that may have been meant, where there is none of this name; those of the same schema come first. */
  readonly others: readonly TableName[];
}

interface TypeRow {
  readonly oid: number;
  readonly name: string;
  /** Its name in pg_catalog, else that of an extension's type that is known by its name alone. */
  readonly known: string;
  readonly base: number;
  readonly element: number;
  readonly delimiter: string;
  readonly attributes: readonly { readonly name: string; readonly type: number; readonly typeName: string }[] | null;
  readonly isNotNull: boolean;
  readonly hasDefault: boolean;
}

type ColumnRow = Omit<CatalogColumn, 'type' | 'typeWithoutInput'> & {
  readonly typeOid: number;
  readonly typeName: string;
};

type RelationRow = Omit<CatalogRelation, 'columns'> & { readonly columns: readonly ColumnRow[] };

type TableRow = Omit<CatalogTable, 'relation'> & {
  readonly relation: RelationRow | null;
  readonly types: readonly TypeRow[] | null;
};

/** More tables are not looked through for one whose name is near. */
const MOST_OTHERS = 5_000;

const COLUMNS = `(SELECT coalesce(json_agg(json_build_object(
    'name', attname, 'typeOid', atttypid::int8, 'typeName', format_type(atttypid, atttypmod),
    'isNotNull', attnotnull, 'hasDefault', attgenerated = '' AND (atthasdef OR attidentity <> ''),
    'isGenerated', attgenerated <> '',
    'identity', CASE attidentity WHEN 'a' THEN 'always' WHEN 'd' THEN 'by default' END,
    'isInsertable', has_column_privilege(attrelid, attnum, 'INSERT'),
    'forbiddenSequence', (SELECT min(refobjid::regclass::text) FROM pg_depend
       JOIN pg_attrdef ON pg_attrdef.oid = objid JOIN pg_class sequence ON sequence.oid = refobjid
      WHERE classid = 'pg_attrdef'::regclass AND refclassid = 'pg_class'::regclass AND adrelid = attrelid AND adnum = attnum
        AND CASE WHEN sequence.relkind = 'S' THEN NOT has_sequence_privilege(refobjid, 'USAGE, UPDATE') END)
  ) ORDER BY attnum), '[]')
  FROM pg_attribute WHERE attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped)`;

const IS_OWN = `EXISTS (SELECT FROM pg_class own
  WHERE own.relnamespace = to_regnamespace($3) AND own.relname = ANY ($4::text[])
    AND (own.oid = pg_class.oid OR own.oid IN (SELECT pg_partition_ancestors(pg_class.oid))))`;

const RELATION = `json_build_object(
  'oid', pg_class.oid::int8, 'kind', relkind, 'isUnlogged', relpersistence = 'u',
  'unsafePartitions', (SELECT coalesce(json_agg(leaf.oid::regclass::text ORDER BY leaf.oid), '[]')
     FROM pg_partition_tree(pg_class.oid) JOIN pg_class leaf ON leaf.oid = relid
    WHERE leaf.oid <> pg_class.oid AND (leaf.relkind = 'f' OR leaf.relpersistence = 'u' AND leaf.relkind = 'r')),
  'isOwn', ${IS_OWN},
  'hasRowSecurity', row_security_active(pg_class.oid),
  'isInsertable', has_table_privilege(pg_class.oid, 'INSERT'),
  'rowTriggers', (SELECT coalesce(json_agg(DISTINCT tgname), '[]') FROM pg_trigger
    WHERE (tgrelid = pg_class.oid OR tgrelid IN (SELECT relid FROM pg_partition_tree(pg_class.oid))) AND ${IS_ROW_TRIGGER}),
  'fingerprint', ${FINGERPRINT}, 'columns', ${COLUMNS})`;

const OTHERS = `(SELECT coalesce(json_agg(near), '[]') FROM (
  SELECT nspname AS schema, relname AS "table" FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
   WHERE relkind IN ('r', 'p') AND nspname !~ '^pg_' AND nspname <> 'information_schema'
   ORDER BY nspname = wanted.schema DESC, nspname, relname LIMIT ${MOST_OTHERS}) AS near)`;

/** All types that the columns' types are made of: base types of domains, elements of arrays, attributes of composites. */
const TYPES = `(WITH RECURSIVE parts AS (
    SELECT atttypid AS oid FROM pg_attribute WHERE attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped
    UNION
    SELECT inner_oid FROM parts JOIN pg_type USING (oid) CROSS JOIN LATERAL (
      SELECT typbasetype WHERE typbasetype <> 0
      UNION ALL SELECT typelem WHERE typinput = 'array_in'::regproc
      UNION ALL SELECT atttypid FROM pg_attribute
        WHERE typrelid <> 0 AND attrelid = typrelid AND attnum > 0 AND NOT attisdropped) AS of_type (inner_oid))
  SELECT json_agg(json_build_object(
    'oid', oid::int8, 'name', format_type(oid, NULL),
    'known', CASE WHEN typnamespace = 'pg_catalog'::regnamespace OR typname = 'citext' THEN typname ELSE '' END,
    'base', typbasetype::int8, 'element', CASE WHEN typinput = 'array_in'::regproc THEN typelem::int8 ELSE 0 END,
    'delimiter', typdelim, 'isNotNull', typnotnull, 'hasDefault', typdefault IS NOT NULL,
    'attributes', (SELECT json_agg(json_build_object(
        'name', attname, 'type', atttypid::int8, 'typeName', format_type(atttypid, atttypmod)) ORDER BY attnum)
      FROM pg_attribute WHERE typtype = 'c' AND attrelid = typrelid AND attnum > 0 AND NOT attisdropped)))
  FROM parts JOIN pg_type USING (oid))`;

/** One query for all names, which waits for no lock. */
const CATALOG = `
  SELECT wanted.schema, wanted.name AS "table", current_setting('server_version_num')::int AS "serverVersion",
    current_user AS role, pg_namespace.oid IS NOT NULL AS "hasSchema",
    coalesce(has_schema_privilege(pg_namespace.oid, 'USAGE'), false) AS "maySeeSchema",
    CASE WHEN pg_class.oid IS NOT NULL THEN ${RELATION} END AS relation,
    CASE WHEN pg_class.oid IS NOT NULL THEN ${TYPES} END AS types,
    CASE WHEN pg_class.oid IS NULL THEN ${OTHERS} ELSE '[]' END AS others
  FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS wanted (schema, name, nth)
  LEFT JOIN pg_namespace ON nspname = wanted.schema
  LEFT JOIN pg_class ON relnamespace = pg_namespace.oid AND relname = wanted.name
  ORDER BY nth`;

/** Types of pg_catalog, and of the extension citext, by the kind that the text of their values has. */
const KINDS: Readonly<Record<string, Exclude<ColumnType['kind'], 'array' | 'composite'>>> = {
  bool: 'boolean',
  int2: 'integer',
  int4: 'integer',
  int8: 'integer',
  numeric: 'numeric',
  float4: 'float',
  float8: 'float',
  text: 'text',
  varchar: 'text',
  bpchar: 'text',
  name: 'text',
  char: 'text',
  citext: 'text',
  json: 'json',
  jsonb: 'json',
  bytea: 'bytea',
  date: 'date',
  time: 'time',
  timetz: 'time',
  timestamp: 'timestamp',
  timestamptz: 'timestamp',
  interval: 'interval',
};

/** Types of the server's own whose input functions refuse everything. */
const WITHOUT_INPUT: ReadonlySet<string> = new Set([
  'gtsvector',
  'pg_brin_bloom_summary',
  'pg_brin_minmax_multi_summary',
  'pg_dependencies',
  'pg_mcv_list',
  'pg_ndistinct',
  'pg_node_tree',
]);

/** The types of a table's columns. */
class Types {
  readonly #byOid: ReadonlyMap<number, TypeRow>;

  constructor(rows: readonly TypeRow[]) {
    this.#byOid = new Map(rows.map((row) => [row.oid, row]));
  }

  /** @param name with the modifier, such as `numeric(10,2)`, where it has one */
  type(oid: number, name: string): ColumnType {
    const row = this.#row(this.#domains(oid).at(-1)?.base || oid);
    if (row.element !== 0) {
      const element = this.#row(row.element);
      return { kind: 'array', name, element: this.type(element.oid, element.name), delimiter: element.delimiter };
    }
    return row.attributes === null
      ? { kind: KINDS[row.known] ?? 'other', name }
      : {
          kind: 'composite',
          name,
          attributes: row.attributes.map((each) => ({ name: each.name, type: this.type(each.type, each.typeName) })),
        };
  }

  withoutInput(oid: number): string | null {
    const { name, known, base, element, attributes } = this.#row(oid);
    if (WITHOUT_INPUT.has(known)) {
      return name;
    }
    const parts = [base, element, ...(attributes ?? []).map(({ type }) => type)].filter((part) => part !== 0);
    return parts.map((part) => this.withoutInput(part)).find((found) => found !== null) ?? null;
  }

  isNotNull = (oid: number): boolean => this.#domains(oid).some((domain) => domain.isNotNull);

  /** A domain takes over the default of the one that it is made of when it is created. */
  hasDefault = (oid: number): boolean => this.#row(oid).hasDefault;

  /** The domain and those that it is made of, from the outermost on; none for another type. */
  #domains(oid: number): readonly TypeRow[] {
    const row = this.#row(oid);
    return row.base === 0 ? [] : [row, ...this.#domains(row.base)];
  }

  #row(oid: number): TypeRow {
    const row = this.#byOid.get(oid);
    if (row === undefined) {
      throw new Error(`table catalog: the type ${oid} was not read`);
    }
    return row;
  }
}

function relationOf({ columns, ...relation }: RelationRow, types: Types): CatalogRelation {
  return {
    ...relation,
    columns: columns.map(({ typeOid, typeName, ...column }) => ({
      ...column,
      type: types.type(typeOid, typeName),
      typeWithoutInput: types.withoutInput(typeOid),
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
  return rows.map(({ types, relation, ...table }) => ({
    ...table,
    relation: relation && relationOf(relation, new Types(types ?? [])),
  }));
}
