import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { BEGIN } from '../../app/store/connection/transaction.ts';
import { insist } from './insist.ts';
import { type ConnectionLimit, KEYED_SCHEMA, type Table, type TableChange } from './schedule.ts';

/** The role of the consumers: a superuser would have connections where others have none. */
export const ROLE = 'chaos_consumer';
const END_SESSIONS = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${ROLE}'`;
const PAUSE_MS = 100;

/** What a change of a table does and how it is undone. */
const CHANGES = {
  column: { change: 'ALTER TABLE % ADD COLUMN chaos text', undo: 'ALTER TABLE % DROP COLUMN IF EXISTS chaos' },
  index: { change: 'CREATE INDEX chaos ON % (#)', undo: 'DROP INDEX IF EXISTS @.chaos' },
} as const;

/** A column of each table, for an index. */
const COLUMN: Readonly<Record<Table, string>> = {
  records: 'partition',
  offsets: 'partition',
  customers: 'name',
  payments: 'state',
};

/** A column of payments. Its name is that of a field, too. */
export const RENAMED_COLUMN = 'payer';

/** Faults that PostgreSQL's own commands make. Where PostgreSQL is restarted meanwhile, they end sooner. */
export class DatabaseFaults {
  readonly #url: string;
  readonly #schema: string;

  /** @param url of a superuser, past all proxies. */
  constructor(url: string, schema: string) {
    this.#url = url;
    this.#schema = schema;
  }

  /** Creates the role of the consumers. @returns the URL with its name and password. */
  async createRole(url: string): Promise<string> {
    const password = randomBytes(18).toString('base64url');
    const { pathname } = new URL(url);
    await this.#run(`CREATE ROLE ${ROLE} LOGIN PASSWORD '${password}'`);
    await this.#run(`GRANT CREATE ON DATABASE "${pathname.slice(1)}" TO ${ROLE}`);
    return Object.assign(new URL(url), { username: ROLE, password }).href;
  }

  /** Holds the strongest lock on a table. */
  async lock(table: Table, ms: number): Promise<void> {
    await this.#unlessLost(async (client) => {
      await client.query(`${BEGIN}; LOCK TABLE ${this.#name(table)} IN ACCESS EXCLUSIVE MODE`);
      await delay(ms);
    });
  }

  /** Changes a table in a way that consumers need not notice, with all the locks that this takes. */
  async alter(table: Table, change: TableChange, ms: number): Promise<void> {
    if (change === 'rewrite') {
      return this.#rewrite(table, ms);
    }
    const sqlOf = (text: string) =>
      text.replace('%', this.#name(table)).replace('@', this.#schemaOf(table)).replace('#', COLUMN[table]);
    await this.#unlessLost(async (client) => {
      await client.query(`${BEGIN}; ${sqlOf(CHANGES[change].change)}`);
      await delay(ms);
      await client.query('COMMIT');
    });
    await delay(PAUSE_MS);
    await insist(() => this.#run(sqlOf(CHANGES[change].undo)));
  }

  /** Gives the column of payments another name until the work is done. */
  async renameColumn(whileRenamed: () => Promise<void>): Promise<void> {
    const other = `chaos_${RENAMED_COLUMN}`;
    await insist(() => this.#rename(RENAMED_COLUMN, other));
    try {
      await whileRenamed();
    } finally {
      await insist(() => this.#rename(other, RENAMED_COLUMN));
    }
  }

  /** Where the answer to an attempt before was lost, it is done. */
  #rename(from: string, to: string): Promise<void> {
    return this.#run(`DO $$ BEGIN
      ALTER TABLE ${this.#name('payments')} RENAME ${from} TO ${to};
    EXCEPTION WHEN undefined_column THEN NULL; END $$`);
  }

  /** Ends the consumers' sessions and leaves them no connection. */
  async limitConnections(way: ConnectionLimit, ms: number): Promise<void> {
    if (way === 'server') {
      return this.#takeAllConnections(ms);
    }
    await this.#unlessLost(async (client) => {
      await client.query(`ALTER ROLE ${ROLE} CONNECTION LIMIT 0`);
      await client.query(END_SESSIONS);
      await delay(ms);
    });
    await insist(() => this.#run(`ALTER ROLE ${ROLE} CONNECTION LIMIT -1`));
  }

  async #rewrite(table: Table, ms: number): Promise<void> {
    const end = performance.now() + ms;
    await this.#unlessLost(async (client) => {
      do {
        await client.query(`VACUUM FULL ${this.#name(table)}`);
        await delay(PAUSE_MS);
      } while (performance.now() < end);
    });
  }

  /** By idle sessions of a role without privileges, so that those reserved for superusers are left. */
  async #takeAllConnections(ms: number): Promise<void> {
    const idle = `chaos_idle_${randomBytes(4).toString('hex')}`;
    const url = Object.assign(new URL(this.#url), { username: idle, password: idle }).href;
    const taken: pg.Client[] = [];
    await this.#unlessLost(async (client) => {
      await client.query(`CREATE ROLE ${idle} LOGIN PASSWORD '${idle}'`);
      await takeConnections(url, taken);
      // A consumer that was sooner than the last of these has to give its connection back.
      for (const end = performance.now() + ms; performance.now() < end; await delay(PAUSE_MS)) {
        await client.query(END_SESSIONS);
        await takeConnections(url, taken);
      }
    });
    await Promise.all(taken.map((client) => client.end().catch(() => undefined)));
    await insist(() => this.#run(`DROP ROLE IF EXISTS ${idle}`));
  }

  #schemaOf = (table: Table): string =>
    `"${table === 'customers' || table === 'payments' ? KEYED_SCHEMA : this.#schema}"`;

  #name = (table: Table): string => `${this.#schemaOf(table)}.${table}`;

  async #run(sql: string): Promise<void> {
    await this.#withClient((client) => client.query(sql));
  }

  /** Does something on one connection, which may be lost meanwhile. */
  async #unlessLost(work: (client: pg.Client) => Promise<void>): Promise<void> {
    await this.#withClient(work).catch((error: unknown) => {
      if (!isConnectionLost(error)) {
        throw error;
      }
    });
  }

  async #withClient(work: (client: pg.Client) => Promise<unknown>): Promise<void> {
    const client = quietClient(this.#url);
    try {
      await client.connect();
      await work(client);
    } finally {
      await client.end().catch(() => undefined);
    }
  }
}

/** Opens connections until the server refuses one. */
async function takeConnections(url: string, taken: pg.Client[]): Promise<void> {
  for (;;) {
    const client = quietClient(url);
    try {
      await client.connect();
      taken.push(client);
    } catch {
      return client.end().catch(() => undefined);
    }
  }
}

/** A connection that breaks is also an error of the statement that needs it. */
function quietClient(connectionString: string): pg.Client {
  return new pg.Client({ connectionString }).on('error', () => undefined);
}

/** SQLSTATE classes 08 and 57: connection exception, operator intervention; a broken socket has no SQLSTATE. */
const isConnectionLost = (error: unknown): boolean =>
  !(error instanceof pg.DatabaseError) || /^(08|57)/.test(error.code ?? '');
