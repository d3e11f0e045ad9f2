import { isDeepStrictEqual } from 'node:util';
import type pg from 'pg';
import type { Settings } from '../../settings/settings.ts';
import { type DatabaseHost, openConnection, requireSession } from './connection/database-connection.ts';
import { destroySocket } from './connection/pg-internals.ts';
import { troubleOf, verdictOn } from './connection/sqlstate.ts';

/** Below the health indicator's own time-out, so that the verdict names the reason. */
const CHECK_TIMEOUT_MS = 7_000;

/** Servers may lock a role after some refused logins, so the same one is not tried again at each check. */
const REFUSED_PAUSE_MS = 10_000;

/** Settings that were refused, and how long they are not tried again. */
interface RefusedSettings {
  readonly settings: Settings['database'];
  readonly error: unknown;
  /** By a clock that is never set. */
  readonly until: number;
}

/**
 * Asks PostgreSQL for a sign of life on a connection beside the pool, opened anew after a failure: a busy pool is not a
 * dead database. Opening it may take as long as it may for a writer, over several checks; none of them is UP before.
 *
 * A connection that the other side ends between two checks is no failure: the next check opens another one.
 */
export class ConnectionCheck {
  readonly #settings: () => Settings['database'];
  readonly #onConnectionFailed: () => void;
  #connection: CheckConnection | null = null;
  #refused: RefusedSettings | null = null;

  /**
   * @param settings those of the moment, for each new connection
   * @param onConnectionFailed called once for each connection that could not be opened, or broke in the middle of a
   * check
   */
  constructor(settings: () => Settings['database'], onConnectionFailed: () => void) {
    this.#settings = settings;
    this.#onConnectionFailed = onConnectionFailed;
  }

  async check(signal: AbortSignal): Promise<void> {
    this.#connection ??= this.#connect(this.#settingsToTry());
    const asked = this.#connection;
    const { client, host } = await beforeAbort(asked.opening, signal);
    const asking = host.session === 'any' ? client.query('SELECT 1') : requireSession(client, host);
    await asking.catch((error: unknown) => {
      if (troubleOf(error) === 'database_away') {
        this.#onConnectionFailed();
      }
      this.#forget(asked);
      destroySocket(client);
      throw error;
    });
  }

  async close(): Promise<void> {
    const closing = this.#connection;
    this.#connection = null;
    closing?.ending.abort();
    await closing?.client?.end().catch(() => undefined);
  }

  /** The settings to connect with; the same ones that were refused a moment ago are not tried. */
  #settingsToTry(): Settings['database'] {
    const current = this.#settings();
    const refused = this.#refused;
    if (refused !== null && performance.now() < refused.until && isDeepStrictEqual(current, refused.settings)) {
      throw refused.error;
    }
    return current;
  }

  #connect(current: Settings['database']): CheckConnection {
    const ending = new AbortController();
    const open = async (): Promise<Opened> => {
      try {
        const found = await openConnection(current, { query_timeout: CHECK_TIMEOUT_MS }, ending.signal);
        opened.client = found.client;
        found.client.on('error', () => this.#forget(opened));
        return found;
      } catch (error) {
        this.#onConnectionFailed();
        this.#forget(opened);
        const isRefused = verdictOn(error) === 'stop';
        const until = performance.now() + REFUSED_PAUSE_MS;
        this.#refused = isRefused ? { settings: current, error, until } : null;
        throw error;
      }
    };
    const opened: CheckConnection = { ending, opening: open(), client: null };
    return opened;
  }

  #forget(lost: CheckConnection): void {
    this.#connection = this.#connection === lost ? null : this.#connection;
  }
}

interface Opened {
  readonly client: pg.Client;
  readonly host: DatabaseHost;
}

/** A connection that is open, or is being opened. */
interface CheckConnection {
  readonly ending: AbortController;
  readonly opening: Promise<Opened>;
  client: pg.Client | null;
}

/** The result of the work, unless the signal is aborted before; the work goes on in any case. */
function beforeAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
  return Promise.race([work, aborted]);
}
