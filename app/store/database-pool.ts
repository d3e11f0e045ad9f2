import pLimit from 'p-limit';
import pg, { type PoolClient, type PoolConfig } from 'pg';
import { parseIntoClientConfig } from 'pg-connection-string';
import { PRODUCT_NAME } from '../../contract/identity.ts';
import { milliseconds } from '../../settings/duration.ts';
import type { Settings } from '../../settings/settings.ts';
import { type OutageWatch, UNWATCHED } from '../outage-log.ts';
import { FatalError, OutageError } from '../stream/stream-errors.ts';
import { endWhenSilent } from './pg-internals.ts';
import { describeDatabaseError, refusedParameter, troubleOf, verdictOn } from './sqlstate.ts';
import { type Timeouts, timeoutsOf } from './transaction.ts';

/** An error of verdict `unknown` may pass or not: after so many in a row it does not. */
const UNKNOWN_ATTEMPTS = 10;

/**
 * Idle connections ask after this time whether the other side is still there, instead of after the system's two hours.
 */
const KEEP_ALIVE_MS = 10_000;

/**
 * The server probes a silent connection after 10 s, and gives up 15 s later: no other time-out of the server ends a
 * transaction of a machine that has vanished in the middle of a COPY, and until then its lock keeps the next owner
 * waiting.
 */
const SERVER_KEEP_ALIVE = 'SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3';

/**
 * Longer than the server's own time-out of a statement by this much: a server that keeps silent beyond it is frozen or
 * unreachable, or so slow with a COPY and the COMMIT that follows in the same message that trying a smaller batch is no
 * loss.
 */
const SILENCE_MARGIN_MS = 5_000;

/** Told how long things of the pool's connections took, in seconds. */
export interface ConnectionTimes {
  /** `acquire`: from the request to having the connection; `usage`: having it; `creation`: opening a new one. */
  observe(what: 'acquire' | 'usage' | 'creation', seconds: number): void;
  /** A connection was not opened within `database.connectTimeout`. */
  timedOut(): void;
}

/** How pg and its pool say that a connection was not opened in time. */
const CONNECT_TIMEOUT = /^(Connection terminated due to connection timeout|timeout exceeded when trying to connect)/;

/** Without metrics of the pool. */
const UNTIMED: ConnectionTimes = { observe: () => undefined, timedOut: () => undefined };

/** What a pool has beside its settings. */
interface PoolOptions {
  /** @default none */
  readonly times?: ConnectionTimes;
  /** Told of connections that failed, and of those that work. @default nothing is told */
  readonly outages?: OutageWatch;
  /** What the server calls its sessions. @default the product's name */
  readonly sessionName?: string;
}

/** How the pool is used right now. */
export interface PoolFigures {
  readonly active: number;
  readonly idle: number;
  readonly pending: number;
  readonly max: number;
}

/**
 * Settings of every connection.
 *
 * The URL is taken apart here, because pg lets a connection string win over the user and password beside it.
 */
export function connectionConfig(settings: Settings['database']): PoolConfig {
  const { url, user, password, connectTimeout } = settings;
  return {
    ...parseIntoClientConfig(url),
    ...(user === undefined ? {} : { user }),
    ...(password === undefined ? {} : { password }),
    application_name: PRODUCT_NAME,
    connectionTimeoutMillis: milliseconds(connectTimeout),
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
  };
}

/**
 * Connections for writing. Work on them either succeeds or rejects with one of two errors: {@link OutageError}, or
 * {@link FatalError} for trouble that only a person can mend.
 */
export class DatabasePool {
  readonly #pool: pg.Pool;
  readonly #max: number;
  /** pg's pool would count the wait for a free connection as a failure to connect, so the wait is here. */
  readonly #limit: ReturnType<typeof pLimit>;
  readonly #onConnectionFailed: () => void;
  readonly #longestSilenceMs: number;
  readonly #times: ConnectionTimes;
  readonly #outages: OutageWatch;
  /** Connections that were opened and not used yet. */
  readonly #fresh = new WeakSet<object>();
  readonly #timeouts: Timeouts;
  /** A connection pooler such as PgBouncer has refused the time-outs of a session. */
  #isPooled = false;

  constructor(
    settings: Settings['database'],
    onConnectionFailed: () => void,
    { times = UNTIMED, outages = UNWATCHED, sessionName = PRODUCT_NAME }: PoolOptions = {},
  ) {
    this.#times = times;
    this.#outages = outages;
    this.#max = settings.poolSize;
    this.#limit = pLimit(settings.poolSize);
    this.#onConnectionFailed = onConnectionFailed;
    this.#longestSilenceMs = milliseconds(settings.statementTimeout) + SILENCE_MARGIN_MS;
    this.#timeouts = timeoutsOf(settings);
    const config = { ...connectionConfig(settings), ...this.#timeouts, application_name: sessionName };
    this.#pool = new pg.Pool({ ...config, max: settings.poolSize, maxLifetimeSeconds: 1_800 });
    this.#pool.on('error', () => undefined);
    this.#pool.on('connect', (client) => {
      this.#fresh.add(client);
      // An idle connection that the other side ends costs nothing: it is opened again when it is needed.
      client.on('error', () => undefined);
      if (!this.#isPooled) {
        client.query(SERVER_KEEP_ALIVE).catch(() => undefined);
      }
    });
  }

  /**
   * Runs `work` on a connection. When it rejects, the connection is closed instead of reused: its transaction may still
   * be open.
   *
   * @throws OutageError when PostgreSQL is away or busy
   * @throws FatalError `DATABASE_REFUSED` when a person has to change something, or the one that `work` threw
   */
  withClient<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    const askedAt = performance.now();
    return this.#limit(async () => {
      const client = await this.#connect().catch((error: unknown) => {
        this.#outages.failed(describeDatabaseError(error));
        throw asStreamError(error);
      });
      try {
        const result = await this.#withConnected(client, work, askedAt);
        this.#outages.worked();
        return result;
      } catch (error) {
        throw this.#told(asStreamError(error));
      }
    });
  }

  figures(): PoolFigures {
    const { totalCount, idleCount } = this.#pool;
    return { active: totalCount - idleCount, idle: idleCount, pending: this.#limit.pendingCount, max: this.#max };
  }

  async close(): Promise<void> {
    await this.#pool.end().catch(() => undefined);
  }

  /** A connection that broke is an outage; one over which PostgreSQL refused something works. */
  #told(error: OutageError | FatalError): OutageError | FatalError {
    if (error instanceof OutageError && error.reason === 'database_away') {
      this.#outages.failed(describeDatabaseError(error.cause));
    } else {
      this.#outages.worked();
    }
    return error;
  }

  async #withConnected<T>(client: PoolClient, work: (client: PoolClient) => Promise<T>, askedAt: number): Promise<T> {
    const connectedAt = performance.now();
    this.#times.observe('acquire', (connectedAt - askedAt) / 1_000);
    let isSound = false;
    const watch = endWhenSilent(client, this.#longestSilenceMs);
    try {
      const result = await work(client);
      isSound = true;
      return result;
    } catch (error) {
      if (troubleOf(error) === 'database_away') {
        this.#onConnectionFailed();
      }
      throw error;
    } finally {
      watch.stop();
      client.release(!isSound);
      this.#times.observe('usage', (performance.now() - connectedAt) / 1_000);
    }
  }

  async #connect(): Promise<PoolClient> {
    const beganAt = performance.now();
    try {
      const client = await this.#pool.connect().catch((error: unknown) => this.#connectPooled(error));
      if (this.#fresh.delete(client)) {
        this.#times.observe('creation', (performance.now() - beganAt) / 1_000);
      }
      return client;
    } catch (error) {
      this.#onConnectionFailed();
      if (error instanceof Error && CONNECT_TIMEOUT.test(error.message)) {
        this.#times.timedOut();
      }
      throw error;
    }
  }
  /**
   * Connects again without what a connection pooler refuses: the session may be another one for each transaction, so
   * nothing is set in it. Transactions that write have the time-outs in themselves.
   */
  #connectPooled(error: unknown): Promise<PoolClient> {
    const refused = refusedParameter(error);
    if (refused === null || !(refused in this.#timeouts)) {
      throw error;
    }
    this.#isPooled = true;
    for (const name of Object.keys(this.#timeouts)) {
      delete this.#pool.options[name as keyof Timeouts];
    }
    return this.#pool.connect();
  }
}

/** A mistake in the program; waiting for PostgreSQL would not mend it. */
const isProgramError = (error: unknown): boolean =>
  error instanceof TypeError ||
  error instanceof RangeError ||
  error instanceof ReferenceError ||
  error instanceof SyntaxError;

function asStreamError(error: unknown): OutageError | FatalError {
  if (error instanceof OutageError || error instanceof FatalError) {
    return error;
  }
  if (isProgramError(error)) {
    return FatalError.from(error);
  }
  const description = describeDatabaseError(error);
  const verdict = verdictOn(error);
  if (verdict === 'retry') {
    return new OutageError(`PostgreSQL cannot do it for now: ${description}`, {
      cause: error,
      reason: troubleOf(error),
    });
  }
  if (verdict === 'unknown') {
    return new OutageError(`PostgreSQL failed: ${description}`, { cause: error, attempts: UNKNOWN_ATTEMPTS });
  }
  const parameter = refusedParameter(error);
  const advice =
    parameter === null
      ? 'check database.url, the role and its rights on the schema, then start again'
      : `a connection pooler is in the way: leave "${parameter}" out of database.url, or name it in PgBouncer's ` +
        'ignore_startup_parameters (docs/pgbouncer.md), then start again';
  return new FatalError('DATABASE_REFUSED', `PostgreSQL refused: ${description}; ${advice}`, { cause: error });
}
