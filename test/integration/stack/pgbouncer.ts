import { chown, mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { serverUser } from '../../../dev/stack/local-postgres.ts';
import { type LocalServer, startOnFreePort, startServer } from '../../../dev/stack/local-server.ts';
import { sharedDatabaseUrl } from './shared-stack.ts';
import { testRun } from './test-run.ts';

/** When PgBouncer takes a session back: when the client goes, or after each transaction. */
export type PoolMode = 'session' | 'transaction';

interface PgBouncerOptions {
  readonly mode: PoolMode;
  /** Further settings of the section `[pgbouncer]`. @default none */
  readonly settings?: Readonly<Record<string, string | number>>;
  /** @default the shared PostgreSQL */
  readonly target?: string;
}

/** Debian's package `pgbouncer` in front of a PostgreSQL; it ends with the test file. */
export async function startPgBouncer({ mode, settings = {}, target = sharedDatabaseUrl() }: PgBouncerOptions) {
  const run = await testRun();
  const folder = await mkdtemp(join(run.path, 'pgbouncer-'));
  const { hostname, port: targetPort, username, password, pathname } = new URL(target);
  const files = { ini: join(folder, 'pgbouncer.ini'), users: join(folder, 'users.txt') };
  await writeFile(files.users, `"${username}" "${decodeURIComponent(password)}"\n`);
  const user = serverUser();
  const start = async (port: number): Promise<{ server: LocalServer; port: number }> => {
    const section = {
      listen_addr: '127.0.0.1',
      listen_port: port,
      unix_socket_dir: '',
      auth_type: 'scram-sha-256',
      auth_file: files.users,
      pool_mode: mode,
      ...settings,
    };
    const lines = Object.entries(section).map(([key, value]) => `${key} = ${value}`);
    const databases = `[databases]\n* = host=${hostname} port=${targetPort}`;
    await writeFile(files.ini, [databases, '[pgbouncer]', ...lines, ''].join('\n'));
    if (user !== undefined) {
      await Promise.all([folder, ...Object.values(files)].map((path) => chown(path, user.uid, user.gid)));
    }
    const server = await startServer(run, {
      name: 'PgBouncer',
      program: '/usr/sbin/pgbouncer',
      args: [files.ini],
      user,
      ready: /process up/,
      startTimeout: 30_000,
    });
    return { server, port };
  };
  const { port } = await startOnFreePort(undefined, start);
  const url = new URL(target);
  url.host = `127.0.0.1:${port}`;
  url.pathname = pathname;
  return { url: url.href };
}
