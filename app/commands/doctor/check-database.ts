import type { PoolClient } from 'pg';
import type { Settings } from '../../../settings/settings.ts';
import { type DatabaseHost, databaseHosts, openHost } from '../../store/connection/database-connection.ts';
import { asStreamError } from '../../store/connection/refused-connections.ts';
import { isReadOnly } from '../../store/connection/sqlstate.ts';
import { readPlace } from '../../store/postgres-sink.ts';
import { requireServer, TESTED_POSTGRES } from '../../store/tables/migrations.ts';
import { readPositions } from '../../store/tables/offsets-table.ts';
import type { WritePlace } from '../../stream/ports/record-sink.ts';
import { FatalError } from '../../stream/ports/stream-errors.ts';
import { away, type Finding, findingOf, ok, type Subject, warning, within } from './finding.ts';

type DatabaseSettings = Settings['database'];

/** How a host took a connection. */
interface HostAnswer {
  readonly host: DatabaseHost;
  /** The role of the session. Left out: no connection came about. */
  readonly role?: string;
  readonly server?: Finding;
  /** A login that others on the way can read. */
  readonly warnings: readonly string[];
  readonly error?: unknown;
}

/** What the hosts say of themselves. */
export interface DatabaseReach {
  readonly findings: readonly Finding[];
  /** Whether any of them takes the consumer's writes, and can have its tables. */
  readonly isUsable: boolean;
}

/** An error of pg in this consumer's words. */
export const databaseFinding = (subject: Subject, error: unknown, { credentialsFrom }: DatabaseSettings): Finding =>
  findingOf(subject, asStreamError(error, { credentialsFrom }));

async function askHost(host: DatabaseHost): Promise<HostAnswer> {
  const warnings: string[] = [];
  try {
    const client = await openHost(host, { warn: (warning) => warnings.push(warning) });
    try {
      const { rows } = await client.query<{ role: string }>('SELECT current_user AS role');
      return { host, warnings, role: rows[0]?.role ?? '', server: await serverFinding(client, host.name) };
    } finally {
      await client.end();
    }
  } catch (error) {
    return { host, warnings, error };
  }
}

async function serverFinding(client: Pick<PoolClient, 'query'>, name: string): Promise<Finding> {
  const subject = { area: 'PostgreSQL', check: 'server', name } as const;
  try {
    const { version, major } = await requireServer(client);
    const { newest } = TESTED_POSTGRES;
    return major > newest
      ? warning(subject, {
          message: `PostgreSQL ${version} is newer than ${newest}, the newest that this version was tested with`,
          mend: 'look for a newer version of stream-consumer',
        })
      : ok(subject, `PostgreSQL ${version}, UTF8`);
  } catch (error) {
    return findingOf(subject, asStreamError(error));
  }
}

/** Connects to each host of the URL as the consumer does, with its TLS and its login. */
export async function checkHosts(database: DatabaseSettings): Promise<DatabaseReach> {
  const hosts = databaseHosts(database);
  const answers = await Promise.all(
    hosts.map(
      async (host): Promise<HostAnswer> =>
        (await within(askHost(host))) ?? { host, warnings: [], error: new Error('timeout expired') },
    ),
  );
  const errors = answers.flatMap(({ error }) => (error === undefined ? [] : [error]));
  const isReached = errors.length < answers.length;
  const [only] = errors;
  // Of several hosts, one that is away may be the one that lets the consumer in.
  const isRefused =
    !isReached && asStreamError(errors.length === 1 ? only : new AggregateError(errors)) instanceof FatalError;
  const findings = answers.flatMap((answer) => [
    hostFinding(answer, { database, isReached, isRefused }),
    ...answer.warnings.map((each) => warning(hostSubject(answer.host), each)),
    ...(answer.server === undefined ? [] : [answer.server]),
  ]);
  return { findings, isUsable: answers.some(({ server }) => server !== undefined && server.status !== 'wrong') };
}

const hostSubject = ({ name }: DatabaseHost): Subject => ({ area: 'PostgreSQL', check: 'host', name });

interface AllHosts {
  readonly database: DatabaseSettings;
  readonly isReached: boolean;
  readonly isRefused: boolean;
}

function hostFinding({ host, role, error }: HostAnswer, { database, isReached, isRefused }: AllHosts): Finding {
  const subject = hostSubject(host);
  if (error === undefined) {
    return ok(subject, `lets the consumer in as ${role}`);
  }
  if (isReached && isReadOnly(error)) {
    return ok(subject, 'answers, and takes no writes now: another host does');
  }
  const finding = databaseFinding(subject, error, database);
  if (finding.status !== 'wrong' || isRefused) {
    return finding;
  }
  return isReached
    ? warning(subject, `${finding.message}. Another host lets the consumer in`)
    : away(subject, `${finding.message}. Another host is away, and may let the consumer in`);
}

/** What other checks need of the database. */
export interface DatabaseFacts {
  readonly place: WritePlace;
  /** Topics of which the group has a stored offset. */
  readonly stored: ReadonlySet<string>;
}

/** @param hasOffsets whether the table of the offsets is there, and may be read */
export async function readFacts(
  client: PoolClient,
  { database: { schema }, kafka: { groupId } }: Settings,
  { topics, hasOffsets }: { readonly topics: readonly string[]; readonly hasOffsets: boolean },
): Promise<DatabaseFacts> {
  const place = await readPlace(client, schema);
  const positions = hasOffsets ? await readPositions(client, schema, groupId, topics) : [];
  return { place, stored: new Set(positions.map(({ topic }) => topic)) };
}
