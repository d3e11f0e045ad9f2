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

/**
 * Asks PostgreSQL for a sign of life on a connection of its own, opened anew after a failure: a busy pool is not a dead
 * database. Opening it may take as long as it may for a writer, over several checks; none of them is UP before.
 *
 * A connection that the other side ends between two checks is no failure: the next check opens another one.
 *
 * @param settings those of the moment, for each new connection
 * @param onConnectionFailed told once for each connection that could not be opened or broke in the middle of a check
 */
export function createDatabaseCheck(
  settings: () => Settings['database'],
  onConnectionFailed: () => void,
): { check(signal: AbortSignal): Promise<void>; close(): Promise<void> } {
  let connection: CheckConnection | null = null;
  let refused: { readonly settings: Settings['database']; readonly error: unknown; readonly until: number } | null =
    null;

  /** The settings to connect with; the same ones that were refused a moment ago are not tried. */
  function settingsToTry(): Settings['database'] {
    const current = settings();
    if (refused !== null && performance.now() < refused.until && isDeepStrictEqual(current, refused.settings)) {
      throw refused.error;
    }
    return current;
  }

  function connect(current: Settings['database']): CheckConnection {
    const ending = new AbortController();
    const opened: CheckConnection = { ending, opening: open(), client: null };
    async function open(): Promise<Opened> {
      try {
        const found = await openConnection(current, { query_timeout: CHECK_TIMEOUT_MS }, ending.signal);
        opened.client = found.client;
        found.client.on('error', () => forget(opened));
        return found;
      } catch (error) {
        onConnectionFailed();
        forget(opened);
        const isRefused = verdictOn(error) === 'stop';
        refused = isRefused ? { settings: current, error, until: performance.now() + REFUSED_PAUSE_MS } : null;
        throw error;
      }
    }
    return opened;
  }

  function forget(lost: CheckConnection): void {
    connection = connection === lost ? null : connection;
  }

  return {
    async check(signal) {
      connection ??= connect(settingsToTry());
      const asked = connection;
      const { client, host } = await beforeAbort(asked.opening, signal);
      const asking = host.session === 'any' ? client.query('SELECT 1') : requireSession(client, host);
      await asking.catch((error: unknown) => {
        if (troubleOf(error) === 'database_away') {
          onConnectionFailed();
        }
        forget(asked);
        destroySocket(client);
        throw error;
      });
    },
    async close() {
      const closing = connection;
      connection = null;
      closing?.ending.abort();
      await closing?.client?.end().catch(() => undefined);
    },
  };
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
