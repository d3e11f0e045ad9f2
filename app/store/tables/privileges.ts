import { escapeIdentifier, type PoolClient } from 'pg';
import { isTemplate } from '../../../settings/sections/tables/topic-template.ts';
import { topicsOf } from '../../../settings/sections/tables.ts';
import type { Settings } from '../../../settings/settings.ts';
import { FatalError } from '../../stream/ports/stream-errors.ts';
import { sqlName } from '../connection/sql-name.ts';

type Privilege = 'SELECT' | 'INSERT' | 'UPDATE' | 'DELETE';

/** By the tables of this program, what the consumer does with them sooner or later. */
export type NeededPrivileges = Readonly<Record<string, readonly Privilege[]>>;

/**
 * What a consumer with these settings needs. Most of it is needed late: without `INSERT` on `dead_letters` all goes
 * well until the first dead letter.
 */
export function neededPrivileges({
  kafka,
  tables,
  deadLetters: { to, maxRatio, keep },
}: Pick<Settings, 'kafka' | 'tables' | 'deadLetters'>): NeededPrivileges {
  const { topics } = kafka;
  const writesLetters = to !== 'topic';
  // A dead letter is counted among the newest records and letters.
  const countsLetters = writesLetters && maxRatio < 1;
  const ofLetters: readonly (readonly [Privilege, boolean])[] = [
    ['SELECT', countsLetters || keep !== undefined],
    ['INSERT', writesLetters],
    ['DELETE', keep !== undefined],
  ];
  return {
    records: [...(countsLetters ? (['SELECT'] as const) : []), ...(topics.length > 0 ? (['INSERT'] as const) : [])],
    dead_letters: ofLetters.filter(([, isNeeded]) => isNeeded).map(([privilege]) => privilege),
    offsets: ['SELECT', 'INSERT', 'UPDATE'],
    gaps: ['INSERT'],
    filled_tables: ['SELECT', 'INSERT'],
    ...(topicsOf({ kafka, tables }).some(isTemplate) && { templates: ['SELECT', 'INSERT'] }),
    schema_migrations: ['SELECT'],
  };
}

/** A privilege that the role lacks. */
export interface MissingPrivilege {
  readonly role: string;
  /** What is lacking where, such as `INSERT on orders.dead_letters`. */
  readonly what: string;
  /** The statement that gives it. */
  readonly grant: string;
}

/**
 * A privilege on some columns counts as one on the table: only PostgreSQL knows whether these are enough. DELETE is one
 * of the table alone. Tables that are not there are left out.
 */
const MISSING = `
  SELECT current_user AS role, needed.name AS "table", needed.privilege
    FROM unnest($2::text[], $3::text[]) WITH ORDINALITY AS needed (name, privilege, nth)
    JOIN pg_class ON relname = needed.name AND relnamespace = to_regnamespace($1)
   WHERE NOT CASE needed.privilege WHEN 'DELETE' THEN has_table_privilege(pg_class.oid, 'DELETE')
                  ELSE has_any_column_privilege(pg_class.oid, needed.privilege) END ORDER BY nth`;

/** The privileges that the role lacks, in the order of the tables. Only the catalog is read: every role may do that. */
export async function missingPrivileges(
  client: Pick<PoolClient, 'query'>,
  schema: string,
  needed: NeededPrivileges,
): Promise<readonly MissingPrivilege[]> {
  const pairs = Object.entries(needed).flatMap(([table, privileges]) => privileges.map((each) => [table, each]));
  const { rows } = await client.query<{ role: string; table: string; privilege: Privilege }>(MISSING, [
    escapeIdentifier(schema),
    pairs.map(([table]) => table),
    pairs.map(([, privilege]) => privilege),
  ]);
  return rows.map(({ role, table, privilege }) => ({
    role,
    what: `${privilege} on ${schema}.${table}`,
    grant: `GRANT ${privilege} ON ${sqlName(schema, table)} TO ${sqlName(role)}`,
  }));
}

/** @throws FatalError `DATABASE_REFUSED` with all privileges that the role lacks; nothing was read or written */
export async function requirePrivileges(client: PoolClient, schema: string, needed: NeededPrivileges): Promise<void> {
  const missing = await missingPrivileges(client, schema, needed);
  if (missing.length > 0) {
    const lacking = missing.map(({ what }) => what).join(', ');
    const grants = missing.map(({ grant }) => `${grant};`).join(' ');
    throw new FatalError(
      'DATABASE_REFUSED',
      `the role ${missing[0]?.role} lacks ${lacking}, which the consumer needs sooner or later. As the owner of the ` +
        `tables run: ${grants} Then start again (docs/database-roles.md)`,
    );
  }
}
