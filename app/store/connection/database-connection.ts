import pg, { type ClientBase, type ClientConfig, DatabaseError } from 'pg';
import { parseIntoClientConfig } from 'pg-connection-string';
import { PRODUCT_NAME } from '../../../contract/identity.ts';
import { milliseconds } from '../../../settings/schema/duration.ts';
import { asksForTls, readDatabaseUrl } from '../../../settings/sections/database-url.ts';
import type { Settings } from '../../../settings/settings.ts';
import { rdsPassword } from '../../credentials/aws-identity.ts';
import { readTls } from '../../credentials/tls-files.ts';
import { plainSocket } from '../../network/plain-socket.ts';
import {
  boundMessages,
  destroySocket,
  requireChannelBinding,
  watchChannelBinding,
  watchExposedPassword,
} from './pg-internals.ts';
import { describeDatabaseError, READ_ONLY_SQL_TRANSACTION } from './sqlstate.ts';

type Database = Settings['database'];

const DEFAULT_PORT = 5_432;

/**
 * Idle connections ask after this time whether the other side is still there, instead of after the system's two hours.
 */
const KEEP_ALIVE_AFTER_MS = 10_000;

/** The URL's parameters that are followed here, and not by pg, which prints a warning about `sslmode`. */
const FOLLOWED_HERE = [
  ...['sslmode', 'ssl', 'sslrootcert', 'sslcert', 'sslkey', 'uselibpqcompat'],
  ...['channel_binding', 'target_session_attrs'],
];

function withoutFollowed(url: URL): string {
  const left = new URL(url);
  for (const name of FOLLOWED_HERE) {
    left.searchParams.delete(name);
  }
  return left.href;
}

/** What of the server's certificate is verified; only `uselibpqcompat=true` has the weaker meanings of libpq. */
function verification(parameters: URLSearchParams, hasAuthority: boolean) {
  const mode = parameters.get('sslmode');
  const isCompatible = parameters.get('uselibpqcompat') === 'true';
  const isUnverified = isCompatible && (mode === 'prefer' || (mode === 'require' && !hasAuthority));
  if (mode === 'no-verify' || isUnverified) {
    return { rejectUnauthorized: false };
  }
  const anyName = isCompatible && (mode === 'require' || mode === 'verify-ca');
  return anyName ? { checkServerIdentity: () => undefined } : {};
}

/** TLS as pg takes it, with the certificates as they are now; undefined where nothing is said of TLS. */
function tlsConfig(parameters: URLSearchParams, tls: Database['tls']): ClientConfig['ssl'] {
  const asks = asksForTls(parameters) ?? (tls === undefined ? null : true);
  if (asks !== true) {
    return asks ?? undefined;
  }
  const named = { sslrootcert: 'ca', sslcert: 'certificate', sslkey: 'privateKey' };
  const ofUrl = Object.entries(named).flatMap(([name, part]) => {
    const value = parameters.get(name);
    return value === null ? [] : [[part, value]];
  });
  const material = readTls('database.tls', { ...Object.fromEntries(ofUrl), ...tls });
  return { ...material, ...verification(parameters, material.ca !== undefined) };
}

/** What a session has to be able to do: `target_session_attrs`, of which a writer has use for three. */
type SessionAttributes = 'any' | 'read-write' | 'primary';

/** A host that may be connected to. */
export interface DatabaseHost {
  /** For messages. */
  readonly name: string;
  readonly config: ClientConfig;
  readonly session: SessionAttributes;
  /** Whether a login has to be bound to the server's certificate. */
  readonly isBound: boolean;
}

/**
 * A client that has not begun to connect.
 *
 * @param warn receives a warning of a login that others on the way can read. @default none is given
 */
export function createClient({ config, isBound }: DatabaseHost, warn?: (warning: string) => void): pg.Client {
  const client = new pg.Client(config.ssl ? config : { ...config, stream: plainSocket });
  boundMessages(client);
  if (isBound) {
    watchChannelBinding(client);
  }
  if (warn !== undefined) {
    watchExposedPassword(client, (asked) =>
      warn(
        `PostgreSQL at ${client.host}:${client.port} asks for ${asked}; set sslmode=verify-full in database.url, or ` +
          'scram-sha-256 in the pg_hba.conf of the server',
      ),
    );
  }
  return client;
}

/** Of several hosts one takes writes. With one host it is as libpq's. */
function sessionAttributes(url: URL, hosts: number): SessionAttributes {
  const chosen = url.searchParams.get('target_session_attrs');
  return chosen === 'any' || chosen === 'read-write' || chosen === 'primary'
    ? chosen
    : hosts > 1
      ? 'read-write'
      : 'any';
}

/**
 * The hosts of the URL in their order, with the settings, secrets and certificates of the moment.
 *
 * The URL is taken apart here, because pg lets a connection string win over the user and password beside it.
 *
 * @throws Error when a file with a certificate cannot be read
 */
export function databaseHosts(settings: Database): readonly DatabaseHost[] {
  const urls = readDatabaseUrl(settings.url);
  return urls.map((url) => ({
    name: url.host,
    session: sessionAttributes(url, urls.length),
    isBound: url.searchParams.get('channel_binding') === 'require',
    config: connectionConfig(settings, url),
  }));
}

function connectionConfig({ user, password, connectTimeout, tls, rdsIam }: Database, url: URL): ClientConfig {
  const ssl = tlsConfig(url.searchParams, tls);
  const config = {
    ...parseIntoClientConfig(withoutFollowed(url)),
    ...(user === undefined ? {} : { user }),
    ...(password === undefined ? {} : { password }),
    ...(ssl === undefined ? {} : { ssl }),
    enableChannelBinding: typeof ssl === 'object' && url.searchParams.get('channel_binding') !== 'disable',
    application_name: PRODUCT_NAME,
    connectionTimeoutMillis: milliseconds(connectTimeout),
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
  };
  const database = { host: config.host ?? '', port: config.port ?? DEFAULT_PORT, user: config.user ?? '' };
  return rdsIam.enabled ? { ...config, password: () => rdsPassword(rdsIam.region, database) } : config;
}

/**
 * The first host that `connect` does not reject for.
 *
 * @throws the error of the one host, or an AggregateError with those of all
 */
export async function firstHost<T>(
  hosts: readonly DatabaseHost[],
  connect: (host: DatabaseHost, nth: number) => Promise<T>,
): Promise<T> {
  const errors: unknown[] = [];
  for (const [nth, host] of hosts.entries()) {
    try {
      return await connect(host, nth);
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length === 1) {
    throw errors[0];
  }
  const all = errors.map((error, nth) => `${hosts[nth]?.name}: ${describeDatabaseError(error)}`);
  throw new AggregateError(errors, all.join('; '));
}

/** What is asked, to which `on` is the answer that must not come, and what it then means. */
const SESSION_QUESTIONS = {
  'read-write': {
    sql: 'SHOW transaction_read_only',
    refusal: 'the session is read-only: this server takes no writes now',
  },
  primary: { sql: "SELECT CASE WHEN pg_is_in_recovery() THEN 'on' END", refusal: 'this server is a standby now' },
} as const;

/**
 * Makes sure that a session is what the URL asks for: `channel_binding`, and `target_session_attrs`, for which the
 * server is asked, as libpq does.
 *
 * @param timeoutMs @default that of the client's queries
 * @throws DatabaseError of SQLSTATE 25006 when a failover is under way, or another host takes the writes
 * @throws Error when the login was not bound to the server's certificate
 */
export async function requireSession(
  client: ClientBase,
  { session, isBound }: DatabaseHost,
  timeoutMs?: number,
): Promise<void> {
  if (isBound) {
    requireChannelBinding(client);
  }
  if (session === 'any') {
    return;
  }
  const { sql, refusal } = SESSION_QUESTIONS[session];
  const query = { text: sql, rowMode: 'array' as const, ...(timeoutMs && { query_timeout: timeoutMs }) };
  const { rows } = await client.query<[string | null]>(query);
  if (rows[0]?.[0] === 'on') {
    throw Object.assign(new DatabaseError(refusal, 0, 'error'), { code: READ_ONLY_SQL_TRANSACTION });
  }
}

/**
 * A connection beside those of the pool, to the first host that takes it.
 *
 * @param more settings beside those of every connection
 * @param signal ends the attempt
 */
export async function openConnection(
  settings: Database,
  more: ClientConfig = {},
  signal?: AbortSignal,
): Promise<{ readonly client: pg.Client; readonly host: DatabaseHost }> {
  return firstHost(databaseHosts(settings), async (host) => {
    const config = { ...host.config, ...more };
    return { client: await openHost({ ...host, config }, signal === undefined ? {} : { signal }), host };
  });
}

/**
 * A connection beside those of the pool, to one host.
 *
 * @param signal ends the attempt
 * @param warn receives a warning of a login that others on the way can read. @default none is given
 */
export async function openHost(
  host: DatabaseHost,
  { signal, warn }: { readonly signal?: AbortSignal; readonly warn?: (warning: string) => void } = {},
): Promise<pg.Client> {
  signal?.throwIfAborted();
  const client = createClient(host, warn);
  const destroy = (): void => destroySocket(client);
  client.on('error', () => undefined);
  signal?.addEventListener('abort', destroy);
  try {
    await client.connect();
    await requireSession(client, host, host.config.connectionTimeoutMillis);
    return client;
  } catch (error) {
    destroy();
    throw error;
  } finally {
    signal?.removeEventListener('abort', destroy);
  }
}
