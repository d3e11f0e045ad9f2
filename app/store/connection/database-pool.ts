import pLimit from 'p-limit';
import type { Client, PoolClient } from 'pg';
import { PRODUCT_NAME } from '../../../contract/identity.ts';
import { milliseconds } from '../../../settings/schema/duration.ts';
import type { Settings } from '../../../settings/settings.ts';
import { type OutageWatch, UNWATCHED } from '../../logging/outage-log.ts';
import { FatalError, OutageError } from '../../stream/ports/stream-errors.ts';
import { databaseHosts, openConnection } from './database-connection.ts';
import { HostPools } from './host-pools.ts';
import { endWhenSilent } from './pg-internals.ts';
import { asStreamError, RefusedConnections } from './refused-connections.ts';
import { describeDatabaseError, isLockTimeout, isReadOnly, refusedParameter, troubleOf } from './sqlstate.ts';
import { type Timeouts, timeoutsOf } from './transaction.ts';

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

/** Work that has a connection for so long may wait for a lock. */
const SLOW_MS = 1_000;

/** Measures the connections of the pool, in seconds. */
export interface ConnectionTimes {
  /** `acquire`: from the request to having the connection; `usage`: having it; `creation`: opening a new one. */
  observe(what: 'acquire' | 'usage' | 'creation', seconds: number): void;
  /** A connection was not opened within `database.connectTimeout`. */
  timedOut(): void;
}

/** How pg and its pool say that a connection was not opened in time. */
const CONNECT_TIMEOUT = /^(Connection terminated due to connection timeout|timeout exceeded when trying to connect)/;

const keepsSession = (error: unknown): boolean =>
  error instanceof OutageError ? error.isLockWait || error.isBrief : isLockTimeout(error);

const isRolledBack = (client: PoolClient): Promise<boolean> =>
  client.query('ROLLBACK').then(
    () => true,
    () => false,
  );

/** Without metrics of the pool. */
const UNTIMED: ConnectionTimes = { observe: () => undefined, timedOut: () => undefined };

/** What a pool has beside its settings. */
interface PoolOptions {
  /** @default none */
  readonly times?: ConnectionTimes;
  /** Called for connections that failed, and for those that work. @default nothing is called */
  readonly outages?: OutageWatch;
  /** What the server calls its sessions. @default the product's name */
  readonly sessionName?: string;
  /** The settings of the moment, for each new connection. @default those of the start */
  readonly current?: () => Settings['database'];
  /** Pauses between connections that are refused, until it is final. @default none: the first refusal is */
  readonly refusalPausesMs?: () => readonly number[];
  /** Called once where the server asks for a password that others on the way can read. @default nothing is called */
  readonly warn?: (warning: string) => void;
  /** Called each second while work on a connection goes on. @default nothing is */
  readonly onSlow?: () => void;
}

/** How the pool is used right now. */
export interface PoolFigures {
  readonly active: number;
  readonly idle: number;
  /** Writers that wait for a connection. */
  readonly pending: number;
  readonly max: number;
}

/**
 * Connections for writing. Work on them either succeeds or rejects with one of two errors: {@link OutageError}, or
 * {@link FatalError} for trouble that only a person can mend.
 */
export class DatabasePool {
  readonly #pools: HostPools;
  readonly #current: () => Settings['database'];
  readonly #max: number;
  /** pg's pool would count the wait for a free connection as a failure to connect, so the wait is here. */
  readonly #limit: ReturnType<typeof pLimit>;
  readonly #onConnectionFailed: () => void;
  readonly #longestSilenceMs: number;
  readonly #times: ConnectionTimes;
  readonly #outages: OutageWatch;
  readonly #refusals: RefusedConnections;
  /** Connections that were opened and not used yet. */
  readonly #fresh = new WeakSet<object>();
  readonly #timeouts: Timeouts;
  readonly #onSlow: () => void;
  /** A connection pooler such as PgBouncer has refused the time-outs of a session. */
  #isPooled = false;
  #hasWarned = false;

  constructor(
    settings: Settings['database'],
    onConnectionFailed: () => void,
    {
      times = UNTIMED,
      outages = UNWATCHED,
      sessionName = PRODUCT_NAME,
      current = () => settings,
      refusalPausesMs = () => [],
      warn = () => undefined,
      onSlow = () => undefined,
    }: PoolOptions = {},
  ) {
    this.#current = current;
    this.#times = times;
    this.#onSlow = onSlow;
    this.#outages = outages;
    this.#max = settings.poolSize;
    this.#limit = pLimit(settings.poolSize);
    this.#onConnectionFailed = onConnectionFailed;
    this.#longestSilenceMs = milliseconds(settings.statementTimeout) + SILENCE_MARGIN_MS;
    this.#timeouts = timeoutsOf(settings);
    this.#refusals = new RefusedConnections(refusalPausesMs);
    this.#pools = new HostPools({
      hosts: () =>
        databaseHosts(current()).map(({ config, ...host }) => ({
          ...host,
          config: { ...config, ...(this.#isPooled ? {} : this.#timeouts), application_name: sessionName },
        })),
      max: settings.poolSize,
      onOpened: (client) => this.#opened(client),
      warn: (warning) => this.#warnOnce(warn, warning),
    });
  }

  /**
   * Runs `work` on a connection. When it rejects, the connection is closed instead of reused: its transaction may still
   * be open. Only one that waited for a lock in vain, or is tried again at once, is rolled back: the next connection
   * would have to read all tables from the catalog and make their stages first, while the others wait for it.
   *
   * @throws OutageError when PostgreSQL is away or busy
   * @throws FatalError `DATABASE_REFUSED` when a person has to change something, or the one that `work` threw
   */
  withClient<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    const askedAt = performance.now();
    return this.#limit(async () => {
      const client = await this.#connect().catch((error: unknown) => {
        this.#outages.failed(describeDatabaseError(error instanceof Error ? (error.cause ?? error) : error));
        throw error;
      });
      try {
        const result = await this.#withConnected(client, work, askedAt);
        this.#outages.worked();
        return result;
      } catch (error) {
        throw this.#reported(asStreamError(error));
      }
    });
  }

  figures(): PoolFigures {
    const { activeCount, pendingCount } = this.#limit;
    return { active: activeCount, idle: this.#pools.idleCount, pending: pendingCount, max: this.#max };
  }

  /** A connection that does not belong to the pool. */
  async openBeside(): Promise<Client> {
    return (await openConnection(this.#current())).client;
  }

  close(): Promise<void> {
    return this.#pools.end();
  }

  #warnOnce(warn: (warning: string) => void, warning: string): void {
    if (!this.#hasWarned) {
      this.#hasWarned = true;
      warn(warning);
    }
  }

  #opened(client: PoolClient): void {
    this.#fresh.add(client);
    // An idle connection that the other side ends costs nothing: it is opened again when it is needed.
    client.on('error', () => undefined);
    if (!this.#isPooled) {
      client.query(SERVER_KEEP_ALIVE).catch(() => undefined);
    }
  }

  /** A connection that broke is an outage; one over which PostgreSQL refused something works. */
  #reported(error: OutageError | FatalError): OutageError | FatalError {
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
    const slow = setInterval(this.#onSlow, SLOW_MS);
    try {
      const result = await work(client);
      isSound = true;
      return result;
    } catch (error) {
      if (troubleOf(error) === 'database_away') {
        this.#onConnectionFailed();
      }
      if (isReadOnly(error)) {
        void this.#pools.end();
      }
      isSound = keepsSession(error) && (await isRolledBack(client));
      throw error;
    } finally {
      watch.stop();
      clearInterval(slow);
      client.release(!isSound);
      this.#times.observe('usage', (performance.now() - connectedAt) / 1_000);
    }
  }

  async #connect(): Promise<PoolClient> {
    const beganAt = performance.now();
    if (this.#pools.idleCount === 0) {
      this.#refusals.requireTurn(beganAt, this.#current());
    }
    try {
      const client = await this.#pools.connect().catch((error: unknown) => this.#connectPooled(error));
      if (this.#fresh.delete(client)) {
        this.#refusals.ended();
        this.#times.observe('creation', (performance.now() - beganAt) / 1_000);
      }
      return client;
    } catch (error) {
      this.#onConnectionFailed();
      if (error instanceof Error && CONNECT_TIMEOUT.test(error.message)) {
        this.#times.timedOut();
      }
      throw this.#failed(asStreamError(error, { credentialsFrom: this.#current().credentialsFrom }), beganAt);
    }
  }

  #failed(error: OutageError | FatalError, beganAt: number): OutageError | FatalError {
    if (error instanceof FatalError && error.code === 'DATABASE_REFUSED') {
      return this.#refusals.refused(error, beganAt, performance.now());
    }
    this.#refusals.ended();
    return error;
  }

  /**
   * Connects again without what a connection pooler refuses: the session may be another one for each transaction, so
   * nothing is set in it. Transactions that write have the time-outs in themselves.
   */
  #connectPooled(error: unknown): Promise<PoolClient> {
    const refused = refusedParameter(error);
    if (refused === null || !(refused in this.#timeouts) || this.#isPooled) {
      throw error;
    }
    this.#isPooled = true;
    return this.#pools.connect();
  }
}
