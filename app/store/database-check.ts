import pg from 'pg';
import type { Settings } from '../../settings/settings.ts';
import { connectionConfig } from './database-pool.ts';
import { destroySocket } from './pg-internals.ts';

/** Below the health indicator's own time-out, so that the verdict names the reason. */
const CHECK_TIMEOUT_MS = 2_500;

/**
 * Asks PostgreSQL for a sign of life on a connection of its own, opened anew after a failure: a busy pool is not a dead
 * database.
 *
 * @param onConnectionFailed told once for each connection that could not be opened or broke
 */
export function createDatabaseCheck(
  settings: Settings['database'],
  onConnectionFailed: () => void,
): { check(): Promise<void>; close(): Promise<void> } {
  let client: pg.Client | null = null;

  async function connect(): Promise<pg.Client> {
    const config = { connectionTimeoutMillis: CHECK_TIMEOUT_MS, query_timeout: CHECK_TIMEOUT_MS };
    const opened = new pg.Client({ ...connectionConfig(settings), ...config });
    opened.on('error', () => {
      onConnectionFailed();
      client = null;
    });
    await opened.connect().catch((error: unknown) => {
      onConnectionFailed();
      throw error;
    });
    return opened;
  }

  async function close(): Promise<void> {
    const closing = client;
    client = null;
    await closing?.end().catch(() => undefined);
  }

  return {
    async check() {
      client ??= await connect();
      const asked = client;
      await asked.query('SELECT 1').catch((error: unknown) => {
        client = null;
        destroySocket(asked);
        throw error;
      });
    },
    close,
  };
}
