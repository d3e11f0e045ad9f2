import { nearestKey, type Problem, problemIf } from '../../../settings/schema/problem.ts';
import { sqlName } from '../../store/connection/sql-name.ts';
import type { CatalogRelation, CatalogTable } from './table-catalog.ts';

/** Why rows cannot go there exactly once, by `relkind` of pg_class (PostgreSQL documentation, "pg_class"). */
const REFUSED_KINDS: Readonly<Record<string, string>> = {
  v: 'is a view: a COPY into it does what its INSTEAD OF trigger makes of the rows, and their number says nothing',
  m: 'is a materialized view, whose rows come from its query alone',
  f: 'is a foreign table: rows on another server are not committed together with the offset',
  S: 'is a sequence',
  i: 'is an index',
  I: 'is an index',
  c: 'is a composite type',
  t: 'is a TOAST table',
};

const A_TABLE = 'a table, or a partitioned one';

const SYSTEM_SCHEMA = /^(pg_|information_schema$)/;

const shownName = ({ schema, table }: { readonly schema: string; readonly table: string }): string =>
  `${schema}.${table}`;

function missing(found: CatalogTable, path: string): Problem {
  const { schema, table, others, hasSchema } = found;
  const given = shownName(found);
  if (!hasSchema) {
    const schemas = [...new Set(others.map((other) => other.schema))];
    const nearest = nearestKey(schema, schemas);
    const elsewhere = others.find((other) => other.table === table);
    const meant = elsewhere ?? (nearest === undefined ? undefined : { schema: nearest, table });
    return {
      path,
      message: 'names a schema that is not there',
      given,
      allowed: 'a schema of this database',
      ...(meant && { nearest: shownName(meant) }),
    };
  }
  const beside = others.filter((other) => other.schema === schema).map((other) => other.table);
  const near = nearestKey(table, beside);
  const nearest = near === undefined ? nearestElsewhere(found) : shownName({ schema, table: near });
  const allowed =
    'a table that is there, as SCHEMA.TABLE with the letters of the catalog; CREATE TABLE it, or correct the name';
  return { path, message: 'is not there', given, allowed, ...(nearest !== undefined && { nearest }) };
}

/** The table of the same name in another schema, else the one whose name is near. */
function nearestElsewhere({ table, others }: CatalogTable): string | undefined {
  const near = nearestKey(
    table,
    others.map((other) => other.table),
  );
  const found = others.find((other) => other.table === table) ?? others.find((other) => other.table === near);
  return found && shownName(found);
}

/** What of the table itself keeps rows from being written exactly once; its columns are looked at elsewhere. */
function unsafe(
  { isUnlogged, unsafePartitions, isOwn }: CatalogRelation,
  path: string,
  given: string,
): readonly Problem[] {
  return [
    ...problemIf(isOwn, {
      path,
      message: 'is a table that this program keeps its own rows in',
      given,
      allowed: 'a table of your own; kafka.topics names the topics that go to records',
    }),
    ...problemIf(isUnlogged, {
      path,
      message: 'is unlogged: a crash of PostgreSQL empties it, while the stored offset stays behind its records',
      given,
      allowed: 'a table whose rows outlive a crash: ALTER TABLE … SET LOGGED',
    }),
    ...problemIf(unsafePartitions.length > 0, {
      path,
      message: `has partitions that are foreign or unlogged (${unsafePartitions.join(', ')}): their rows are not committed with the offset, or do not outlive a crash`,
      given,
      allowed: 'partitions of this database that are logged',
    }),
  ];
}

function forbidden(found: CatalogTable, relation: CatalogRelation, path: string): readonly Problem[] {
  const { schema, table, role, maySeeSchema } = found;
  const given = shownName(found);
  return [
    ...problemIf(!maySeeSchema, {
      path,
      message: `is in a schema that the role ${role} may not use`,
      given,
      allowed: `GRANT USAGE ON SCHEMA ${sqlName(schema)} TO ${sqlName(role)}`,
    }),
    ...problemIf(!relation.columns.some(({ isInsertable }) => isInsertable) && !relation.isInsertable, {
      path,
      message: `is a table that the role ${role} may not insert into`,
      given,
      allowed: `GRANT INSERT ON ${sqlName(schema, table)} TO ${sqlName(role)}`,
    }),
  ];
}

/** Defaults that PostgreSQL could not give, whether the column is written or not. */
export const sequenceProblems = (
  { role }: CatalogTable,
  { columns }: CatalogRelation,
  entry: string,
): readonly Problem[] =>
  columns.flatMap(({ name, forbiddenSequence }) =>
    forbiddenSequence === null
      ? []
      : {
          path: `${entry}.columns.${name}`,
          message: `has a default that takes numbers from the sequence ${forbiddenSequence}, which the role ${role} may not use`,
          allowed: `GRANT USAGE ON SEQUENCE ${forbiddenSequence} TO ${sqlName(role)}`,
        },
  );

/**
 * Foreign keys of a table whose topics a template takes. Topics have no order among each other, so a row may come
 * before the one that it refers to.
 */
export const foreignKeyProblems = ({ schema, table, relation }: CatalogTable, entry: string): readonly Problem[] =>
  (relation?.foreignKeys ?? []).map((name) => ({
    path: `${entry}.table`,
    message: `has the foreign key ${name}, and topics have no order among each other: a row may come before its parent`,
    given: `${schema}.${table}`,
    allowed: `ALTER TABLE ${sqlName(schema, table)} DROP CONSTRAINT ${sqlName(name)}`,
  }));

/**
 * All that is wrong with the table of an entry as a whole.
 *
 * @param entry the entry's path, such as `tables[0]`
 * @returns the problems, and the table where it is one whose columns can be looked at
 */
export function tableProblems(
  found: CatalogTable,
  entry: string,
): { readonly relation: CatalogRelation | null; readonly problems: readonly Problem[] } {
  const { relation, schema } = found;
  const path = `${entry}.table`;
  const given = shownName(found);
  if (SYSTEM_SCHEMA.test(schema)) {
    const message = 'is in a schema of PostgreSQL itself';
    return { relation: null, problems: [{ path, message, given, allowed: 'a table of your own' }] };
  }
  if (relation === null) {
    return { relation: null, problems: [missing(found, path)] };
  }
  const refused = REFUSED_KINDS[relation.kind];
  return refused === undefined
    ? { relation, problems: [...unsafe(relation, path, given), ...forbidden(found, relation, path)] }
    : { relation: null, problems: [{ path, message: refused, given, allowed: A_TABLE }] };
}
