import pg, { type PoolClient } from 'pg';
import { createClient, type DatabaseHost, firstHost, requireSession } from './database-connection.ts';

/** Longer than a failover of PostgreSQL takes, so that connections spread over hosts and poolers again. */
const LONGEST_LIFE_SECONDS = 1_800;

/** An idle connection stays open until then: the next one would make a temporary table for each table with a key. */
const NEVER = 0;

interface HostPool {
  readonly pool: pg.Pool;
  /** As the next connection meets it. */
  host: DatabaseHost;
}

interface HostPoolsOptions {
  /** The hosts of the moment, asked for at each new connection. */
  readonly hosts: () => readonly DatabaseHost[];
  /** Connections at a time, to all hosts together. */
  readonly max: number;
  readonly onOpened: (client: PoolClient) => void;
  /** Receives a warning of a login that others on the way can read. */
  readonly warn: (warning: string) => void;
}

/** Connections to the first of several hosts that takes them; one that waits unused is taken first. */
export class HostPools {
  readonly #options: HostPoolsOptions;
  readonly #byPlace = new Map<number, HostPool>();

  constructor(options: HostPoolsOptions) {
    this.#options = options;
  }

  get idleCount(): number {
    return [...this.#byPlace.values()].reduce((sum, { pool }) => sum + pool.idleCount, 0);
  }

  /** @throws the error of the one host, or an AggregateError with those of all */
  async connect(): Promise<PoolClient> {
    const unused = [...this.#byPlace.values()].find(({ pool }) => pool.idleCount > 0);
    if (unused !== undefined) {
      return unused.pool.connect();
    }
    return firstHost(this.#options.hosts(), (host, nth) => this.#connectTo(host, nth));
  }

  /** Ends the connections that wait unused now, and the others when they are given back. */
  async end(): Promise<void> {
    const pools = [...this.#byPlace.values()];
    this.#byPlace.clear();
    await Promise.all(pools.map(({ pool }) => pool.end().catch(() => undefined)));
  }

  async #connectTo(host: DatabaseHost, nth: number): Promise<PoolClient> {
    const client = await this.#poolOf(host, nth).connect();
    try {
      await requireSession(client, host, host.config.connectionTimeoutMillis);
      return client;
    } catch (error) {
      client.release(true);
      throw error;
    }
  }

  #poolOf(host: DatabaseHost, nth: number): pg.Pool {
    const known = this.#byPlace.get(nth);
    if (known !== undefined) {
      known.host = host;
      return known.pool;
    }
    const opened = this.#open(host);
    this.#byPlace.set(nth, opened);
    return opened.pool;
  }

  /** pg's pool would always connect with the settings that it was made with. */
  #open(host: DatabaseHost): HostPool {
    const { warn } = this.#options;
    function Client(): pg.Client {
      return createClient(opened.host, warn);
    }
    const pool = new pg.Pool({
      Client: Client as unknown as typeof pg.Client,
      max: this.#options.max,
      connectionTimeoutMillis: host.config.connectionTimeoutMillis,
      maxLifetimeSeconds: LONGEST_LIFE_SECONDS,
      idleTimeoutMillis: NEVER,
    });
    const opened: HostPool = { pool, host };
    pool.on('error', () => undefined);
    pool.on('connect', this.#options.onOpened);
    return opened;
  }
}
