import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { appendFile, chmod, chown, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ExplainedError } from '../run/explained-error.ts';
import type { RunFolder } from '../run/run-folder.ts';
import { type LocalServer, startOnFreePort, startServer } from './local-server.ts';
import { postgresBinaries } from './postgres-binaries.ts';

const SUPERUSER = 'postgres';
/** PostgreSQL's own user where the system has one, else the user without files. */
const SERVER_USERS = ['postgres', 'nobody'];
const START_TIMEOUT_MS = 120_000;
const STOP_TIMEOUT_MS = 20_000;
/** A line of pg_hba.conf for clients of any address; the port still is the loopback interface's. */
const HBA_OF_ANY_ADDRESS = 'host all all all scram-sha-256\n';
/** PostgreSQL's words for its ways to stop, and the signals that mean them. */
const STOP_SIGNAL = { fast: 'SIGINT', immediate: 'SIGQUIT' } as const;

export interface LocalPostgresOptions {
  /** Its name in messages, which its log file is named by, too. @default 'PostgreSQL' */
  readonly name?: string;
  /** Port to take when it is free. @default a random one */
  readonly port?: number;
  /**
   * Whether clients of other addresses than 127.0.0.1, such as containers, may log in with the password. @default false
   */
  readonly admitsOthers?: boolean;
  /**
   * Files in its data folder, by name, such as `pg_hba.conf` or a private key; they are the server's own. @default none
   */
  readonly files?: Readonly<Record<string, string>>;
  /** Settings of the server, such as `ssl`. @default none */
  readonly settings?: Readonly<Record<string, string>>;
  /** What to begin as a copy of: a stopped server, or what {@link prepareCluster} made. @default a new cluster */
  readonly copyOf?: PostgresData;
}

/** The data folder of a server that does not run, with the superuser's password in it. */
export type PostgresData = Pick<LocalPostgres, 'data' | 'password'>;

/** One real PostgreSQL server with its data; durability is at the server's defaults. */
export interface LocalPostgres {
  /** Without the password; stays the same over stop and start. */
  readonly url: string;
  /** The same with the password in it. */
  readonly urlWithPassword: string;
  readonly password: string;
  /** Its data folder. */
  readonly data: string;
  /** A file in libpq's format that holds the password, for `?passfile=`; readable by its owner only. */
  readonly passwordFile: string;
  /** Process id of the running server, for signals such as SIGSTOP. @throws ExplainedError when it is stopped. */
  readonly pid: number;
  /** Starts it again, on the same port and data; does nothing while it runs. */
  start(): Promise<void>;
  /**
   * Stops it; does nothing when it is stopped.
   *
   * @param mode `fast` ends every session and writes a checkpoint; `immediate` is a crash. @default 'fast'
   */
  stop(mode?: keyof typeof STOP_SIGNAL): Promise<void>;
}

interface Cluster {
  readonly name: string;
  readonly binaries: string;
  readonly data: string;
  readonly port: number;
  readonly user: SystemUser | undefined;
  readonly settings: Readonly<Record<string, string>>;
}

/**
 * Starts a PostgreSQL server on the loopback interface that ends with the run. As root it runs as another user.
 *
 * @throws ExplainedError when there are no binaries for this system or it does not start; the end of its log is in the
 * message.
 */
export async function startLocalPostgres(run: RunFolder, options: LocalPostgresOptions = {}): Promise<LocalPostgres> {
  const binaries = await postgresBinaries(run);
  const { name = 'PostgreSQL', copyOf, settings = {}, files = {} } = options;
  const user = serverUser();
  const { data, password } = await (copyOf === undefined ? prepareCluster(run) : copyData(run, copyOf, user));
  if (options.admitsOthers === true) {
    await appendFile(join(data, 'pg_hba.conf'), HBA_OF_ANY_ADDRESS);
  }
  for (const [file, content] of Object.entries(files)) {
    await writeFile(join(data, file), content, { mode: 0o600 });
    await own([join(data, file)], user);
  }
  return startOnFreePort(options.port, (port) =>
    startCluster(run, { name, binaries, data, port, user, settings }, password),
  );
}

const own = (paths: readonly string[], user: SystemUser | undefined) =>
  Promise.all(user === undefined ? [] : paths.map((path) => chown(path, user.uid, user.gid)));

/** A folder with an empty data folder in it, both of the server's user. */
async function dataFolder(run: RunFolder, user: SystemUser | undefined) {
  const folder = await mkdtemp(join(run.path, 'postgres-'));
  const data = join(folder, 'data');
  await mkdir(data, { mode: 0o700 });
  await own([folder, data], user);
  await chmod(folder, 0o700);
  return { folder, data };
}

async function copyData(run: RunFolder, from: PostgresData, user: SystemUser | undefined): Promise<PostgresData> {
  const { data } = await dataFolder(run, user);
  const { code, output } = await run.complete({
    program: 'cp',
    args: ['-a', `${from.data}/.`, data],
    env: { PATH: process.env['PATH'] },
    user,
  });
  if (code !== 0) {
    throw new ExplainedError(`the data of PostgreSQL could not be copied: ${output.join(' ')}`);
  }
  return { data, password: from.password };
}

/**
 * Makes the data folder of a new cluster. Several servers may begin as copies of it, which takes less than to make it.
 *
 * @throws ExplainedError when there are no binaries for this system, or with the words of initdb
 */
export async function prepareCluster(run: RunFolder): Promise<PostgresData> {
  const [binaries, user] = [await postgresBinaries(run), serverUser()];
  const password = randomBytes(18).toString('base64url');
  const { folder, data } = await dataFolder(run, user);
  const passwordFile = join(folder, 'password');
  await writeFile(passwordFile, password, { mode: 0o600 });
  await own([passwordFile], user);
  const { code, output } = await run.complete({
    program: join(binaries, 'bin', 'initdb'),
    args: [
      ...['--pgdata', data, '--username', SUPERUSER, '--pwfile', passwordFile, '--auth', 'scram-sha-256'],
      ...['--encoding', 'UTF8', '--locale', 'C', '--no-sync'],
    ],
    env: { PATH: process.env['PATH'], LC_ALL: 'C' },
    user,
  });
  await rm(passwordFile);
  if (code !== 0) {
    throw new ExplainedError(
      ['PostgreSQL could not prepare its data folder. What initdb said:', ...output.map((line) => `    ${line}`)].join(
        '\n',
      ),
    );
  }
  return { data, password };
}

async function startCluster(run: RunFolder, cluster: Cluster, password: string): Promise<LocalPostgres> {
  const start = () => startPostgres(run, cluster);
  const server = await start();
  const host = `127.0.0.1:${cluster.port}`;
  const passwordFile = join(run.path, `${cluster.port}.pgpass`);
  await writeFile(passwordFile, `127.0.0.1:${cluster.port}:*:${SUPERUSER}:${password}\n`, { mode: 0o600 });
  const postgres = {
    url: `postgresql://${SUPERUSER}@${host}/postgres`,
    urlWithPassword: `postgresql://${SUPERUSER}:${password}@${host}/postgres`,
    password,
    data: cluster.data,
    passwordFile,
    ...controlled(host, server, start),
  };
  run.beforeClose(() => postgres.stop());
  return postgres;
}

function startPostgres(
  run: RunFolder,
  { name, binaries, data, port, user, ...cluster }: Cluster,
): Promise<LocalServer> {
  const own = { listen_addresses: '127.0.0.1', port, unix_socket_directories: '', timezone: 'UTC' };
  const settings = { ...own, ...cluster.settings };
  return startServer(run, {
    name,
    program: join(binaries, 'bin', 'postgres'),
    args: ['-D', data, ...Object.entries(settings).flatMap(([key, value]) => ['-c', `${key}=${value}`])],
    env: { PATH: process.env['PATH'], LC_ALL: 'C' },
    user,
    // PostgreSQL 13 has no hyphen there.
    ready: /database system is ready to accept (read[ -]only )?connections/,
    startTimeout: START_TIMEOUT_MS,
  });
}

function controlled(host: string, started: LocalServer, start: () => Promise<LocalServer>) {
  let server: LocalServer | undefined = started;
  return {
    get pid(): number {
      if (server === undefined) {
        throw new ExplainedError(`PostgreSQL at ${host} is stopped: it has no process id`);
      }
      return server.pid;
    },
    start: async (): Promise<void> => {
      server ??= await start();
    },
    stop: async (mode: keyof typeof STOP_SIGNAL = 'fast'): Promise<void> => {
      const running = server;
      server = undefined;
      await running?.stop(STOP_SIGNAL[mode], STOP_TIMEOUT_MS);
    },
  };
}

/** A user of this system, by number. */
interface SystemUser {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/**
 * The user that PostgreSQL runs as when this process is root: PostgreSQL refuses to run as root.
 *
 * @returns undefined when this process is not root: PostgreSQL then runs as the same user.
 * @throws ExplainedError when the system has none of the users.
 */
export function serverUser(
  passwd: string = '/etc/passwd',
  isRoot: boolean = process.getuid?.() === 0,
): SystemUser | undefined {
  if (!isRoot) {
    return undefined;
  }
  const users = readFileSync(passwd, 'utf8').split('\n').map(parseUser);
  for (const name of SERVER_USERS) {
    const user = users.find((candidate) => candidate?.name === name && candidate.uid !== 0);
    if (user !== undefined) {
      return user;
    }
  }
  throw new ExplainedError(
    `PostgreSQL does not run as root, and ${passwd} has none of the users it could run as (${SERVER_USERS.join(', ')}). ` +
      'Add one (useradd --system postgres), run as another user, or use a database of your own: --database URL',
  );
}

function parseUser(line: string): SystemUser | undefined {
  const [name, , uid, gid] = line.split(':');
  return name && uid && gid ? { name, uid: Number(uid), gid: Number(gid) } : undefined;
}
