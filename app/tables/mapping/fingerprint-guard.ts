import { escapeIdentifier } from 'pg';
import type { Fingerprint, TableGuard } from '../../store/tables/table-guard.ts';

const fingerprint = (...more: readonly string[]): string => `(SELECT encode(sha256(convert_to(ROW(${[
  'pg_class.oid, relkind, relpersistence, relrowsecurity, relforcerowsecurity',
  "string_agg(ROW(attname, atttypid, atttypmod, attnotnull, atthasdef, attidentity, attgenerated)::text, ',' ORDER BY attnum)",
  ...more,
].join(', ')})::text, 'UTF8')), 'hex')
  FROM pg_attribute WHERE attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped)`;

/**
 * What a mapping is made from, as one text, for the table of pg_class at hand: the same expression is asked for when
 * the mapping is made and before each COPY. SHA-256 is there in FIPS mode, too, unlike MD5.
 */
export const FINGERPRINT = fingerprint();

/**
 * The same for a table with a stage, which has copies of the defaults and finds rows by a unique index. A default that
 * is set has a new row in pg_attrdef each time. Of rules, which COPY passes by, none may be there.
 */
export const STAGED_FINGERPRINT = fingerprint(
  'relhasrules',
  '(SELECT array_agg(pg_attrdef.oid ORDER BY adnum) FROM pg_attrdef WHERE adrelid = pg_class.oid)',
  `(SELECT array_agg(ROW(indexrelid, indisvalid, indimmediate)::text ORDER BY indexrelid)
    FROM pg_index WHERE indrelid = pg_class.oid AND indisunique)`,
);

/** What a guard is made from. */
interface GuardedMapping {
  readonly schema: string;
  readonly table: string;
  readonly columns: readonly { readonly name: string }[];
  readonly stage: object | null;
  readonly relation: {
    readonly fingerprint: string;
    readonly stagedFingerprint: string;
    readonly isInsertable: boolean;
    readonly rowTriggers: readonly string[];
  };
}

/**
 * Locks a table by its name, as the COPY does, and compares it with what the mapping was made from: names, types and
 * modifiers, NOT NULL, defaults and number of its columns, that it is the same table, and that a crash does not empty
 * it. The lock keeps the answer true until COMMIT: PostgreSQL takes a stronger one to alter or rename a table. With
 * other tags no row may be sent: its record stays ahead of the stored offset until the mapping was made anew.
 *
 * Of a table with a stage its unique indexes, the rows of its defaults and whether it has rules are compared as well.
 * Where no trigger may drop rows, that none was made meanwhile is part of the guard.
 *
 * Not compared is what a type is made of: a domain's constraints, a composite's attributes and an enum's labels change
 * under no lock of the table. PostgreSQL refuses what does not fit them.
 */
export function guardOf({ schema, table, columns, stage, relation }: GuardedMapping): TableGuard {
  const name = `${escapeIdentifier(schema)}.${escapeIdentifier(table)}`;
  const names = columns.map((column) => escapeIdentifier(column.name));
  const locking = relation.isInsertable
    ? { sql: `LOCK TABLE ONLY ${name} IN ROW EXCLUSIVE MODE`, tag: 'LOCK TABLE' }
    : // LOCK TABLE needs a privilege on the whole table. EXPLAIN takes the same lock by those on columns and runs
      // nothing.
      { sql: `EXPLAIN INSERT INTO ${name} (${names}) VALUES (${names.map(() => 'DEFAULT')})`, tag: 'EXPLAIN' };
  const [expression, expected] =
    stage === null ? [FINGERPRINT, relation.fingerprint] : [STAGED_FINGERPRINT, relation.stagedFingerprint];
  const fingerprint: Fingerprint = { expression, expected, name, mayHaveRowTriggers: relation.rowTriggers.length > 0 };
  return { steps: [locking], fingerprint };
}
