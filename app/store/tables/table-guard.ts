import { escapeIdentifier, escapeLiteral, type PoolClient } from 'pg';

interface GuardedColumn {
  readonly name: string;
  readonly type: string;
  readonly typeOid: number;
  readonly needsValue: boolean;
}

/** A table as it is in the catalog. */
export interface GuardedTable {
  readonly table: string;
  readonly oid: number;
  readonly columns: readonly GuardedColumn[];
  /** Columns of each unique index, in alphabetical order. */
  readonly keys: readonly (readonly string[])[];
  /** Enabled row triggers before INSERT, of partitions too: what may drop a row or put another in its place. */
  readonly triggers: readonly string[];
}

/** The columns of the unique index at hand, in alphabetical order; its expressions are none. */
export const KEY_COLUMNS = `(SELECT coalesce(json_agg(attname ORDER BY attname), '[]') FROM pg_attribute
   WHERE attrelid = indrelid AND attnum = ANY ((indkey::int2[])[0:indnkeyatts - 1]))`;

/** The bits of `tgtype` are those of PostgreSQL's catalog/pg_trigger.h: 1 for each row, 2 before, 4 INSERT. */
export const IS_ROW_TRIGGER = "tgtype & 7 = 7 AND tgenabled <> 'D'";

/** The tables, in one query that waits for no lock. A domain has the type that it is made of. */
const GUARDED_TABLES = `
  WITH RECURSIVE own AS (
    SELECT oid, relname FROM pg_class WHERE relnamespace = to_regnamespace($1) AND relname = ANY ($2::text[])),
  tree AS (
    SELECT oid, oid AS root FROM own
    UNION SELECT inhrelid, root FROM pg_inherits JOIN tree ON inhparent = tree.oid)
  SELECT relname AS "table", oid,
    (SELECT coalesce(json_agg(json_build_object('name', attname,
              'typeOid', atttypid::int8, 'type', format_type(coalesce(nullif(typbasetype, 0), atttypid), NULL),
              'needsValue', attnotnull AND NOT atthasdef AND attidentity = '') ORDER BY attnum), '[]')
       FROM pg_attribute JOIN pg_type ON pg_type.oid = atttypid
      WHERE attrelid = own.oid AND attnum > 0 AND NOT attisdropped) AS columns,
    (SELECT coalesce(json_agg(${KEY_COLUMNS}), '[]') FROM pg_index
      WHERE indrelid = own.oid AND indisunique AND indisvalid AND indpred IS NULL AND indexprs IS NULL) AS keys,
    (SELECT coalesce(json_agg(DISTINCT tgname), '[]') FROM pg_trigger JOIN tree ON tgrelid = tree.oid
      WHERE root = own.oid AND ${IS_ROW_TRIGGER}) AS triggers
  FROM own`;

/** The tables of a schema that have these names, by their names. */
export async function readTables(
  client: PoolClient,
  schema: string,
  names: readonly string[],
): Promise<ReadonlyMap<string, GuardedTable>> {
  const { rows } = await client.query<GuardedTable>(GUARDED_TABLES, [escapeIdentifier(schema), names]);
  return new Map(rows.map((table) => [table.table, table]));
}

/** A statement of a transaction, and the command tag with which PostgreSQL completes it when all is as expected. */
export interface GuardStep {
  readonly sql: string;
  readonly tag: string;
}

/** What a table has to be in the catalog, as one text. Many of them are compared in one query. */
export interface Fingerprint {
  /** The text, as SQL about a row of pg_class. */
  readonly expression: string;
  readonly expected: string;
  /** The table's name, as SQL. */
  readonly name: string;
  /** Whether it may have row triggers before INSERT; if not, none may have been made. */
  readonly mayHaveRowTriggers: boolean;
}

/** What precedes the first COPY of a transaction, for one table. */
export interface TableGuard {
  /** They lock the table, which no other step of the transaction waits for. */
  readonly steps: readonly GuardStep[];
  /** Compared once all tables are locked. Left out: the steps compare what has to be compared. */
  readonly fingerprint?: Fingerprint;
}

/** Guards of the tables of a transaction. */
export interface JoinedGuards {
  /** The steps of each table, in the order of the tables: an error is about the table whose step it is. */
  readonly ofTables: readonly (readonly GuardStep[])[];
  /** Behind all of these. They wait for nothing. */
  readonly comparisons: readonly GuardStep[];
}

/** The guards of all tables of a transaction: what one of them has set is set for the others. */
export function joinedGuards(guards: readonly TableGuard[]): JoinedGuards {
  const settings = new Set<string>();
  const ofTables = guards.map(({ steps }) =>
    steps.filter(({ sql, tag }) => {
      const isNew = tag !== 'SET' || !settings.has(sql);
      settings.add(sql);
      return isNew;
    }),
  );
  return { ofTables, comparisons: comparisons(guards.flatMap(({ fingerprint }) => fingerprint ?? [])) };
}

/**
 * Compares tables with the catalog, with one query for all that have the same expression: to plan it takes PostgreSQL
 * ten times as long as to compare one more table. The expression is in a subquery for each table, so that no plan
 * computes it for other tables.
 */
function comparisons(fingerprints: readonly Fingerprint[]): readonly GuardStep[] {
  const expressions = [...new Set(fingerprints.map(({ expression }) => expression))];
  return expressions.map((expression) => {
    const known = fingerprints.filter((one) => one.expression === expression);
    const values = known.map(
      ({ name, expected, mayHaveRowTriggers }) =>
        `(to_regclass(${escapeLiteral(name)}), ${escapeLiteral(expected)}, ${mayHaveRowTriggers})`,
    );
    const sql = `SELECT FROM (VALUES ${values.join(', ')}) AS known (relation, expected, "mayHaveRowTriggers")
     WHERE (SELECT ${expression} FROM pg_class WHERE pg_class.oid = relation) = expected
       AND ("mayHaveRowTriggers" OR NOT EXISTS (SELECT FROM pg_trigger WHERE tgrelid = relation AND ${IS_ROW_TRIGGER}))`;
    return { sql, tag: `SELECT ${known.length}` };
  });
}

/** A table as a connection has found it in the catalog. */
export interface KnownTable {
  /**
   * What precedes a COPY into the table in its transaction: other tags mean that the table was altered. The lock is the
   * one that the COPY takes, and keeps the answer true until COMMIT.
   */
  readonly guard: TableGuard;
  /** Names of the triggers that may drop rows. */
  readonly rowTriggers: readonly string[];
}

/** Without `ONLY`, `LOCK TABLE` takes the partitions with it. */
export const lockOf = (schema: string, table: string): string =>
  `LOCK TABLE ONLY ${escapeIdentifier(schema)}.${escapeIdentifier(table)} IN ROW EXCLUSIVE MODE`;

/**
 * What a connection knows of a table whose columns `written` rows are sent for.
 *
 * Triggers of partitions are not looked for by the guard: there may be thousands, and their DDL waits for no lock of
 * ours.
 */
export function knownTable(
  schema: string,
  { table, oid, columns, triggers }: GuardedTable,
  written: ReadonlySet<string>,
): KnownTable {
  const types = columns
    .filter(({ name }) => written.has(name))
    .map(({ name, typeOid }) => `(${escapeLiteral(name)}, ${typeOid})`);
  const columnsAsKnown = `SELECT FROM pg_attribute
    WHERE attrelid = ${oid} AND attnum > 0 AND (attname, atttypid) IN (${types.join(', ')})`;
  const noTrigger = `SELECT FROM pg_trigger WHERE tgrelid = ${oid} AND ${IS_ROW_TRIGGER}`;
  const steps = [
    { sql: lockOf(schema, table), tag: 'LOCK TABLE' },
    { sql: columnsAsKnown, tag: `SELECT ${types.length}` },
    ...(triggers.length === 0 ? [{ sql: noTrigger, tag: 'SELECT 0' }] : []),
  ];
  return { guard: { steps }, rowTriggers: triggers };
}
