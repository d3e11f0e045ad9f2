import { DatabaseError, escapeIdentifier, type PoolClient } from 'pg';
import { describeProblem, type Problem } from '../../../settings/schema/problem.ts';
import { formattedTables } from '../../../settings/sections/formats.ts';
import type { NamedTopics } from '../../../settings/sections/tables/tables-of-topics.ts';
import { tablesOf } from '../../../settings/sections/tables.ts';
import type { Settings } from '../../../settings/settings.ts';
import { asStreamError } from '../../store/connection/refused-connections.ts';
import { sqlName } from '../../store/connection/sql-name.ts';
import { INSUFFICIENT_PRIVILEGE } from '../../store/connection/sqlstate.ts';
import { FilledTables, targetsBySettings } from '../../store/tables/filled-tables.ts';
import { missingVersions, requireMigrated, unknownVersions } from '../../store/tables/migrations.ts';
import { OwnTables, TABLE_NAMES } from '../../store/tables/own-tables.ts';
import { missingPrivileges, neededPrivileges } from '../../store/tables/privileges.ts';
import { readMappings } from '../../tables/mapping/read-mappings.ts';
import { type Finding, findingOf, ok, type Subject, warning, wrong } from './finding.ts';

const OWN: Subject = { area: 'PostgreSQL', check: 'own tables', name: '' };

/** What the role may do with the schema, and which tables of this program in it belong to others. */
interface SchemaRights {
  readonly role: string;
  readonly database: string;
  readonly hasSchema: boolean;
  readonly mayUse: boolean;
  /** Whether it may make tables in the schema; where there is none, the schema. */
  readonly mayCreate: boolean;
  /** Roles that own tables of this program, and that the role is not a member of. */
  readonly owners: readonly string[];
}

const RIGHTS = `
  SELECT current_user AS role, current_database() AS database, nsp.oid IS NOT NULL AS "hasSchema",
         coalesce(has_schema_privilege(nsp.oid, 'USAGE'), false) AS "mayUse",
         CASE WHEN nsp.oid IS NULL THEN has_database_privilege(current_database(), 'CREATE')
              ELSE has_schema_privilege(nsp.oid, 'CREATE') END AS "mayCreate",
         (SELECT coalesce(json_agg(DISTINCT pg_get_userbyid(relowner)), '[]') FROM pg_class
           WHERE relnamespace = nsp.oid AND relname = ANY ($2::text[])
             AND NOT pg_has_role(relowner, 'USAGE')) AS owners
    FROM (SELECT to_regnamespace($1)::oid AS oid) AS nsp`;

async function schemaRights(client: PoolClient, schema: string): Promise<SchemaRights> {
  const { rows } = await client.query<SchemaRights>(RIGHTS, [
    escapeIdentifier(schema),
    [...TABLE_NAMES, 'schema_migrations'],
  ]);
  const [rights] = rows;
  if (rights === undefined) {
    throw new Error('doctor: PostgreSQL answered without a row');
  }
  return rights;
}

/** What there is of the consumer's own tables. */
export interface OwnTablesReport {
  readonly findings: readonly Finding[];
  /** Whether they are there, with all that the consumer needs. */
  readonly areReady: boolean;
}

/** The consumer's own tables as its start looks for them, and each privilege that it needs sooner or later. */
export async function checkOwnTables(client: PoolClient, settings: Settings): Promise<OwnTablesReport> {
  const { schema, migrate } = settings.database;
  const rights = await schemaRights(client, schema);
  if (rights.hasSchema && !rights.mayUse) {
    const grant = `GRANT USAGE ON SCHEMA ${sqlName(schema)} TO ${sqlName(rights.role)}`;
    return {
      findings: [refusedStatement(`the role ${rights.role} may not use the schema ${schema}`, grant)],
      areReady: false,
    };
  }
  const privileges = await privilegeFindings(client, settings);
  const missing = rights.hasSchema ? await versionsToMake(client, schema) : ['all'];
  const making = migrate ? makingFindings(schema, rights, missing.length > 0) : [];
  if (missing.length > 0) {
    const findings = [...making, ...(migrate ? [] : [await unmigrated(client, schema)]), ...privileges];
    return { findings, areReady: false };
  }
  const wrongs = [...making, ...(await misfitFindings(client, schema)), ...privileges];
  const findings = wrongs.length > 0 ? wrongs : [await rightTables(client, schema)];
  return { findings, areReady: wrongs.length === 0 };
}

/** A role that may not read the versions lacks that privilege, which is a finding already. */
async function versionsToMake(client: PoolClient, schema: string): Promise<readonly string[]> {
  try {
    return (await missingVersions(client, schema)).missing;
  } catch (error) {
    if (error instanceof DatabaseError && error.code === INSUFFICIENT_PRIVILEGE) {
      return [];
    }
    throw error;
  }
}

const refusedStatement = (message: string, mend: string): Finding =>
  wrong(OWN, { message, code: 'DATABASE_REFUSED', mend });

/** What the role needs where the consumer makes and upgrades its tables: `CREATE` even where there is nothing to do. */
function makingFindings(schema: string, rights: SchemaRights, isAnyMissing: boolean): readonly Finding[] {
  const { role, database, hasSchema, mayCreate, owners } = rights;
  const alone =
    'or set database.migrate: false and run stream-consumer migrate as their owner (docs/database-roles.md)';
  if (!mayCreate) {
    const place = hasSchema ? `SCHEMA ${sqlName(schema)}` : `DATABASE ${sqlName(database)}`;
    const what = hasSchema ? `tables in the schema ${schema}` : `the schema ${schema}`;
    return [
      refusedStatement(
        `the role ${role} may not make ${what}`,
        `GRANT CREATE ON ${place} TO ${sqlName(role)}; ${alone}`,
      ),
    ];
  }
  if (isAnyMissing && owners.length > 0) {
    const message = `the role ${role} may not upgrade the tables: ${owners.join(', ')} owns them`;
    return [
      refusedStatement(
        message,
        `GRANT ${owners.map((owner) => sqlName(owner)).join(', ')} TO ${sqlName(role)}; ${alone}`,
      ),
    ];
  }
  return isAnyMissing ? [ok(OWN, `the consumer makes or upgrades them in the schema ${schema} at its start`)] : [];
}

async function unmigrated(client: PoolClient, schema: string): Promise<Finding> {
  try {
    await requireMigrated(client, schema);
    return ok(OWN, 'they were made meanwhile');
  } catch (error) {
    return findingOf(OWN, asStreamError(error));
  }
}

/** Of the tables that are there, each privilege that the role lacks. */
async function privilegeFindings(client: PoolClient, settings: Settings): Promise<readonly Finding[]> {
  const missing = await missingPrivileges(client, settings.database.schema, neededPrivileges(settings));
  return missing.map(({ role, what, grant }) =>
    wrong(
      { area: 'PostgreSQL', check: 'privilege', name: what },
      { message: `the role ${role} lacks it`, code: 'DATABASE_REFUSED', mend: grant },
    ),
  );
}

/** The columns and keys of the tables, as the start compares them. */
async function misfitFindings(client: PoolClient, schema: string): Promise<readonly Finding[]> {
  return new OwnTables(schema).require(client).then(
    () => [],
    (error: unknown) => [findingOf(OWN, asStreamError(error))],
  );
}

async function rightTables(client: PoolClient, schema: string): Promise<Finding> {
  const unknown = await unknownVersions(client, schema);
  const what = `in the schema ${schema}, with each privilege that the consumer needs`;
  return unknown.length === 0
    ? ok(OWN, what)
    : warning(OWN, `${what}; they are newer than this version, which does not know ${unknown.join(', ')}`);
}

/** The tables of the setting `tables`, as `tables check` compares them. */
export async function checkUserTables(
  client: PoolClient,
  { settings, isTemplated }: Pick<NamedTopics<Settings>, 'settings' | 'isTemplated'>,
): Promise<readonly Finding[]> {
  const tables = formattedTables(settings);
  const { entries } = await readMappings(client, tables, settings.database.schema, isTemplated);
  const found = entries.map(({ mapping, problems, isThere }, nth): readonly Finding[] => {
    const { schema = '', table = '', isUnwantedWhileMissing } = tables[nth] ?? {};
    if (mapping === null && !isThere && isUnwantedWhileMissing) {
      return [ok(userTable(`${schema}.${table}`), 'is not there, and missing: ignore asks for none')];
    }
    const { topics = [], columns = [] } = mapping ?? {};
    return mapping === null
      ? problems.map((problem) => misfitFinding(problem, settings))
      : [ok(userTable(`${schema}.${table}`), `${columns.length} columns take the records of ${topics.join(', ')}`)];
  });
  const isRight = (findings: readonly Finding[]): boolean => findings.every(({ status }) => status === 'ok');
  return [...found.filter(isRight), ...found.filter((findings) => !isRight(findings))].flat();
}

const userTable = (name: string): Subject => ({ area: 'PostgreSQL', check: 'table', name });

/** A problem as `tables check` prints it; what is allowed mends it. */
function misfitFinding(problem: Problem, settings: Settings): Finding {
  const place = /^tables\[\d+\](\([^()]*\))?/.exec(problem.path)?.[0];
  const entry = tablesOf(settings).find(({ path }, nth) => (path ?? `tables[${nth}]`) === place);
  const { schema = '', table = '' } = entry ?? {};
  const [message = ''] = describeProblem(problem).split('\n  allowed: ');
  return wrong(userTable(`${schema}.${table}`), { message, code: 'TABLES_DO_NOT_FIT', mend: problem.allowed });
}

/**
 * Whether another group fills tables of the user's from topics that this one would begin with.
 *
 * @param ids Kafka's ids of topics that have no stored offset, by their names
 */
export async function checkOtherGroups(
  client: PoolClient,
  settings: Settings,
  ids: ReadonlyMap<string, string>,
): Promise<readonly Finding[]> {
  const { database, kafka } = settings;
  const targets = targetsBySettings(() => settings);
  const filler = { schema: database.schema, groupId: kafka.groupId, targets, onShared: () => undefined };
  const findings: Finding[] = [];
  for (const [topic, id] of ids) {
    const subject = { area: 'PostgreSQL', check: 'tables of topic', name: topic } as const;
    await new FilledTables(filler).requireAlone(client, topic, id).catch((error: unknown) => {
      findings.push(findingOf(subject, asStreamError(error)));
    });
  }
  return findings;
}
